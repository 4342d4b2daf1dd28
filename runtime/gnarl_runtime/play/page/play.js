// The panel to play in: a graph, one board or two on it, what the latest pick changed.

import { button, choice, clear, el, fillChoice, later, make, numberField } from "./dom.js";
import { ask, gone, onReturn } from "./net.js";
import { markLines, revealLine } from "./editor.js";
import { on, setParam, spec } from "./spec.js";
import { Board } from "./board.js";

const MOST_NODES = 200, KEPT = "gnarl play";
let box, tools, stageRow, beside, boards = [], shown = false, acted = null;
// What is played on; `of`: the spec that the boards show.
export const wish = { graph: { kind: "drawn", family: "", nodes: 12, seed: 0 }, reward: null, adviser: null, of: null, label: "" };
let fields = {};

export const playPanel = {
  name: "play",
  title: "Play",
  start(parent) {
    box = parent;
    box.classList.add("play");
    wish.graph.seed = spec.hello.seed;
    tools = make(box, "div", { class: "tools" });
    fields.params = null;
    makeTools();
    stageRow = make(box, "div", { class: "boards" });
    const under = make(box, "div", { class: "under" });
    fields.fill = choice(under, "Fill nodes by", [], "", (at) => boards.forEach((board) => { if (board.drawing) { board.drawing.fill.at = Number(at); board.drawing.again(); legend(); } }));
    fields.adviser = choice(under, "Diamonds", [], "", (name) => { wish.adviser = name; boards.forEach((board) => { board.adviser = name ? `expert ${name}` : null; board.frames.forEach((frame) => { frame.advice = null; }); board.draw(); board.advise(); }); legend(); });
    fields.reward = choice(under, "Reward", [], "", (name) => { wish.reward = name || null; begin(); });
    fields.legend = make(box, "ul", { class: "legend", "aria-label": "Legend" });
    beside = make(box, "div", { class: "beside" });
    const changed = make(beside, "section", { class: "changed", "aria-label": "What the latest pick changed" });
    make(changed, "h2", {}, "What the latest pick changed");
    fields.changes = make(changed, "ul");
    const table = make(beside, "details", { class: "values" });
    make(table, "summary", {}, "All values");
    fields.values = make(table, "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Values of all nodes" });
    table.addEventListener("toggle", () => values());
    addBoard();
    restore();
    on("problem", (problem) => { offer(problem); if (!wish.of || wish.of.hash !== problem.hash || wish.of.path !== spec.path || wish.of.params !== JSON.stringify(spec.params)) beginSoon(); else marksOf(acted || boards[0]); });
    on("opened", () => { beginning++; if (wish.of && wish.of.path !== spec.path) forget(); });
    on("checked", () => marksOf(acted || boards[0]));
    on("panel", () => marksOf(acted || boards[0]));
    on("players", () => refreshPlayers());
    on("play", (given) => open(given));
    on("known", ({ graph, value }) => { if (JSON.stringify(graph) === JSON.stringify(wish.graph)) boards.forEach((board) => board.learnBest(value, "search")); });
    on("player", (id) => setPlayer(id));
    dropping();
    onReturn(() => begin());
    addEventListener("pagehide", keep);
  },
  shown() { boards.forEach((board) => board.drawing && board.drawing.again()); },
};

// The graph

