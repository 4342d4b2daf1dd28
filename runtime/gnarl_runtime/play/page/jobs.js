// Tasks that run in processes of their own: started, followed, stopped, whoever began them.

import { button, make } from "./dom.js";
import { ask, gone } from "./net.js";

const EVERY = 400;  // milliseconds

// Tells `on.change(job)` whenever something is new, with all that was found so far; ends with the task.
export function follow(id, change) {
  const found = [];
  let over = false;
  (async () => {
    while (!over) {
      if (!document.hidden || !found.length) {
        try {
          const job = await ask("job", { id, since: found.length });
          found.push(...job.events);
          change({ ...job, found });
          if (job.state !== "running") return;
        } catch (error) { if (!gone(error)) return; }
      }
      await new Promise((done) => setTimeout(done, EVERY));
    }
  })();
  return () => { over = true; };
}
export async function latest(...kinds) {
  try { return (await ask("jobs", {})).filter(({ kind }) => kinds.includes(kind)).at(-1) || null; } catch { return null; }
}

// One line with a bar and a button to stop.
export function progressLine(parent) {
  const box = make(parent, "div", { class: "progress", hidden: "" });
  const bar = make(box, "progress", { max: 1 }), text = make(box, "span", { role: "status" });
  let current = null;
  const stop = button(box, "Stop", () => { if (current) { stop.disabled = true; ask("stop", { id: current.id }).catch(() => {}); } });
  return {
    show(job) {
      current = job;
      box.hidden = job.state !== "running";
      if (job.total > 1) bar.value = job.done / job.total; else bar.removeAttribute("value");
      text.textContent = `${job.what}${job.total > 1 ? ` (${Math.floor((100 * job.done) / job.total)} %)` : " …"}${job.stopping ? ", stopping" : ""}`;
      stop.disabled = job.stopping;
    },
    hide() { box.hidden = true; },
  };
}
export function problemLine(parent) {
  const line = make(parent, "p", { class: "problem", role: "alert" });
  return { say(text) { line.textContent = text || ""; line.hidden = !text; } };
}

// Lines over numbers: series are [name, class, [[x, y], …]]
export function chart(parent, title, series, { low, high, unit = "" } = {}) {
  const { draw } = GnarlDrawing, W = 420, H = 150, left = 52, under = 22, top = 10;
  const box = make(parent, "figure", { class: "chart" });
  make(box, "figcaption", {}, title);
  const points = series.flatMap(([, , line]) => line);
  if (!points.length) { make(box, "p", { class: "note" }, "nothing yet"); return box; }
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  const x0 = Math.min(...xs), x1 = Math.max(...xs, x0 + 1e-9), y0 = low ?? Math.min(...ys), top1 = high ?? Math.max(...ys), y1 = top1 > y0 ? top1 : y0 + (Math.abs(y0) || 1) * 0.1;
  const X = (x) => left + ((x - x0) / (x1 - x0)) * (W - left - 10), Y = (y) => top + (1 - (y - y0) / (y1 - y0)) * (H - top - under);
  const told = series.map(([name, , line]) => `${name} from ${short(line[0]?.[1])} to ${short(line.at(-1)?.[1])}`).join(", ");
  const svg = draw(box, "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}: ${told}` });
  for (const y of [y0, (y0 + y1) / 2, y1]) {
    draw(svg, "line", { x1: left, x2: W - 10, y1: Y(y), y2: Y(y), class: "grid" });
    draw(svg, "text", { x: left - 6, y: Y(y) + 4, class: "tick end" }, short(y) + unit);
  }
  for (const [x, anchor] of [[x0, "start"], [x1, "end"]]) draw(svg, "text", { x: X(x), y: H - 6, class: `tick ${anchor}` }, short(x));
  series.forEach(([, kind, line]) => {
    const path = line.map(([x, y], k) => `${k ? "L" : "M"}${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join("");
    draw(svg, "path", { d: path, class: `line ${kind}` });
    if (line.length) { const [x, y] = line.at(-1); draw(svg, "circle", { cx: X(x), cy: Y(y), r: 3.5, class: `dot ${kind}` }); }
  });
  return box;
}
const short = (value) => (value === undefined ? "" : String(Number(Number(value).toPrecision(3))));
