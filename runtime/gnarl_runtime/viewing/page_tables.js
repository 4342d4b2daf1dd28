// Beside the picture: a frame in, tables, lines of the spec and words out.

// Tables

const columns = scene.node_features.map((column, at) => ({ column, at })).filter(({ column }) => !column.single);
const head = make(document.querySelector("#nodes thead"), "tr");
const heading = (text, small, title) => {
  const th = make(head, "th", { scope: "col", title: title || "" }, text);
  make(th, "small", {}, small);
};
heading("node", "", "");
heading("chance", "of the pick", "how likely the one who picks finds each node");
if (data.adviser !== null) heading("expert", data.adviser, "what the expert of the spec would pick here");
columns.forEach(({ column }) => heading(column.name, `${column.stage} ${column.type}`, column.doc));
const rows = scene.labels.map((label, v) => {
  const tr = make(document.querySelector("#nodes tbody"), "tr");
  make(tr, "th", { scope: "row" }, label);
  const chance = make(tr, "td", { class: "chance" });
  const expert = data.adviser !== null ? make(tr, "td", { class: "expert" }) : null;
  const cells = columns.map(() => make(tr, "td"));
  tr.addEventListener("mouseenter", () => { hovered = v; drawing.mark(v, true); });
  tr.addEventListener("mouseleave", () => { hovered = null; drawing.mark(v, false); });
  tr.addEventListener("click", () => pin(v));
  return { tr, chance, expert, cells };
});

function cell(td, column, value, next) {
  clear(td);
  td.className = next !== value ? "changed" : column.value === "mask" && !value ? "off" : "";
  if (next !== value) make(td, "s", {}, valueText(column, value));
  td.append(valueText(column, next));
}
function fillTable(frame, after) {
  const legal = new Set(frame.legal);
  rows.forEach(({ tr, chance, expert, cells }, v) => {
    const p = chanceOf(frame.chances, v), picked = frame.pick === v, open = legal.has(v);
    tr.className = `${picked ? "picked" : ""}${frame.pick !== null && !open ? " barred" : ""}`;
    chance.textContent = frame.pick === null ? "" : !open ? "not allowed" : `${picked ? "pick " : ""}${percent(p)}`;
    chance.style.backgroundSize = `${Math.round(100 * p)}% 100%`;
    if (expert) { const share = chanceOf(frame.advice, v); expert.textContent = share ? `◆ ${percent(share)}` : ""; }
    columns.forEach(({ column, at }, k) => cell(cells[k], column, frame.nodes[at][v], (after || frame).nodes[at][v]));
  });
  const values = el("graph-values");
  clear(values);
  scene.graph_features.forEach((column, at) => {
    const box = make(values, "div");
    make(box, "dt", { title: column.doc }, column.name);
    const old = frame.graph[at], next = (after || frame).graph[at];
    make(box, "dd", {}, old === next ? valueText(column, old) : `${valueText(column, old)} → ${valueText(column, next)}`);
  });
  scene.node_features.forEach((column, at) => {
    if (!column.single) return;
    const box = make(values, "div");
    make(box, "dt", { title: column.doc }, column.name);
    make(box, "dd", {}, frame.nodes[at] < 0 ? "unset" : `node ${scene.labels[frame.nodes[at]]}`);
  });
}

// The spec

const lines = new Map();
scene.sources.forEach((file, number) => {
  if (scene.sources.length > 1) make(el("source"), "div", { class: "file" }, file.name);
  file.text.replace(/\n$/, "").split("\n").forEach((text, k) => {
    const row = make(el("source"), "div", { class: "row" });
    make(row, "span", { class: "number" }, String(k + 1));
    make(row, "code", {}, text || " ");
    lines.set(`${number} ${k + 1}`, { row, mark: make(row, "span", { class: "mark" }) });
  });
});
function mark(frame) {
  for (const { row, mark } of lines.values()) { row.className = "row"; mark.textContent = ""; }
  if (frame.pick === null) return;
  const phase = scene.phases[frame.phase];
  const put = (where, kind, text) => where.forEach(([file, line]) => {
    const entry = lines.get(`${file} ${line}`);
    if (entry) { entry.row.className = `row ${kind}`; entry.mark.textContent = text; }
  });
  put(phase.expert, "expert", "◆ expert");
  put(phase.allow, "allow", "○ allow");
  put(phase.update, "update", "runs");
  put(frame.written, "update wrote", "▸ changes");
  const first = [...frame.written, ...phase.update, ...phase.allow][0];
  if (first) reveal(el("source"), lines.get(`${first[0]} ${first[1]}`).row);
}
function reveal(pane, row) {
  const top = row.offsetTop, low = pane.scrollTop + 30, high = pane.scrollTop + pane.clientHeight - 40;
  if (top < low || top > high) pane.scrollTo({ top: Math.max(0, top - pane.clientHeight / 2.5), behavior: still || timer ? "auto" : "smooth" });
}

// In words

function advised(frame) { return (frame.advice || []).map(([v]) => v); }
const agrees = (frame) => frame.pick !== null && advised(frame).includes(frame.pick);
function sentence(frame) {
  if (frame.pick === null) return `Step ${end} of ${end}: the end. ${data.ending[0].toUpperCase()}${data.ending.slice(1)}.`;
  const phase = scene.phases[frame.phase];
  const choice = data.adviser === null ? "" : advised(frame).length === 0 ? " The expert has no answer here." :
    agrees(frame) ? " The expert agrees." : ` The expert would pick ${few(advised(frame), 4)}.`;
  return `Step ${now + 1} of ${end}: round ${frame.round}, phase ${phase.name}. Picks ${phase.variable} = node ${scene.labels[frame.pick]} ` +
    `(${percent(chanceOf(frame.chances, frame.pick))}), ${frame.legal.length} of ${count} are legal.${choice}`;
}
function facts(frame) {
  const box = el("facts");
  clear(box);
  const add = (name, value, kind) => { const div = make(box, "div", { class: kind || "" }); make(div, "dt", {}, name); make(div, "dd", {}, value); };
  add("Round", scene.horizon === "inf" ? String(frame.round) : `${frame.round} of at most ${scene.horizon}`);
  add("Phase", frame.pick === null ? "ended" : `${scene.phases[frame.phase].name}(${scene.phases[frame.phase].variable})`);
  add("Pick", frame.pick === null ? "–" : scene.labels[frame.pick]);
  if (scene.reward !== null) { add(`Reward ${scene.reward}`, frame.reward || "–"); add("Total so far", frame.total); }
  scene.objectives.forEach((name, k) => add(`Objective ${name}`, frame.objectives[k]));
  if (data.adviser !== null) add(`Expert ${data.adviser}`, frame.pick === null ? "–" : few(advised(frame)) || "no answer", "wide");
}
function effects(frame) {
  const box = el("effects");
  clear(box);
  if (frame.pick === null) { make(box, "li", { class: "none" }, data.ending); return; }
  frame.changes.forEach((text) => {
    const cut = text.lastIndexOf(" (line ");
    const item = make(box, "li", {}, text.slice(0, cut));
    make(item, "span", { class: "where" }, text.slice(cut));
  });
  const waits = scene.phases[frame.phase].update.length === 0;
  if (!frame.changes.length) make(box, "li", { class: "none" }, waits ? "nothing: this phase has no update" : "nothing");
}
