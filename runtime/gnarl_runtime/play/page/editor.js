// The spec as text: a plain text area over the same text in colour, so that typing, selecting,
// undoing and reading aloud are the browser's own.

import { button, clear, el, later, make, prose, ticked } from "./dom.js";
import { ask } from "./net.js";
import { makeHighlighter } from "./highlight.js";
import { changeText, on, spec } from "./spec.js";

const HOVER = 300;  // milliseconds that the pointer rests
const area = el("source"), paint = el("paint"), gutter = el("gutter"), sheet = el("sheet"), words = el("words"), tip = el("tip");
let pieces = null, rows = [], numbers = [], fixes = [], marked = new Map();

export function startEditor() {
  pieces = makeHighlighter(spec.hello.grammar);
  area.addEventListener("input", () => { repaint(); changeText(area.value); suggestSoon(); });
  area.addEventListener("keydown", keys);
  area.addEventListener("pointermove", moved);
  area.addEventListener("pointerleave", () => { pointing = null; hideTip(); });
  area.addEventListener("click", closeWords);
  area.addEventListener("blur", () => setTimeout(closeWords, 150));
  sheet.addEventListener("scroll", () => { hideTip(); });
  on("opened", () => { area.value = spec.text; sheet.scrollTop = 0; fixes = []; markLines(new Map()); repaint(); showFindings([]); });
  on("checked", (found) => { fixes = []; showFindings(found.diagnostics); });
  on("fixes", (found) => { fixes = found; showFindings(spec.checked.diagnostics); });
  on("refused", (text) => { el("found-title").textContent = text; });
}

// The coloured text under the text area; only lines that differ are made anew

function repaint() {
  const lines = area.value.split("\n");
  let within = false;
  const wanted = lines.map((line) => { const key = `${within ? 1 : 0}${line}`; const done = pieces(line, within); within = done.within; return { key, found: done.found }; });
  while (rows.length > wanted.length) { rows.pop().row.remove(); numbers.pop().remove(); }
  wanted.forEach(({ key, found }, k) => {
    if (k >= rows.length) {
      const row = make(paint, "div", { class: "row" });
      rows.push({ row, code: make(row, "span", { class: "code" }), key: null });
      numbers.push(make(gutter, "div", {}, String(k + 1)));
    }
    if (rows[k].key === key) return;
    rows[k].key = key;
    clear(rows[k].code);
    found.forEach(([kind, text]) => (kind ? make(rows[k].code, "span", { class: kind }, text) : rows[k].code.append(text)));
    if (!found.length) rows[k].code.append("\u200b");
  });
  // As high and wide as the text: the sheet around it scrolls, the text area itself never does.
  el("paper").style.height = `${20 * lines.length + 8}px`;
  el("paper").style.width = `calc(${Math.max(20, ...lines.map((line) => line.length)) + 16}ch + 12px)`;
}
function placeOf(offset) {
  const before = area.value.slice(0, offset), line = before.split("\n").length - 1;
  return { line, column: offset - (before.lastIndexOf("\n") + 1) };
}
function lineStart(line) {
  let at = 0;
  for (let k = 0; k < line; k++) at = area.value.indexOf("\n", at) + 1;
  return at;
}

// Lines that a step of an episode runs: Map of line (from 0) to [class, words]

export function markLines(marks) {
  for (const [line] of marked) if (rows[line]) { rows[line].row.className = "row"; delete rows[line].row.dataset.mark; }
  marked = marks;
  for (const [line, [kind, text]] of marks) if (rows[line]) { rows[line].row.className = `row ${kind}`; rows[line].row.dataset.mark = text; }
}
export function revealLine(line) {
  const row = rows[line] && rows[line].row;
  if (!row) return;
  const top = row.offsetTop, low = sheet.scrollTop + 20, high = sheet.scrollTop + sheet.clientHeight - 50;
  if (top < low || top > high) sheet.scrollTo({ top: Math.max(0, top - sheet.clientHeight / 2.5) });
}
export function goTo(start, end) {
  area.focus();
  area.setSelectionRange(start, end);
  revealLine(placeOf(start).line);
}

// Findings: underlined in the text, listed below with their fixes

