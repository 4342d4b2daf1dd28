"use strict";
// A graph and a state of it in, a picture out. The page of gnarl-view and the live page share this
// file: it defines one name, and knows nothing of the page around the picture. Every mark has a
// shape of its own, so that none hangs on its colour. Texts of a spec are shown by textContent only.
//
// scene: what stays the same: labels, places (unit square), aspect, directed, complete, edges,
//        weights, node_features, masks, phases
// frame: one state: legal, picks, chances, advice, nodes (values per feature), masks, added, removed

const GnarlDrawing = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 1000, EDGE_LABELS = 30;
  const CATEGORIES = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#999999"];

  // Building blocks

  function dress(parent, node, attributes, text) {
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  }
  const make = (parent, name, attributes, text) => dress(parent, document.createElement(name), attributes, text);
  const draw = (parent, name, attributes, text) => dress(parent, document.createElementNS(SVG, name), attributes, text);

  function percent(p) {
    if (p < 0.0005) return "0 %";
    if (p >= 0.995) return "100 %";
    return `${p >= 0.0995 ? Math.round(100 * p) : (100 * p).toFixed(1)} %`;
  }
  function chanceOf(pairs, v) {
    const hit = (pairs || []).find(([w]) => w === v);
    return hit ? hit[1] : 0;
  }
  function valueText(scene, column, value) {
    if (column.value === "mask") return value ? "true" : "false";
    if (column.value === "category") return column.choices.length ? column.choices[value] : String(value);
    if (column.value === "node") return value < 0 ? "unset" : scene.labels[value];
    return String(Number(Number(value).toPrecision(4)));
  }
  const short = (label) => (label.length > 4 ? `${label.slice(0, 3)}…` : label);

  // Where everything is

  function geometryOf(scene) {
    const count = scene.labels.length, height = WIDTH / scene.aspect;
    const radius = Math.max(9, Math.min(30, 128 / Math.sqrt(count))), margin = radius + 36;
    const spots = scene.places.map(([x, y]) => ({
      x: margin + x * (WIDTH - 2 * margin), y: margin + y * (height - 2 * margin) }));
    const key = (u, v) => (scene.directed || u < v ? `${u} ${v}` : `${v} ${u}`);
    const weightOf = new Map();
    if (scene.weights) scene.edges.forEach(([u, v], k) => weightOf.set(key(u, v), scene.weights.values[k]));
    const toward = (a, b, far) => {
      const all = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      return { x: +(a.x + ((b.x - a.x) * far) / all).toFixed(1), y: +(a.y + ((b.y - a.y) * far) / all).toFixed(1) };
    };
    // From the rim of one node to the rim of another, bent to one side.
    const between = (u, v, bend) => {
      const a = spots[u], b = spots[v], far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      const c = { x: (a.x + b.x) / 2 - ((b.y - a.y) / far) * bend, y: (a.y + b.y) / 2 + ((b.x - a.x) / far) * bend };
      return { from: toward(a, c, radius + 2), c, to: toward(b, c, radius + 6) };
    };
    const size = radius < 18 ? radius * 0.95 : 17 + (radius - 18) * 0.4;
    return { count, height, radius, spots, key, weightOf, between, size };
  }

  // What is to be drawn: lists of marks, the same for every way of drawing

  // Edges with their kinds: plain, near the node that is asked about, masked, added, removed,
  // about to change (`after`), or changed by the latest pick (`before`).
  function edgesOf(scene, geometry, frame, more) {
    const { key } = geometry, found = [];
    const removed = new Set(frame.removed.map(([u, v]) => key(u, v)));
    const masked = new Set(frame.masks.flat().map(([u, v]) => key(u, v)));
    const old = more.before && new Set(more.before.masks.flat().map(([u, v]) => key(u, v)));
    const shown = new Set();
    for (const [u, v] of scene.edges) {
      const near = u === more.focus || v === more.focus, own = key(u, v);
      const fresh = old && masked.has(own) && !old.has(own) ? " fresh" : "";
      const kind = masked.has(own) ? `masked${fresh}` : removed.has(own) ? "removed" : near ? "near" : "";
      shown.add(own);
      if (!scene.complete || kind) found.push([u, v, kind]);
    }
    for (const [u, v] of frame.added) {
      shown.add(key(u, v));
      found.push([u, v, masked.has(key(u, v)) ? "masked" : "added"]);
    }
    for (const [u, v] of frame.masks.flat()) if (!shown.has(key(u, v)) && u !== v) found.push([u, v, "masked"]);
    if (more.after) {
      const had = new Set(frame.added.map(([u, v]) => key(u, v)));
      for (const [u, v] of more.after.added) if (!had.has(key(u, v))) found.push([u, v, "coming"]);
      for (const [u, v] of more.after.removed) if (!removed.has(key(u, v))) found.push([u, v, "coming"]);
    }
    return found;
  }

  // Pointers as arrows; the second feature of pointers is drawn otherwise.
  function arrowsOf(scene, geometry, frame, more) {
    const found = [];
    let second = "";
    scene.node_features.forEach((column, at) => {
      if (column.value !== "node" || column.single) return;
      for (let v = 0; v < geometry.count; v++) {
        const to = frame.nodes[at][v], next = more.after ? more.after.nodes[at][v] : to;
        const fresh = more.before && more.before.nodes[at][v] !== to ? " fresh" : "";
        if (to !== v) found.push([v, to, (next === to ? `arrow${second}` : `arrow fading${second}`) + fresh]);
        if (next !== to && next !== v) found.push([v, next, "arrow coming"]);
      }
      second = " second";
    });
    return found;
  }

  function weightsOf(scene, geometry, frame, more) {
    if (!scene.weights) return [];
    const current = [...frame.picks, ...(frame.pick === null ? [] : [frame.pick])].filter((v) => v >= 0);
    return scene.edges.filter(([u, v]) => {
      const asked = u === more.focus || v === more.focus;
      const walked = current.includes(u) && current.includes(v);
      return asked || walked || !(scene.complete || scene.edges.length > EDGE_LABELS);
    }).map(([u, v]) => {
      const a = geometry.spots[u], b = geometry.spots[v];
      const text = String(Number(geometry.weightOf.get(geometry.key(u, v)).toPrecision(2)));
      return [a.x + (b.x - a.x) * 0.42, a.y + (b.y - a.y) * 0.42, text];
    });
  }

  // The start node and its like, and the picks of this round, by the names that the spec gives them.
  function tagsOf(scene, frame, more) {
    const tags = scene.labels.map(() => []);
    scene.node_features.forEach((column, at) => {
      if (column.single && frame.nodes[at] >= 0) tags[frame.nodes[at]].push(column.name);
    });
    const made = [...frame.picks, ...(frame.pick === null ? [] : [frame.pick])];
    if (more.trying !== undefined && more.trying !== null) made.push(more.trying);
    made.forEach((v, k) => { if (v >= 0 && scene.phases[k]) tags[v].push(scene.phases[k].variable); });  // -1: it was skipped
    return tags.map((names) => names.join(" "));
  }

  // Nodes of which the latest pick changed something.
  function freshOf(scene, frame, before) {
    const fresh = new Set();
    if (before) scene.node_features.forEach((column, at) => {
      if (column.single) { if (frame.nodes[at] !== before.nodes[at] && frame.nodes[at] >= 0) fresh.add(frame.nodes[at]); }
      else frame.nodes[at].forEach((value, v) => { if (value !== before.nodes[at][v]) fresh.add(v); });
    });
    return fresh;
  }

  // What nodes are filled by

  function makeFill(scene) {
    const options = scene.node_features.map((column, at) => ({ column, at }))
      .filter(({ column }) => column.value !== "node");
    const liked = [["state", "mask"], ["derived", "mask"], ["state", "category"], ["state", "scalar"], ["input", "scalar"]];
    const first = () => {
      for (const [stage, value] of liked) {
        const hit = options.find(({ column }) => column.stage === stage && column.value === value);
        if (hit) return hit.at;
      }
      return -1;
    };
    const ranges = scene.node_features.map(() => [Infinity, -Infinity]);
    const fill = {
      options,
      at: first(),
      get column() { return scene.node_features[fill.at]; },
      // Shades mean the same in all states that were seen.
      learn(frames) {
        for (const frame of frames) scene.node_features.forEach((column, at) => {
          if (column.value !== "scalar") return;
          for (const value of frame.nodes[at]) {
            ranges[at][0] = Math.min(ranges[at][0], value);
            ranges[at][1] = Math.max(ranges[at][1], value);
          }
        });
      },
      // {within}, {category} or {share} of one node
      of(frame, v) {
        const column = fill.column;
        if (!column) return {};
        const value = frame.nodes[fill.at][v];
        if (column.value === "mask") return { within: Boolean(value) };
        if (column.value === "category") return { category: CATEGORIES[value % CATEGORIES.length] };
        const [low, high] = ranges[fill.at];
        return { share: high > low ? (value - low) / (high - low) : 0 };
      },
    };
    return fill;
  }

  // SVG: every node an element of its own, for as many as can be told apart

  function makeDrawing(svg, scene, on = {}) {
    const geometry = geometryOf(scene), fill = makeFill(scene);
    const { radius, spots, count, between } = geometry;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${geometry.height}`);
    const defs = draw(svg, "defs");
    const unique = `m${Math.random().toString(36).slice(2, 8)}`;
    for (const kind of ["now", "coming", "plain"]) {
      const marker = draw(defs, "marker", { id: `${unique}-${kind}`, viewBox: "0 0 10 10", refX: 9, refY: 5,
        markerWidth: 13, markerHeight: 13, orient: "auto", markerUnits: "userSpaceOnUse" });
      draw(marker, "path", { d: "M0 0 10 5 0 10z", class: `head ${kind}` });
    }
    const head = (kind) => `url(#${unique}-${kind})`;
    const edgeLayer = draw(svg, "g"), arrowLayer = draw(svg, "g"), weightLayer = draw(svg, "g"), nodeLayer = draw(svg, "g");
    if (scene.edges.length > 90) edgeLayer.setAttribute("class", scene.edges.length > 350 ? "crowd" : "many");
    const nodes = scene.labels.map((label, v) => makeNode(label, v));
    const drawn = new Map();
    let shown = null, shownMore = {}, focus = null, active = null;

    function makeNode(label, v) {
      const group = draw(nodeLayer, "g", { class: "node", transform: `translate(${spots[v].x.toFixed(1)} ${spots[v].y.toFixed(1)})` });
      const halo = draw(group, "circle", { r: radius + 14, class: "halo" });
      const ring = draw(group, "circle", { r: radius + 10, class: "ring" });
      const t = radius + 10, ticks = draw(group, "path", { class: "ticks",
        d: [[0, -1], [1, 0], [0, 1], [-1, 0]].map(([x, y]) => `M${x * t} ${y * t}l${x * 8} ${y * 8}`).join("") });
      const disc = draw(group, "circle", { r: radius, class: "disc" });
      const spark = draw(group, "path", { class: "spark", transform: `translate(${-radius * 0.95} ${radius * 0.95})`, d: "M-8-2h6v-6h4v6h6v4h-6v6h-4v-6h-6z" });
      const gauge = draw(group, "path", { class: "gauge" });
      const text = short(label);
      const name = draw(group, "text", { class: "name", "font-size": text.length > 2 ? geometry.size * 0.8 : geometry.size, y: 1 }, text);
      const gem = draw(group, "path", { class: "gem", d: `M0-9 8 0 0 9-8 0z`, transform: `translate(${radius * 0.9} ${radius * 0.9})` });
      const chance = draw(group, "text", { class: "percent", y: radius + 22 });
      const tag = draw(group, "text", { class: "tag" });
      draw(group, "title", {}, on.silent ? undefined : `node ${label}`);
      if (on.hover) {
        group.addEventListener("pointerenter", () => on.hover(v));
        group.addEventListener("pointerleave", () => on.hover(null));
      }
      if (on.click) group.addEventListener("click", () => on.click(v));
      return { group, halo, ring, ticks, disc, spark, gauge, name, gem, chance, tag };
    }
    const show = (node, visible) => { node.style.display = visible ? "" : "none"; };

    function arc(share) {
      const r = radius + 4.5;
      if (share >= 0.999) return `M0 ${-r}A${r} ${r} 0 1 1 -0.01 ${-r}z`;
      const turn = 2 * Math.PI * share;
      return `M0 ${-r}A${r} ${r} 0 ${share > 0.5 ? 1 : 0} 1 ${(r * Math.sin(turn)).toFixed(2)} ${(-r * Math.cos(turn)).toFixed(2)}`;
    }
    function bent({ from, c, to }) { return `M${from.x} ${from.y}Q${c.x} ${c.y} ${to.x} ${to.y}`; }

    // Most picks change no edge, and there can be thousands of them: what is there already stays.
    function layer(group, marks, make) {
      const wanted = marks.join("|");
      if (drawn.get(group) === wanted) return;
      drawn.set(group, wanted);
      const fresh = document.createDocumentFragment();
      marks.forEach((mark) => make(fresh, mark));
      group.replaceChildren(fresh);
    }
    function drawLines(frame, more) {
      const asked = { ...more, focus };
      layer(edgeLayer, edgesOf(scene, geometry, frame, asked), (parent, [u, v, kind]) => {
        if (scene.directed) draw(parent, "path", { d: bent(between(u, v, 8)), class: `edge ${kind}`, "marker-end": head("plain") });
        else draw(parent, "line", { x1: spots[u].x, y1: spots[u].y, x2: spots[v].x, y2: spots[v].y, class: `edge ${kind}` });
      });
      layer(arrowLayer, arrowsOf(scene, geometry, frame, asked), (parent, [u, v, kind]) => {
        const own = /coming|fresh/.test(kind) ? "coming" : "now";
        draw(parent, "path", { d: bent(between(u, v, 12)), class: kind, "marker-end": head(own) });
      });
      layer(weightLayer, weightsOf(scene, geometry, frame, asked), (parent, [x, y, text]) => draw(parent, "text", { x, y, class: "weight" }, text));
    }

    function paint(node, v, frame) {
      const { within, category, share } = fill.of(frame, v);
      node.group.classList.toggle("within", Boolean(within));
      node.disc.style.fill = category || (share === undefined ? "" : `color-mix(in srgb, var(--in) ${Math.round(100 * share)}%, var(--node))`);
      node.name.style.fill = category ? "#000" : share > 0.55 ? "var(--in-ink)" : "";
    }

    function drawNodes(frame, more) {
      const legal = new Set(frame.legal), tags = tagsOf(scene, frame, more), fresh = freshOf(scene, frame, more.before);
      const open = more.open === undefined ? frame.pick !== null : more.open;
      const chances = new Map(frame.chances || []), advice = new Map(frame.advice || []);
      nodes.forEach((node, v) => {
        const p = chances.get(v) || 0, picked = frame.pick === v || more.picked === v;
        node.group.classList.toggle("barred", open && !legal.has(v));
        node.group.classList.toggle("open", open && legal.has(v));
        paint(node, v, frame);
        show(node.ring, picked); show(node.ticks, picked);
        show(node.halo, active === v);
        show(node.spark, fresh.has(v));
        show(node.gauge, p > 0.002);
        if (p > 0.002) node.gauge.setAttribute("d", arc(p));
        show(node.chance, p >= (count > 30 ? 0.1 : 0.01));
        node.chance.textContent = percent(p);
        node.chance.setAttribute("y", radius + (picked ? 33 : 21));
        show(node.gem, (advice.get(v) || 0) > 0);
        node.tag.textContent = tags[v];
        node.tag.classList.toggle("now", frame.pick === v);
        node.tag.setAttribute("x", -radius * 0.7 - (picked ? 12 : 2));
        node.tag.setAttribute("y", -radius * 0.7 - (picked ? 6 : 0));
      });
      const front = frame.pick !== null ? frame.pick : more.picked;
      if (front !== undefined && front !== null && nodes[front]) nodeLayer.appendChild(nodes[front].group);
    }

    const drawing = {
      element: svg, geometry, fill, nodes,
      // `after`: what a pick will lead to; `before`: what the latest one came from; `picked`: that
      // pick; `trying`: a node that is thought about; `open`: whether a pick is waited for
      draw(frame, more = {}) {
        shown = frame; shownMore = more;
        fill.learn([frame]);
        drawLines(frame, more);
        drawNodes(frame, more);
      },
      focus(v) { focus = v; if (shown) drawLines(shown, shownMore); },
      mark(v, marked) { nodes[v].group.classList.toggle("hover", marked); },
      activate(v) {
        if (active !== null) show(nodes[active].halo, false);
        active = v;
        if (v !== null) show(nodes[v].halo, true);
      },
      again() { if (shown) drawing.draw(shown, shownMore); },
    };
    return drawing;
  }

  // The legend: only what this problem can show

  function legend(list, scene, fill, { adviser = null, added = false, removed = false, chances = true, fresh = false } = {}) {
    list.replaceChildren();
    const entry = (text, picture) => {
      const item = make(list, "li");
      picture(draw(item, "svg", { viewBox: "-13 -13 26 26", "aria-hidden": "true" }));
      make(item, "span", {}, text);
    };
    const disc = (box, kind) => draw(draw(box, "g", { class: `node ${kind}` }), "circle", { r: 8, class: "disc" });
    const column = fill.column;
    entry("may be picked", (box) => disc(box, "open"));
    entry("may not", (box) => disc(box, "barred"));
    if (column && column.value === "mask") entry(`${column.name} is true`, (box) => disc(box, "within"));
    const part = (box, kind, d) => draw(draw(box, "g", { class: "node" }), "path", { d, class: kind });
    entry(fresh ? "latest pick" : "pick", (box) => part(box, "ring", "M0-9A9 9 0 1 1-.01-9zM0-9v-4M9 0h4M0 9v4M-9 0h-4"));
    if (fresh) entry("changed by it", (box) => part(box, "spark", "M-8-2h6v-6h4v6h6v4h-6v6h-4v-6h-6z"));
    if (chances) entry("chance of being picked", (box) => part(box, "gauge", "M0-9A9 9 0 0 1 0 9"));
    if (adviser !== null) entry(`choice of the expert ${adviser}`, (box) => part(box, "gem", "M0-9 8 0 0 9-8 0z"));
    const line = (kind, pointed) => (box) => {
      draw(box, "path", { d: "M-12 0H10", class: kind });
      if (pointed) draw(box, "path", { d: "M5-5 13 0 5 5z", class: "head" });
    };
    scene.node_features.filter(({ type }) => type === "pointer").forEach((pointer, k) =>
      entry(`${pointer.name} points to`, line(k ? "arrow second" : "arrow", true)));
    entry(fresh ? "would change" : "changed by this pick", line("arrow coming"));
    scene.masks.forEach((mask) => entry(`${mask.name} is true`, line("edge masked")));
    if (added) entry("added edge", line("edge added"));
    if (removed) entry("removed edge", line("edge removed"));
    if (scene.complete) make(list, "li", {}, "all nodes are joined; edges are drawn for the node under the pointer");
  }

  return { WIDTH, CATEGORIES, make, draw, percent, chanceOf, valueText, short, geometryOf, edgesOf, arrowsOf,
    weightsOf, tagsOf, freshOf, makeFill, makeDrawing, legend };
})();
