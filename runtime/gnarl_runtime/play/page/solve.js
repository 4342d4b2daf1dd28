// The panel that searches for solutions: the graph of the board or a file, value over time, the result.

import { button, choice, clear, fillChoice, make, number, numberField } from "./dom.js";
import { ask } from "./net.js";
import { chart, follow, latest, problemLine, progressLine } from "./jobs.js";
import { on, spec, tell } from "./spec.js";
import { wish } from "./play.js";

let progress, trouble, result, curve, begin, who, how, seconds, file, named, own = null, stopFollowing = () => {};
let solved = null;  // what was asked, for its picture

export const solvePanel = {
  name: "solve",
  title: "Solve",
  start(box) {
    make(box, "p", { class: "note" }, "Searches for the best solution of one graph, with a policy or without; what is better is shown as it is found.");
    const row = make(box, "div", { class: "tools" });
    file = make(row, "input", { type: "file", class: "unseen", id: "solve-file", tabindex: -1 });
    file.addEventListener("change", async () => { if (file.files[0]) await take(file.files[0]); file.value = ""; });
    named = make(row, "b", {}, "the graph on the board");
    button(row, "Open a file …", () => file.click(), { title: "Edge lists, GraphML, JSON, TSPLIB, DIMACS, METIS, … (docs/instances.md)" });
    button(row, "The board's", () => { own = null; named.textContent = "the graph on the board"; });
    who = choice(row, "Policy", [["", "none"]], "", () => offerWays());
    how = choice(row, "Search", [], "", () => { seconds.parentElement.hidden = how.value !== "time"; });
    seconds = numberField(row, "seconds", 5, { min: 1, max: 3600 }, () => {});
    begin = button(row, "Solve", start, { class: "main" });
    progress = progressLine(box);
    trouble = problemLine(box);
    trouble.say("");
    curve = make(box, "div", { class: "charts" });
    result = make(box, "div", { class: "result" });
    offerWays();
    on("ready", async () => { const job = await latest("solve"); if (job) watch(job.id); });
    on("opened", () => { stopFollowing(); progress.hide(); clear(result); clear(curve); trouble.say(""); own = null; solved = null; named.textContent = "the graph on the board"; });
  },
  async shown() {
    const players = wish.players || [];
    fillChoice(who, [["", "none"], ...players.filter(({ id }) => /^(run|shipped) /.test(id)).map(({ id, name }) => [id, name])], who.value);
    if (!who.value) who.value = "";
    offerWays();
  },
};
function offerWays() {
  const ways = [["time", "for some time"], ["exact", "until it is proven"], ...(who.value ? [["picks", "the policy's own picks"]] : [])];
  fillChoice(how, ways, how.value || "time");
  if (!how.value) how.value = "time";
  seconds.parentElement.hidden = how.value !== "time";
}
async function take(given) {
  const bytes = new Uint8Array(await given.arrayBuffer());
  let text = "";
  for (let k = 0; k < bytes.length; k += 32768) text += String.fromCharCode(...bytes.subarray(k, k + 32768));
  own = { kind: "file", name: given.name, content: btoa(text) };
  named.textContent = given.name;
}
async function start() {
  trouble.say("");
  clear(result); clear(curve);
  solved = { graph: own || wish.graph, label: own ? own.name : wish.label || "the graph on the board" };
  try {
    const search = how.value === "time" ? `time:${seconds.value}` : how.value;
    const job = await ask("start/solve", { spec: spec.asked, graph: solved.graph, name: solved.label, player: who.value, search, seed: spec.hello.seed });
    watch(job.id);
  } catch (error) { trouble.say(error.message); }
}
function watch(id) {
  stopFollowing();
  stopFollowing = follow(id, (job) => {
    progress.show(job);
    begin.disabled = job.state === "running";
    showCurve(job.found);
    if (job.state === "failed") trouble.say(job.message);
    if (job.state === "stopped") trouble.say("stopped");
    if (job.state === "done") show(job.result);
  });
}
function showCurve(found) {
  clear(curve);
  const right = found.filter((moment) => moment.right !== false && typeof moment.value === "number");
  if (!right.length) return;
  const steps = right.flatMap(({ seconds: at, value }, k) => (k ? [[at, right[k - 1].value], [at, value]] : [[at, value]]));
  chart(curve, `${spec.problem?.objectives[0] || "picks"} over seconds, best ${number(right.at(-1).value)}`, [["value", "good", steps]]);
}
function show(found) {
  clear(result);
  found.notes.forEach((note) => make(result, "p", { class: "note" }, note));
  const good = found.valid !== false && found.correct !== false;
  const what = found.objective === null ? (good ? "found" : "nothing valid was found") : `${spec.problem?.objectives[0] || "objective"} ${number(found.objective)}`;
  make(result, "p", { class: `verdict ${good ? "good" : "bad"}` }, `${good ? "✓" : "✕"} ${what}${found.proven ? ", proven: nothing is better" : ""}`);
  if (solved && good && found.objective !== null) tell("known", { graph: solved.graph, value: found.objective });
  const row = make(result, "div", { class: "tools" });
  const small = found.nodes <= 200;
  if (solved && small) button(row, "Show it on the board", () => { tell("choose", "play"); tell("play", { graph: solved.graph, picks: found.picks, label: solved.graph.kind === "drawn" ? "" : solved.label }); }, { class: "main" });
  if (solved && !small) make(row, "span", { class: "note" }, `${found.nodes} nodes are too many for a picture.`);
  button(row, "Download", () => {
    const link = make(null, "a", { href: URL.createObjectURL(new Blob([`${JSON.stringify(found.solution, null, 2)}\n`], { type: "application/json" })), download: "solution.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  make(result, "pre", { class: "table", tabindex: 0 }, found.text);
}