function showFindings(findings) {
  paint.querySelectorAll(".squiggle").forEach((node) => node.remove());
  numbers.forEach((node) => { node.className = ""; });
  findings.forEach((finding) => {
    const { line, column } = placeOf(finding.start);
    if (!rows[line]) return;
    const room = Math.max(1, Math.min(finding.end - finding.start, area.value.split("\n")[line].length - column));
    const mark = make(rows[line].row, "i", { class: finding.error ? "squiggle" : "squiggle warning" });
    mark.style.left = `${column}ch`;
    mark.style.width = `${room}ch`;
    numbers[line].className = finding.error ? "wrong" : numbers[line].className || "odd";
  });
  const errors = findings.filter((one) => one.error).length, odd = findings.length - errors;
  const count = (n, word) => (n ? `${n} ${word}${n > 1 ? "s" : ""}` : "");
  el("found-title").textContent = [count(errors, "mistake"), count(odd, "warning")].filter(Boolean).join(", ") || "No mistakes";
  el("found").classList.toggle("clean", !findings.length);
  const list = el("findings");
  clear(list);
  findings.slice(0, 50).forEach((finding) => {
    const item = make(list, "li", { class: finding.error ? "error" : "warning" });
    const head = button(item, "", () => goTo(finding.start, finding.end), { class: "where" });
    make(head, "b", {}, `${finding.error ? "✕" : "!"} line ${finding.line}`);
    make(head, "span", {}, ` ${finding.title} `);
    make(head, "code", {}, finding.code);
    ticked(make(item, "p"), finding.message);
    if (finding.fix) ticked(make(item, "p", { class: "hint" }), finding.fix);
    finding.notes.forEach((note) => ticked(make(item, "p", { class: "hint" }), note));
    if (finding.example) make(item, "pre", {}, finding.example);
    const own = fixesOf(finding);
    if (own.length) {
      const row = make(item, "div", { class: "fixes" });
      own.forEach((fix) => ticked(button(row, "", () => applyFix(fix), { class: "fix" }), fix.title));
    }
  });
}
const lineOf = (fix) => (fix.line === undefined ? -1 : fix.line);
function fixesOf(finding) { return fixes.filter((fix) => fix.code === finding.code && lineOf(fix) === finding.line); }

export function replaceText(start, end, text) {
  area.focus();
  area.setSelectionRange(start, end);
  // The one way that the browser's own undo remembers.
  if (!document.execCommand(text ? "insertText" : "delete", false, text)) {
    area.setRangeText(text, start, end, "end");
    area.dispatchEvent(new Event("input"));
  }
}
function applyFix(fix) {
  [...fix.edits].sort((a, b) => b.start - a.start).forEach(({ start, end, text }) => replaceText(start, end, text));
}
export function replaceAll(text) {
  if (text === area.value) return;
  const { line, column } = placeOf(area.selectionStart);
  const top = sheet.scrollTop;
  // What both texts begin and end with stays, so that undo and the cursor do.
  let head = 0, tail = 0;
  const old = area.value, most = Math.min(old.length, text.length);
  while (head < most && old[head] === text[head]) head++;
  while (tail < most - head && old[old.length - 1 - tail] === text[text.length - 1 - tail]) tail++;
  replaceText(head, old.length - tail, text.slice(head, text.length - tail));
  const at = Math.min(text.length, lineStart(Math.min(line, text.split("\n").length - 1)) + column);
  area.setSelectionRange(at, at);
  sheet.scrollTop = top;
}

// Keys

