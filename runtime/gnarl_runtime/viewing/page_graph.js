// The picture: a frame in, edges, arrows and nodes out.

// What nodes are filled by

const fillable = data.node_features.map((column, at) => ({ column, at }))
  .filter(({ column }) => column.value !== "node");
function firstFill() {
  const liked = [["state", "mask"], ["derived", "mask"], ["state", "category"], ["state", "scalar"], ["input", "scalar"]];
  for (const [stage, value] of liked) {
    const hit = fillable.find(({ column }) => column.stage === stage && column.value === value);
    if (hit) return hit.at;
  }
  return -1;
}
const CATEGORIES = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#999999"];
let filled = firstFill();
const ranges = data.node_features.map((column, at) => {
  if (column.value !== "scalar") return null;
  const all = frames.flatMap((frame) => frame.nodes[at]);
  return [all.reduce((a, b) => Math.min(a, b), Infinity), all.reduce((a, b) => Math.max(a, b), -Infinity)];
});

function paint(disc, name, group, v, frame) {
  disc.style.fill = name.style.fill = "";
  const column = data.node_features[filled];
  const value = column && frame.nodes[filled][v];
  group.classList.toggle("within", Boolean(column && column.value === "mask" && value));
  if (!column || column.value === "mask") return;
  if (column.value === "category") {
    disc.style.fill = CATEGORIES[value % CATEGORIES.length];
    name.style.fill = "#000";
  } else {
    const [low, high] = ranges[filled];
    const share = high > low ? (value - low) / (high - low) : 0;
    disc.style.fill = `color-mix(in srgb, var(--in) ${Math.round(100 * share)}%, var(--node))`;
    name.style.fill = share > 0.55 ? "var(--in-ink)" : "";
  }
}

// The graph

const svg = el("graph");
svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
const defs = draw(svg, "defs");
for (const kind of ["now", "coming", "plain"]) {
  const marker = draw(defs, "marker", { id: `head-${kind}`, viewBox: "0 0 10 10", refX: 9, refY: 5,
    markerWidth: 13, markerHeight: 13, orient: "auto", markerUnits: "userSpaceOnUse" });
  draw(marker, "path", { d: "M0 0 10 5 0 10z", class: `head ${kind}` });
}
const edgeLayer = draw(svg, "g"), arrowLayer = draw(svg, "g"), weightLayer = draw(svg, "g"), nodeLayer = draw(svg, "g");
if (data.edges.length > 90) edgeLayer.setAttribute("class", data.edges.length > 350 ? "crowd" : "many");
const key = (u, v) => (data.directed || u < v ? `${u} ${v}` : `${v} ${u}`);
const weightOf = new Map();
if (data.weights) data.edges.forEach(([u, v], k) => weightOf.set(key(u, v), data.weights.values[k]));

function between(u, v, bend) {
  const a = spots[u], b = spots[v];
  const dx = b.x - a.x, dy = b.y - a.y, far = Math.hypot(dx, dy) || 1;
  const cx = (a.x + b.x) / 2 - (dy / far) * bend, cy = (a.y + b.y) / 2 + (dx / far) * bend;
  const from = toward(a, { x: cx, y: cy }, radius + 2), to = toward(b, { x: cx, y: cy }, radius + 6);
  return `M${from.x} ${from.y}Q${cx} ${cy} ${to.x} ${to.y}`;
}
function toward(a, b, far) {
  const all = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  return { x: +(a.x + ((b.x - a.x) * far) / all).toFixed(1), y: +(a.y + ((b.y - a.y) * far) / all).toFixed(1) };
}
function drawEdge(u, v, kind) {
  if (data.directed && data.labels.length) {
    draw(edgeLayer, "path", { d: between(u, v, 8), class: `edge ${kind}`, "marker-end": "url(#head-plain)" });
  } else {
    draw(edgeLayer, "line", { x1: spots[u].x, y1: spots[u].y, x2: spots[v].x, y2: spots[v].y, class: `edge ${kind}` });
  }
}