function makeTools() {
  clear(tools);
  fields.family = choice(tools, "Graph", [], "", (name) => { draw({ family: name }); });
  fields.nodes = numberField(tools, "nodes", wish.graph.nodes || 12, { min: 1, max: MOST_NODES }, (nodes) => draw({ nodes }));
  fields.seed = numberField(tools, "seed", wish.graph.seed || 0, { min: 0, max: 2 ** 31 }, (seed) => draw({ seed }));
  button(tools, "Another", () => draw({ seed: Number(fields.seed.value) + 1 }), { title: "The next seed" });
  fields.file = make(tools, "input", { type: "file", class: "unseen", id: "graph-file", tabindex: -1 });
  fields.file.addEventListener("change", () => { if (fields.file.files[0]) dropped(fields.file.files[0]); fields.file.value = ""; });
  button(tools, "Open a file …", () => fields.file.click(), { title: "A graph of your own; it can also be dropped on the board" });
  fields.given = make(tools, "span", { class: "given" });
  fields.paramBox = make(tools, "span", { class: "params" });
  const compare = make(tools, "label", { class: "choice right" });
  fields.compare = make(compare, "input", { type: "checkbox" });
  compare.append("Two players");
  fields.compare.addEventListener("change", () => twoBoards(fields.compare.checked));
  fields.both = button(tools, "▶ Both", () => { const on = boards.some((board) => board.playing); boards.forEach((board) => (on ? board.halt() : board.start())); });
  fields.both.hidden = true;
}
function draw(more) {
  const before = wish.graph.kind === "drawn" ? wish.graph : { kind: "drawn", family: fields.family.value, nodes: Number(fields.nodes.value), seed: Number(fields.seed.value) };
  wish.graph = { ...before, ...more };
  wish.label = "";
  boards.forEach((board) => { board.picks = []; });
  begin();
}
async function dropped(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let k = 0; k < bytes.length; k += 32768) text += String.fromCharCode(...bytes.subarray(k, k + 32768));
  open({ graph: { kind: "file", name: file.name, content: btoa(text) }, picks: [], label: file.name });
}
function dropping() {
  box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (event.dataTransfer.files[0]) dropped(event.dataTransfer.files[0]);
  });
}
// A graph from elsewhere on the page: a file, a counterexample, a solution.
function open({ graph, picks, label }) {
  wish.graph = graph;
  wish.label = label;
  boards.forEach((board) => { board.picks = [...picks]; });
  begin();
}

// What the spec offers

function offer(problem) {
  fillChoice(fields.family, problem.families.map(({ name, label }) => [name, label]), wish.graph.family);
  if (!fields.family.value && problem.families.length) fields.family.value = problem.families[0].name;
  fields.family.parentElement.hidden = !problem.families.length;
  fillChoice(fields.adviser, [["", "nobody"], ...problem.experts.map(({ name }) => [name, `expert ${name}`])], "");
  if (wish.adviser === null || (wish.adviser && !problem.experts.some(({ name }) => name === wish.adviser))) {
    const first = problem.experts.find(({ free }) => free) || problem.experts[0];
    wish.adviser = first ? first.name : "";
  }
  fields.adviser.value = wish.adviser;
  fields.adviser.parentElement.hidden = !problem.experts.length;
  const paid = [...problem.objectives, ...problem.rewards];
  fillChoice(fields.reward, paid.map((name) => [name, name]), wish.reward || paid[0] || "");
  fields.reward.parentElement.hidden = paid.length < 2;
  if (wish.reward && !paid.includes(wish.reward)) wish.reward = null;
  const shape = JSON.stringify(problem.params.map(({ name, choices }) => [name, choices]));
  if (shape !== fields.params) { fields.params = shape; offerParams(problem.params); }
}
function offerParams(params) {
  clear(fields.paramBox);
  params.forEach(({ name, value, choices }) => {
    const set = (text) => setParam(name, text);
    if (choices.length) choice(fields.paramBox, name, choices.map((text) => [text, text]), value, set);
    else {
      const label = make(fields.paramBox, "label", { class: "choice" });
      make(label, "span", {}, name);
      const input = make(label, "input", { type: "text", value, size: 6 });
      input.addEventListener("change", () => set(input.value));
    }
  });
}

// Boards

