// What all parts of the page share: the recorded episode and its picture.
// Texts of a spec reach the page by textContent only.

const data = JSON.parse(document.getElementById("data").textContent);
const { frames, scene } = data;
const end = frames.length - 1;
const count = scene.labels.length;
const { make, draw, percent, chanceOf } = GnarlDrawing;
const el = (id) => document.getElementById(id);
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
let now = 0, timer = null, hovered = null, pinned = null;

const clear = (node) => node.replaceChildren();
const list = (nodes) => nodes.map((v) => scene.labels[v]).join(", ");
function few(nodes, most = 8) {
  return nodes.length > most ? `${list(nodes.slice(0, most - 1))} and ${nodes.length - most + 1} more` : list(nodes);
}
const valueText = (column, value) => GnarlDrawing.valueText(scene, column, value);

// The picture, and which of its nodes is asked about

const drawing = GnarlDrawing.makeDrawing(el("graph"), scene, { hover, click: pin });
drawing.fill.learn(frames);

function hover(v) { hovered = v; if (pinned === null) focusOn(v); }
function pin(v) { pinned = pinned === v ? null : v; focusOn(pinned === null ? hovered : pinned); }
function focusOn(v) {
  scene.labels.forEach((_, w) => drawing.mark(w, w === v));
  rows.forEach((row, w) => row.tr.classList.toggle("hover", w === v));
  drawing.focus(v);
  el("here").textContent = v === null ? "" : about(v, frames[now]);
  if (v !== null) reveal(el("nodes"), rows[v].tr);
}
function about(v, frame) {
  const why = frame.why_not.filter(([w]) => w === v).map(([, k]) => data.reasons[k]);
  const name = `Node ${scene.labels[v]}`;
  if (frame.pick === null) return name;
  if (!frame.legal.includes(v)) return `${name} may not be picked: ${why.join("; ") || "the episode has ended"}`;
  return `${name} may be picked, chance ${percent(chanceOf(frame.chances, v))}`;
}
function legend() {
  GnarlDrawing.legend(el("legend"), scene, drawing.fill, { adviser: data.adviser,
    added: frames.some((frame) => frame.added.length), removed: frames.some((frame) => frame.removed.length) });
}