function drawEdges(frame, after) {
  clear(edgeLayer);
  const removed = new Set(frame.removed.map(([u, v]) => key(u, v)));
  const masked = new Set(frame.masks.flat().map(([u, v]) => key(u, v)));
  const focus = pinned === null ? hovered : pinned;
  const shown = new Set();
  for (const [u, v] of data.edges) {
    const near = u === focus || v === focus, own = key(u, v);
    const kind = masked.has(own) ? "masked" : removed.has(own) ? "removed" : near ? "near" : "";
    shown.add(own);
    if (!data.complete || kind) drawEdge(u, v, kind);
  }
  for (const [u, v] of frame.added) {
    shown.add(key(u, v));
    drawEdge(u, v, masked.has(key(u, v)) ? "masked" : "added");
  }
  for (const [u, v] of frame.masks.flat()) if (!shown.has(key(u, v)) && u !== v) drawEdge(u, v, "masked");
  if (after) {
    const had = new Set(frame.added.map(([u, v]) => key(u, v)));
    for (const [u, v] of after.added) if (!had.has(key(u, v))) drawEdge(u, v, "coming");
    for (const [u, v] of after.removed) if (!removed.has(key(u, v))) drawEdge(u, v, "coming");
  }
}

function drawArrows(frame, after) {
  clear(arrowLayer);
  let second = "";
  data.node_features.forEach((column, at) => {
    if (column.value !== "node" || column.single) return;
    for (let v = 0; v < count; v++) {
      const to = frame.nodes[at][v], next = after ? after.nodes[at][v] : to;
      if (to !== v) arrow(v, to, next === to ? `arrow${second}` : `arrow fading${second}`, "now");
      if (next !== to && next !== v) arrow(v, next, "arrow coming", "coming");
    }
    second = " second";
  });
}
function arrow(u, v, kind, head) {
  draw(arrowLayer, "path", { d: between(u, v, 12), class: kind, "marker-end": `url(#head-${head})` });
}

function drawWeights(frame) {
  clear(weightLayer);
  if (!data.weights) return;
  const focus = pinned === null ? hovered : pinned;
  const current = [...frame.picks, ...(frame.pick === null ? [] : [frame.pick])].filter((v) => v >= 0);
  for (const [u, v] of data.edges) {
    const asked = u === focus || v === focus;
    const walked = current.includes(u) && current.includes(v);
    if (!asked && !walked && (data.complete || data.edges.length > EDGE_LABELS)) continue;
    const a = spots[u], b = spots[v];
    draw(weightLayer, "text", { x: a.x + (b.x - a.x) * 0.42, y: a.y + (b.y - a.y) * 0.42, class: "weight" },
      String(Number(weightOf.get(key(u, v)).toPrecision(2))));
  }
}

const size = radius < 18 ? radius * 0.95 : 17 + (radius - 18) * 0.4;
const nodes = data.labels.map((label, v) => {
  const group = draw(nodeLayer, "g", { class: "node", transform: `translate(${spots[v].x.toFixed(1)} ${spots[v].y.toFixed(1)})` });
  const ring = draw(group, "circle", { r: radius + 10, class: "ring" });
  const t = radius + 10, ticks = draw(group, "path", { class: "ticks",
    d: [[0, -1], [1, 0], [0, 1], [-1, 0]].map(([x, y]) => `M${x * t} ${y * t}l${x * 8} ${y * 8}`).join("") });
  const disc = draw(group, "circle", { r: radius, class: "disc" });
  const gauge = draw(group, "path", { class: "gauge" });
  const short = label.length > 4 ? `${label.slice(0, 3)}…` : label;
  const name = draw(group, "text", { class: "name", "font-size": short.length > 2 ? size * 0.8 : size, y: 1 }, short);
  const gem = draw(group, "path", { class: "gem", d: `M0-9 8 0 0 9-8 0z`, transform: `translate(${radius * 0.9} ${radius * 0.9})` });
  const chance = draw(group, "text", { class: "percent", y: radius + 22 });
  const tag = draw(group, "text", { class: "tag" });
  const hint = draw(group, "title");
  group.addEventListener("mouseenter", () => hover(v));
  group.addEventListener("mouseleave", () => hover(null));
  group.addEventListener("click", () => pin(v));
  return { group, ring, ticks, disc, gauge, name, gem, chance, tag, hint };
});
const show = (node, visible) => { node.style.display = visible ? "" : "none"; };

function arc(share) {
  const r = radius + 4.5;
  if (share >= 0.999) return `M0 ${-r}A${r} ${r} 0 1 1 -0.01 ${-r}z`;
  const turn = 2 * Math.PI * share;
  return `M0 ${-r}A${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${(r * Math.sin(turn)).toFixed(2)} ${(-r * Math.cos(turn)).toFixed(2)}`;
}