function addBoard() {
  const board = new Board(stageRow, {
    moved: (own) => { acted = own; marksOf(own); changes(own); values(); keep(); },
    marks: (own, more) => { if (!acted || acted === own || more) marksOf(own, more); },
    again, ended, seed: () => wish.graph.seed || 0,
  });
  board.adviser = wish.adviser ? `expert ${wish.adviser}` : null;
  boards.push(board);
  return board;
}
function twoBoards(two) {
  fields.compare.checked = two;
  fields.both.hidden = !two;
  stageRow.classList.toggle("two", two);
  if (two && boards.length === 1) {
    const board = addBoard();
    board.player = boards[0].player === "random" ? null : "random";
    begin(board);
  } else if (!two && boards.length === 2) { const board = boards.pop(); board.halt(); board.box.remove(); if (acted === board) acted = boards[0]; }
  boards.forEach((board) => board.drawing && board.drawing.again());
  keep();
}
function forget() { wish.of = null; wish.graph = { kind: "drawn", family: "", nodes: Number(fields.nodes.value), seed: Number(fields.seed.value) }; wish.adviser = wish.reward = null; wish.label = ""; boards.forEach((board) => { board.picks = []; }); }

const beginSoon = later(30, () => begin());
let beginning = 0;
async function begin(only) {
  if (!spec.problem || !spec.checked || !spec.checked.problem) return;
  const problem = spec.problem, mine = only ? beginning : ++beginning, wanted = only ? [only] : boards;
  const of = { hash: spec.problem.hash, path: spec.path, params: JSON.stringify(spec.params), asked: { ...spec.asked } };
  wish.of = of;
  for (const board of wanted) {
    let begun;
    try { begun = await ask("begin", { spec: of.asked, graph: wish.graph, reward: wish.reward, picks: board.picks }); }
    catch (error) {
      if (mine === beginning && !gone(error)) wanted.forEach((one) => one.refused(error.message));
      return;
    }
    if (mine !== beginning) return;
    board.adviser = wish.adviser ? `expert ${wish.adviser}` : null;
    board.show(begun);
    wish.players = begun.players;
  }
  const first = boards[0];
  acted = acted || first;
  fillChoice(fields.fill, [["-1", "nothing"], ...first.drawing.fill.options.map(({ column, at }) => [String(at), column.name])], String(first.drawing.fill.at));
  const drawn = wish.graph.kind === "drawn";
  if (drawn) { fields.nodes.value = String(wish.graph.nodes); fields.seed.value = String(wish.graph.seed); }
  clear(fields.given);
  if (!drawn) {
    make(fields.given, "b", {}, wish.label || "a graph of your own");
    button(fields.given, "✕", () => draw({}), { "aria-label": "Back to drawn graphs", class: "link" });
  }
  const notes = boards[0].game.notes;
  if (notes.length) fields.given.title = notes.join("\n");
  legend();
  changes(first);
  values();
  keep();
  if (problem.objectives.length) best(first.game.game);
}
// A question about a game; the server may have forgotten it, or have been started anew.
async function again(board, question) {
  try { return await question(); }
  catch (error) {
    if (error.status !== 410) throw error;
    const begun = await ask("begin", { spec: wish.of.asked, graph: wish.graph, reward: wish.reward, picks: [] });
    board.game.game = begun.game;
    return question();
  }
}
async function setPlayer(id) {
  await refreshPlayers();
  const board = boards[0];
  if (!(board.players || []).some((one) => one.id === id)) return;
  board.player = board.playerChoice.value = id;
  board.advise();
}
async function refreshPlayers() {
  const first = boards[0];
  if (!first.game) return;
  try {
    const begun = await ask("begin", { spec: wish.of.asked, graph: wish.graph, reward: wish.reward, picks: [] });
    wish.players = begun.players;
    boards.forEach((board) => board.listPlayers(begun.players));
  } catch { /* told elsewhere */ }
}
async function best(game) {
  let found;
  try { found = await ask("known", { game }); } catch { return; }
  for (const board of boards) if (board.game && board.game.game === game) found.forEach(({ name, value }) => board.learnBest(value, `the expert ${name}`));
}
function ended(board, frame) {
  if (!frame.objectives.length || frame.judged.valid === false || !board.known) return;
  const value = Number(frame.objectives[0]);
  for (const other of boards) if (other.game && other.game.game === board.game.game) other.learnBest(value, "play on this page");
}

// Beside the picture

