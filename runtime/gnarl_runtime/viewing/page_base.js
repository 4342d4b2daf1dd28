"use strict";
// What all parts of the page share: the recorded episode, and how elements and texts are made.
// Texts of a spec reach the page by textContent only.

const data = JSON.parse(document.getElementById("data").textContent);
const frames = data.frames;
const end = frames.length - 1;
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000, HEIGHT = WIDTH / data.aspect, EDGE_LABELS = 30;
const count = data.labels.length;
const radius = Math.max(9, Math.min(30, 128 / Math.sqrt(count)));
const margin = radius + 36;
const spots = data.places.map(([x, y]) => ({
  x: margin + x * (WIDTH - 2 * margin), y: margin + y * (HEIGHT - 2 * margin) }));
const el = (id) => document.getElementById(id);
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
let now = 0, timer = null, hovered = null, pinned = null;

// Building blocks

function make(parent, name, attributes, text) {
  const node = document.createElement(name);
  return dress(parent, node, attributes, text);
}
function draw(parent, name, attributes, text) {
  return dress(parent, document.createElementNS(SVG, name), attributes, text);
}
function dress(parent, node, attributes, text) {
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}
const clear = (node) => node.replaceChildren();
const list = (nodes) => nodes.map((v) => data.labels[v]).join(", ");
function percent(p) {
  if (p < 0.0005) return "0 %";
  if (p >= 0.995) return "100 %";
  return `${p >= 0.0995 ? Math.round(100 * p) : (100 * p).toFixed(1)} %`;
}
function chanceOf(pairs, v) {
  const hit = (pairs || []).find(([w]) => w === v);
  return hit ? hit[1] : 0;
}
function few(nodes, most = 8) {
  return nodes.length > most ? `${list(nodes.slice(0, most - 1))} and ${nodes.length - most + 1} more` : list(nodes);
}

function valueText(column, value) {
  if (column.value === "mask") return value ? "true" : "false";
  if (column.value === "category") return column.choices.length ? column.choices[value] : String(value);
  if (column.value === "node") return data.labels[value];
  return String(Number(value.toPrecision(4)));
}