function drawNodes(frame) {
  const legal = new Set(frame.legal);
  const tags = tagsOf(frame);
  nodes.forEach((node, v) => {
    const p = chanceOf(frame.chances, v), picked = frame.pick === v;
    node.group.classList.toggle("barred", frame.pick !== null && !legal.has(v));
    paint(node.disc, node.name, node.group, v, frame);
    show(node.ring, picked); show(node.ticks, picked);
    show(node.gauge, p > 0.002);
    if (p > 0.002) node.gauge.setAttribute("d", arc(p));
    show(node.chance, p >= (count > 30 ? 0.1 : 0.01));
    node.chance.textContent = percent(p);
    node.chance.setAttribute("y", radius + (picked ? 33 : 21));
    show(node.gem, chanceOf(frame.advice, v) > 0);
    node.tag.textContent = tags[v];
    node.tag.classList.toggle("now", picked);
    node.tag.setAttribute("x", -radius * 0.7 - (picked ? 12 : 2));
    node.tag.setAttribute("y", -radius * 0.7 - (picked ? 6 : 0));
    node.hint.textContent = `node ${data.labels[v]}`;
  });
  if (frame.pick !== null) nodeLayer.appendChild(nodes[frame.pick].group);
}

// The start node and its like, and the picks of this round, by the names that the spec gives them.
function tagsOf(frame) {
  const tags = data.labels.map(() => []);
  data.node_features.forEach((column, at) => { if (column.single && frame.nodes[at] >= 0) tags[frame.nodes[at]].push(column.name); });
  const made = [...frame.picks, ...(frame.pick === null ? [] : [frame.pick])];
  made.forEach((v, k) => { if (v >= 0) tags[v].push(data.phases[k].variable); });  // -1: it was skipped
  return tags.map((names) => names.join(" "));
}

function hover(v) { hovered = v; if (pinned === null) focusOn(v); }
function pin(v) { pinned = pinned === v ? null : v; focusOn(pinned === null ? hovered : pinned); }
function focusOn(v) {
  nodes.forEach((node, w) => node.group.classList.toggle("hover", w === v));
  rows.forEach((row, w) => row.tr.classList.toggle("hover", w === v));
  drawEdges(frames[now], frames[now + 1]);
  drawWeights(frames[now]);
  el("here").textContent = v === null ? "" : about(v, frames[now]);
  if (v !== null) reveal(el("nodes"), rows[v].tr);
}
function about(v, frame) {
  const why = frame.why_not.filter(([w]) => w === v).map(([, k]) => data.reasons[k]);
  const name = `Node ${data.labels[v]}`;
  if (frame.pick === null) return name;
  if (!frame.legal.includes(v)) return `${name} may not be picked: ${why.join("; ") || "the episode has ended"}`;
  return `${name} may be picked, chance ${percent(chanceOf(frame.chances, v))}`;
}

// The legend

function legend() {
  const entry = (text, picture) => {
    const item = make(el("legend"), "li");
    picture(draw(item, "svg", { viewBox: "-13 -13 26 26", "aria-hidden": "true" }));
    make(item, "span", {}, text);
  };
  const disc = (box, kind) => draw(draw(box, "g", { class: `node ${kind}` }), "circle", { r: 8, class: "disc" });
  const column = data.node_features[filled];
  entry("may be picked", (box) => disc(box, ""));
  entry("may not", (box) => disc(box, "barred"));
  if (column && column.value === "mask") entry(`${column.name} is true`, (box) => disc(box, "within"));
  const part = (box, kind, d) => draw(draw(box, "g", { class: "node" }), "path", { d, class: kind });
  entry("pick", (box) => part(box, "ring", "M0-9A9 9 0 1 1-.01-9zM0-9v-4M9 0h4M0 9v4M-9 0h-4"));
  entry("chance of being picked", (box) => part(box, "gauge", "M0-9A9 9 0 0 1 0 9"));
  if (data.adviser !== null) entry(`choice of the expert ${data.adviser}`, (box) => part(box, "gem", "M0-9 8 0 0 9-8 0z"));
  const line = (kind, more) => (box) => draw(box, "path", { d: "M-12 0H12", class: kind, ...more });
  data.node_features.filter(({ type }) => type === "pointer").forEach((pointer, k) =>
    entry(`${pointer.name} points to`, line(k ? "arrow second" : "arrow", { "marker-end": "url(#head-now)" })));
  entry("changed by this pick", line("arrow coming"));
  data.masks.forEach((mask) => entry(`${mask.name} is true`, line("edge masked")));
  if (frames.some((frame) => frame.added.length)) entry("added edge", line("edge added"));
  if (frames.some((frame) => frame.removed.length)) entry("removed edge", line("edge removed"));
  if (data.complete) make(el("legend"), "li", {}, "all nodes are joined; edges are drawn for the node under the pointer");
}
