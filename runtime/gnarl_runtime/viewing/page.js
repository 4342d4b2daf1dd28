// Playback: buttons, keys and time in, the frame that is shown out.

// Playback

function go(step) {
  now = Math.max(0, Math.min(end, step));
  const frame = frames[now], after = frames[now + 1];
  drawing.draw(frame, { after });
  fillTable(frame, after); mark(frame); facts(frame); effects(frame);
  el("status").textContent = sentence(frame);
  el("scrub").value = String(now);
  el("scrub").setAttribute("aria-valuetext", frame.pick === null ? "end" : `step ${now + 1} of ${end}`);
  el("counter").textContent = frame.pick === null ? `end, ${end} steps` : `step ${now + 1} / ${end}`;
  el("effects-title").textContent = frame.pick === null ? "How it ended" : "What the pick changes";
  el("first").disabled = el("back").disabled = now === 0;
  el("last").disabled = el("next").disabled = now === end;
  const focus = pinned === null ? hovered : pinned;
  el("here").textContent = focus === null ? "" : about(focus, frame);
  if (frame.pick !== null && pinned === null) reveal(el("nodes"), rows[frame.pick].tr);
}
function halt() {
  clearInterval(timer);
  timer = null;
  playing(false);
}
function playing(on) {
  el("play").setAttribute("aria-pressed", String(on));
  el("play").setAttribute("aria-label", on ? "Pause" : "Play");
  el("status").setAttribute("aria-live", on ? "off" : "polite");  // nobody can listen that fast
}
function start() {
  if (end === 0) return;
  if (now === end) go(0);
  clearInterval(timer);
  timer = setInterval(() => { if (now < end) go(now + 1); if (now === end) halt(); }, Number(el("speed").value));
  playing(true);
}
const toggle = () => (timer === null ? start() : halt());
const jump = (step) => { halt(); go(step); };

el("first").addEventListener("click", () => jump(0));
el("back").addEventListener("click", () => jump(now - 1));
el("play").addEventListener("click", toggle);
el("next").addEventListener("click", () => jump(now + 1));
el("last").addEventListener("click", () => jump(end));
el("scrub").addEventListener("input", () => jump(Number(el("scrub").value)));
el("speed").addEventListener("change", () => { if (timer !== null) start(); });
const KEYS = new Map([
  ["ArrowRight", () => jump(now + 1)], ["ArrowLeft", () => jump(now - 1)],
  ["Home", () => jump(0)], ["End", () => jump(end)], [" ", toggle],
]);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const move = KEYS.get(event.key);
  if (!move || (event.key === " " && event.target.tagName === "BUTTON")) return;
  event.preventDefault();
  move();
});

// What stays the same

function marks() {
  const box = el("marks");
  box.setAttribute("viewBox", `0 0 ${Math.max(1, end)} 9`);
  frames.forEach((frame, k) => {
    if (frame.pick === null) return;
    const begins = frame.phase === 0 && scene.phases.length > 1 && end <= 200;
    if (begins) draw(box, "line", { x1: k, x2: k, y1: 0, y2: 5, class: "round" });
    const differs = advised(frame).length && !agrees(frame);
    if (differs) draw(box, "rect", { x: k - 0.003 * end, width: 0.006 * end, y: 0, height: 9, class: "differs" });
  });
}

el("problem").textContent = scene.problem;
el("subtitle").textContent = data.subtitle;
el("doc").textContent = scene.doc;
el("scrub").max = String(end);
el("spec-hint").textContent = "lines that this step runs";
const asked = frames.filter((frame) => frame.pick !== null && advised(frame).length);
if (data.adviser !== null && asked.length && !data.player.startsWith("expert"))
  el("agreement").textContent = `the expert agrees in ${asked.filter(agrees).length} of ${asked.length} steps`;
make(el("fill"), "option", { value: "-1" }, "nothing");
drawing.fill.options.forEach(({ column, at }) => make(el("fill"), "option", { value: String(at) }, column.name));
el("fill").value = String(drawing.fill.at);
el("fill").addEventListener("change", () => { drawing.fill.at = Number(el("fill").value); legend(); go(now); });
marks();
legend();
const wanted = /^#step=(\d+)$/.exec(location.hash);
go(wanted ? Number(wanted[1]) - 1 : 0);
