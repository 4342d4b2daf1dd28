// The same picture as drawing.js makes of elements, painted: for more nodes than elements can be
// moved about quickly. What is drawn where comes from there; here is only how.

const { WIDTH, short, percent, geometryOf, edgesOf, arrowsOf, weightsOf, tagsOf, freshOf, makeFill } = GnarlDrawing;

export const MANY = 100;  // nodes above which a picture is painted

export function makeCanvasDrawing(canvas, scene, on = {}) {
  const geometry = geometryOf(scene), fill = makeFill(scene), { radius, spots, count, between } = geometry;
  const pen = canvas.getContext("2d");
  let shown = null, more = {}, focus = null, active = null, pointed = null;
  const hovers = new Set();

  canvas.addEventListener("pointermove", (event) => point(at(event)));
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("click", (event) => { const v = at(event); if (v !== null && on.click) on.click(v); });
  new ResizeObserver(() => again()).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again());

  // The picture as large as it fits, in the middle.
  function fit(box) {
    const own = Math.min(box.width / WIDTH, box.height / geometry.height);
    return { own, left: (box.width - WIDTH * own) / 2, top: (box.height - geometry.height * own) / 2 };
  }
  function at(event) {
    const box = canvas.getBoundingClientRect(), { own, left, top } = fit(box);
    const x = (event.clientX - box.left - left) / own, y = (event.clientY - box.top - top) / own;
    let best = null, near = radius + 8;
    spots.forEach((spot, v) => { const far = Math.hypot(spot.x - x, spot.y - y); if (far < near) { near = far; best = v; } });
    return best;
  }
  function point(v) {
    canvas.style.cursor = v === null ? "" : "pointer";
    if (v !== pointed) { pointed = v; if (on.hover) on.hover(v); }
  }

  function colours() {
    const style = getComputedStyle(canvas);
    return (name) => style.getPropertyValue(`--${name}`).trim();
  }
  function line(points, colour, width, dash = []) {
    pen.beginPath();
    pen.moveTo(points[0].x, points[0].y);
    if (points.length === 3) pen.quadraticCurveTo(points[1].x, points[1].y, points[2].x, points[2].y);
    else pen.lineTo(points[1].x, points[1].y);
    pen.setLineDash(dash);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke();
    pen.setLineDash([]);
  }
  function head(from, to, colour) {
    const turn = Math.atan2(to.y - from.y, to.x - from.x);
    pen.beginPath();
    for (const side of [0, 2.7, -2.7]) pen.lineTo(to.x + Math.cos(turn + side) * (side ? 11 : 0), to.y + Math.sin(turn + side) * (side ? 11 : 0));
    pen.closePath();
    pen.fillStyle = colour;
    pen.fill();
  }
  function write(text, x, y, colour, font, halo, align = "center") {
    pen.font = font;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    if (halo) { pen.strokeStyle = halo; pen.lineWidth = 4; pen.lineJoin = "round"; pen.strokeText(text, x, y); }
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }

  function drawLines(colour) {
    const faint = Math.max(0.04, Math.min(0.45, 4.7 / Math.sqrt(scene.edges.length))), asked = { ...more, focus };
    for (const [u, v, kind] of edgesOf(scene, geometry, shown, asked)) {
      const first = kind.split(" ")[0], fresh = kind.includes("fresh");
      pen.globalAlpha = { "": faint, masked: 0.65, removed: 0.7 }[first] ?? 1;
      const ink = fresh || first === "coming" ? "pick" : first === "masked" || first === "added" ? "in" : first === "near" ? "soft" : "edge";
      const wide = { "": 1, masked: 3, added: 3, coming: 4, near: 2, removed: 1.6 }[first];
      const dash = first === "removed" ? [2, 6] : first === "coming" ? [9, 5] : [];
      if (scene.directed) { const { from, c, to } = between(u, v, 8); line([from, c, to], colour(ink), wide, dash); head(c, to, colour(ink)); }
      else line([spots[u], spots[v]], colour(ink), wide, dash);
    }
    for (const [u, v, kind] of arrowsOf(scene, geometry, shown, asked)) {
      const coming = kind.includes("coming"), fading = kind.includes("fading"), own = colour(coming || kind.includes("fresh") ? "pick" : "ink");
      pen.globalAlpha = fading ? 0.35 : 1;
      const { from, c, to } = between(u, v, 12);
      line([from, c, to], own, coming ? 3.4 : 2.2, coming ? [9, 5] : kind.includes("second") ? [1, 5] : fading ? [3, 4] : []);
      head(c, to, own);
    }
    pen.globalAlpha = 1;
    for (const [x, y, text] of weightsOf(scene, geometry, shown, asked)) write(text, x, y, colour("soft"), "15px system-ui", colour("card"));
  }

  function drawNodes(colour) {
    const legal = new Set(shown.legal), tags = tagsOf(scene, shown, more), fresh = freshOf(scene, shown, more.before);
    const chances = new Map(shown.chances || []), advice = new Map(shown.advice || []);
    const open = more.open === undefined ? shown.pick !== null : more.open;
    const mono = getComputedStyle(canvas).getPropertyValue("--mono");
    spots.forEach(({ x, y }, v) => {
      const barred = open && !legal.has(v), picked = shown.pick === v || more.picked === v;
      const { within, category, share } = fill.of(shown, v);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      pen.fillStyle = category || (within ? colour("in") : colour("node"));
      pen.fill();
      if (share !== undefined) { pen.globalAlpha = share; pen.fillStyle = colour("in"); pen.fill(); pen.globalAlpha = 1; }
      pen.setLineDash(barred ? [3, 3] : []);
      pen.strokeStyle = barred ? colour("edge") : colour("ink");
      pen.lineWidth = hovers.has(v) ? 4 : barred ? 1.5 : 2.2;
      pen.stroke();
      pen.setLineDash([]);
      const dark = within || share > 0.55;
      write(short(scene.labels[v]), x, y + 0.5, category ? "#000" : dark ? colour("in-ink") : colour("ink"), `${barred ? 400 : 600} ${geometry.size}px ${mono}`);
      const p = chances.get(v) || 0;
      if (p > 0.002) ring(x, y, radius + 4, colour("chance"), 4, p);
      if (p >= 0.1) write(percent(p), x, y + radius + 15, colour("ink"), "600 13px system-ui", colour("card"));
      if (advice.get(v)) diamond(x + radius * 0.9, y + radius * 0.9, colour("expert"), colour("card"));
      if (fresh.has(v)) plus(x - radius * 0.95, y + radius * 0.95, colour("pick"), colour("card"));
      if (picked) { ring(x, y, radius + 9, colour("pick"), 3.5, 1); ticks(x, y, radius + 9, colour("pick")); }
      if (active === v) ring(x, y, radius + 13, colour("allow"), 4, 1, [8, 5]);
      if (tags[v]) write(tags[v], x - radius * 0.7 - 4, y - radius * 0.7 - 4, colour("ink"), "italic 700 18px Georgia, serif", colour("card"), "right");
    });
  }
  function ring(x, y, r, colour, width, share, dash = []) {
    pen.beginPath();
    pen.arc(x, y, r, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(share, 1));
    pen.setLineDash(dash); pen.strokeStyle = colour; pen.lineWidth = width; pen.stroke(); pen.setLineDash([]);
  }
  function ticks(x, y, r, colour) {
    for (const [dx, dy] of [[0, -1], [1, 0], [0, 1], [-1, 0]]) line([{ x: x + dx * r, y: y + dy * r }, { x: x + dx * (r + 7), y: y + dy * (r + 7) }], colour, 3.5);
  }
  function shape(points, x, y, colour, rim) {
    pen.beginPath();
    points.forEach(([dx, dy]) => pen.lineTo(x + dx, y + dy));
    pen.closePath();
    pen.fillStyle = colour; pen.fill(); pen.strokeStyle = rim; pen.lineWidth = 1.5; pen.stroke();
  }
  const diamond = (x, y, colour, rim) => shape([[0, -7], [6, 0], [0, 7], [-6, 0]], x, y, colour, rim);
  const plus = (x, y, colour, rim) => shape([[-6, -2], [-2, -2], [-2, -6], [2, -6], [2, -2], [6, -2], [6, 2], [2, 2], [2, 6], [-2, 6], [-2, 2], [-6, 2]], x, y, colour, rim);

  function again() {
    const box = canvas.getBoundingClientRect(), fine = devicePixelRatio || 1;
    if (!box.width || !shown) return;
    canvas.width = Math.round(box.width * fine);
    canvas.height = Math.round(box.height * fine);
    const { own, left, top } = fit(box);
    pen.setTransform(own * fine, 0, 0, own * fine, left * fine, top * fine);
    const colour = colours();
    drawLines(colour);
    drawNodes(colour);
  }
  return {
    element: canvas, geometry, fill, count,
    draw(frame, given = {}) { shown = frame; more = given; fill.learn([frame]); again(); },
    focus(v) { focus = v; again(); },
    mark(v, marked) { marked ? hovers.add(v) : hovers.delete(v); again(); },
    activate(v) { active = v; again(); },
    again,
  };
}