function legend() {
  const first = boards[0];
  if (!first.drawing) return;
  GnarlDrawing.legend(fields.legend, first.scene, first.drawing.fill, { adviser: wish.adviser || null, fresh: true });
}
function changes(board) {
  clear(fields.changes);
  const frame = board.frame;
  if (!frame) return;
  if (!frame.latest) { make(fields.changes, "li", { class: "none" }, "nothing yet: click a node"); return; }
  frame.latest.changes.slice(0, 200).forEach((text) => {
    const cut = text.lastIndexOf(" (line ");
    const item = make(fields.changes, "li", {}, text.slice(0, cut));
    make(item, "span", { class: "where" }, text.slice(cut));
  });
  if (!frame.latest.changes.length) make(fields.changes, "li", { class: "none" }, "nothing");
}
function values() {
  const board = acted || boards[0];
  if (!fields.values.parentElement.open || !board.frame) return;
  clear(fields.values);
  const { scene, frame, before } = board, text = (column, value) => GnarlDrawing.valueText(scene, column, value);
  const facts = make(fields.values, "dl", { class: "counters" });
  scene.graph_features.forEach((column, at) => { const item = make(facts, "div"); make(item, "dt", { title: column.doc }, column.name); make(item, "dd", {}, text(column, frame.graph[at])); });
  const table = make(fields.values, "table"), head = make(make(table, "thead"), "tr"), body = make(table, "tbody");
  const columns = scene.node_features.map((column, at) => ({ column, at })).filter(({ column }) => !column.single);
  make(head, "th", {}, "node");
  columns.forEach(({ column }) => { const th = make(head, "th", { title: column.doc }, column.name); make(th, "small", {}, `${column.stage} ${column.type}`); });
  scene.labels.forEach((label, v) => {
    const row = make(body, "tr", { class: frame.legal.includes(v) ? "" : "barred" });
    make(row, "th", {}, label);
    columns.forEach(({ column, at }) => {
      const now = frame.nodes[at][v], old = before ? before.nodes[at][v] : now;
      const cell = make(row, "td", { class: now !== old ? "fresh" : "" });
      if (now !== old) { make(cell, "s", {}, text(column, old)); cell.append(" "); }
      cell.append(text(column, now));
    });
  });
}

// Lines of the spec that the state and the latest pick are about

function marksOf(board, more = []) {
  if (!board || !wish.of || spec.text !== wish.of.asked?.text || el("panel-play").hidden) { markLines(new Map()); return; }
  const frame = board.frame, marks = new Map();
  if (!frame) return;
  if (wish.adviser) (board.game.experts[wish.adviser] || []).forEach((line) => marks.set(line, ["expert", "◆ expert"]));
  if (!board.over) frame.allow.forEach((line) => marks.set(line, ["allow", "○ may be picked"]));
  if (frame.latest) frame.latest.written.forEach((line) => marks.set(line, ["update wrote", "▸ changed"]));
  more.forEach(([line, mark]) => marks.set(line, mark));
  markLines(marks);
  if (more.length) revealLine(more[0][0]);
}

// What a reload brings back

function keep() {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ path: spec.path, graph: wish.graph, reward: wish.reward, label: wish.label, adviser: wish.adviser,
      boards: boards.map(({ picks, player }) => ({ picks, player })) }));
  } catch { /* a large file, or a browser that keeps nothing */ }
}
function restore() {
  let kept = null;
  try { kept = JSON.parse(sessionStorage.getItem(KEPT)); } catch { /* not ours */ }
  if (!kept || !kept.boards || (sessionStorage.getItem("gnarl open") || "") !== kept.path) return;
  Object.assign(wish, { graph: kept.graph, reward: kept.reward, label: kept.label, adviser: kept.adviser });
  wish.of = { path: kept.path, hash: null };
  if (kept.graph.kind === "drawn") { fields.nodes.value = String(kept.graph.nodes); fields.seed.value = String(kept.graph.seed); }
  if (kept.boards.length === 2) { addBoard(); fields.compare.checked = true; fields.both.hidden = false; stageRow.classList.add("two"); }
  kept.boards.forEach(({ picks, player }, k) => { boards[k].picks = picks; boards[k].player = player; });
}