function keys(event) {
  if (!words.hidden && wordKeys(event)) return;
  const key = event.key, plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.ctrlKey && key === " ") { event.preventDefault(); suggest(true); return; }
  if (event.altKey && key.toLowerCase() === "i") { event.preventDefault(); tellAt(area.selectionStart, caretBox()); return; }
  if (event.altKey && key === "Enter") { event.preventDefault(); fixHere(); return; }
  if (key === "Escape") { leaving = true; hideTip(); return; }
  if (key === "Tab" && plain && !leaving) { event.preventDefault(); indent(event.shiftKey ? -2 : 2); return; }
  if (key === "Enter" && plain && !event.shiftKey) { event.preventDefault(); newLine(); return; }
  if (key !== "Tab" && key !== "Shift") leaving = false;
}
let leaving = false;
function newLine() {
  const at = area.selectionStart, start = area.value.lastIndexOf("\n", at - 1) + 1;
  const line = area.value.slice(start, at), margin = /^ */.exec(line)[0];
  const deeper = /^(features|phase|expert|instances)\b[^#]*$|^ *(update|(for|when|if|else)\b[^#]*)$/.test(line) ? "  " : "";
  replaceText(at, area.selectionEnd, `\n${margin}${deeper}`);
}
function indent(by) {
  const { selectionStart: from, selectionEnd: to } = area;
  if (by > 0 && from === to) { replaceText(from, to, "  "); return; }
  const start = area.value.lastIndexOf("\n", from - 1) + 1;
  const end = area.value.indexOf("\n", Math.max(from, to - 1));
  const stop = end < 0 ? area.value.length : end;
  const moved = area.value.slice(start, stop).split("\n").map((line) => (by > 0 ? (line ? `  ${line}` : line) : line.replace(/^ {1,2}/, ""))).join("\n");
  replaceText(start, stop, moved);
  area.setSelectionRange(start, start + moved.length);
}
function fixHere() {
  const at = area.selectionStart, { line } = placeOf(at);
  const here = (spec.checked ? spec.checked.diagnostics : []).filter((one) => (one.start <= at && at <= one.end) || one.line === line + 1);
  const first = here.flatMap(fixesOf)[0];
  if (first) applyFix(first);
}

// Pointing at words

let pointing = null;
const rest = later(HOVER, () => { if (pointing) tellAt(offsetAt(pointing), { left: pointing.x, top: pointing.y + 14, above: pointing.y - 8 }); });
function moved(event) {
  if (event.pointerType !== "mouse" || event.buttons) return;
  pointing = { x: event.clientX, y: event.clientY };
  if (!tip.hidden) hideTip();
  rest();
}
function metrics() {
  const box = paint.getBoundingClientRect(), style = getComputedStyle(area);
  const probe = make(paint, "span", { class: "probe" }, "0".repeat(100));
  const wide = probe.getBoundingClientRect().width / 100;
  probe.remove();
  return { box, wide, high: parseFloat(style.lineHeight) };
}
function offsetAt({ x, y }) {
  const { box, wide, high } = metrics(), lines = area.value.split("\n");
  const line = Math.floor((y - box.top) / high), column = Math.floor((x - box.left) / wide);
  if (line < 0 || line >= lines.length || column < 0 || column >= lines[line].length) return -1;
  return lineStart(line) + column;
}
function caretBox() {
  const { line, column } = placeOf(area.selectionStart), { box, wide, high } = metrics();
  return { left: box.left + column * wide, top: box.top + (line + 1) * high + 2, above: box.top + line * high - 4 };
}
let told = 0;
async function tellAt(offset, place) {
  if (offset < 0) return;
  const mine = ++told;
  const found = (spec.checked ? spec.checked.diagnostics : []).filter((one) => one.start <= offset && offset < one.end);
  let word = null;
  try { word = await ask("hover", { ...spec.asked, offset }); } catch { /* the banner says so */ }
  if (mine !== told || (!found.length && !word)) return;
  clear(tip);
  found.forEach((finding) => {
    const box = make(tip, "div", { class: finding.error ? "error" : "warning" });
    ticked(make(box, "p"), finding.message);
    if (finding.fix) ticked(make(box, "p", { class: "hint" }), finding.fix);
  });
  if (word) prose(make(tip, "div"), word.text);
  showTip(place);
}
export function showTip({ left, top, above }) {
  tip.hidden = false;
  tip.style.left = tip.style.top = "0";  // its size must not hang on where it was
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 12))}px`;
  const below = top + tip.offsetHeight < innerHeight - 8;
  tip.style.top = `${below || above === undefined ? top : Math.max(8, above - tip.offsetHeight)}px`;
}
export function hideTip() { told++; tip.hidden = true; }

// Suggestions

let offered = [], chosen = 0, asked = 0;
const suggestSoon = later(90, () => suggest(false));
const prefixAt = (at) => /[A-Za-z_]\w*$/.exec(area.value.slice(0, at))?.[0] || "";
async function suggest(always) {
  const at = area.selectionStart, prefix = prefixAt(at), mine = ++asked;
  if (!always && (!prefix || area.selectionEnd !== at)) { closeWords(); return; }
  let found;
  try { found = await ask("complete", { ...spec.asked, offset: at }); } catch { return; }
  if (mine !== asked || area.selectionStart !== at || document.activeElement !== area) return;
  offered = found.filter(({ text }) => text.toLowerCase().startsWith(prefix.toLowerCase())).slice(0, 40);
  if (!always && (!offered.length || offered.some(({ text }) => text === prefix))) { closeWords(); return; }
  chosen = 0;
  clear(words);
  offered.forEach((item, k) => {
    const row = make(words, "li", { role: "option", id: `word-${k}` });
    make(row, "b", {}, item.text);
    make(row, "small", {}, item.detail || item.sort);
    row.addEventListener("pointerdown", (event) => { event.preventDefault(); chosen = k; takeWord(); });
  });
  if (!offered.length) { closeWords(); return; }
  const { box, wide, high } = metrics(), { line, column } = placeOf(at);
  words.style.left = `${(column - prefix.length) * wide + 8}px`;
  words.style.top = `${(line + 1) * high + 4}px`;
  words.hidden = false;
  const low = box.top + (line + 1) * high + words.offsetHeight > sheet.getBoundingClientRect().bottom;
  if (low && line * high > words.offsetHeight) words.style.top = `${line * high - words.offsetHeight - 2}px`;
  pointTo(0);
}
function pointTo(k) {
  chosen = (k + offered.length) % offered.length;
  [...words.children].forEach((row, n) => row.setAttribute("aria-selected", String(n === chosen)));
  words.children[chosen].scrollIntoView({ block: "nearest" });
  area.setAttribute("aria-activedescendant", `word-${chosen}`);
}
function takeWord() {
  const at = area.selectionStart, prefix = prefixAt(at);
  const text = offered[chosen].text;
  closeWords();
  replaceText(at - prefix.length, at, text);
  closeWords();
}
function closeWords() { asked++; words.hidden = true; area.removeAttribute("aria-activedescendant"); }
function wordKeys(event) {
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in moves) pointTo(chosen + moves[event.key]);
  else if (event.key === "Enter" || event.key === "Tab") takeWord();
  else if (event.key === "Escape") closeWords();
  else return false;
  event.preventDefault();
  return true;
}
