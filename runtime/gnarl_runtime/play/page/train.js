// The panel that trains: runs of this folder, their curves, how each did beside the experts.

import { button, clear, make } from "./dom.js";
import { ask, gone } from "./net.js";
import { chart, follow, latest, problemLine, progressLine } from "./jobs.js";
import { on, spec, tell } from "./spec.js";

let progress, trouble, said, list, curves, verdict, begin, minutes, seed;
let runs = [], chosen = null, points = [], stopFollowing = () => {};

export const trainPanel = {
  name: "train",
  title: "Train",
  start(box) {
    make(box, "p", { class: "note" }, "Trains a policy by the spec's own recipe, or by one that a short race chooses. Everything goes into the folder runs; the policy then plays on the board.");
    const row = make(box, "div", { class: "tools" });
    const field = (text, value, title) => { const label = make(row, "label", { class: "choice", title }); make(label, "span", {}, text); return make(label, "input", { type: "number", min: 0, step: "any", value, placeholder: "auto" }); };
    minutes = field("minutes", "", "As long as that; empty: as the recipe says");
    seed = field("seed", "0", "Of everything random");
    begin = button(row, "Train", start, { class: "main" });
    progress = progressLine(box);
    trouble = problemLine(box);
    trouble.say("");
    said = make(box, "pre", { class: "table said-so" });
    list = make(box, "div", { class: "scroll runs" });
    curves = make(box, "div", { class: "charts" });
    verdict = make(box, "pre", { class: "table" });
    on("ready", async () => {
      await refresh();
      const job = await latest("train", "resume");
      if (job && job.state === "running") watch(job.id, job.title.replace("training ", ""));
    });
    on("opened", () => refresh());
  },
  shown() { if (spec.path) refresh(); },
};
async function start() {
  trouble.say("");
  const time = minutes.value === "" ? null : Number(minutes.value);
  try {
    const job = await ask("start/train", { spec: spec.asked, minutes: time, seed: Math.max(0, Math.round(Number(seed.value) || 0)) });
    watch(job.id, job.run);
  } catch (error) { trouble.say(error.message); }
}
async function resume(run) {
  trouble.say("");
  try { const job = await ask("start/resume", { run }); watch(job.id, run); } catch (error) { trouble.say(error.message); }
}
function watch(id, run) {
  stopFollowing();
  chosen = run; points = [];
  clear(said);
  let known = false;
  stopFollowing = follow(id, async (job) => {
    progress.show(job);
    begin.disabled = job.state === "running";
    said.textContent = job.found.map(({ text }) => text).join("\n");
    if (job.state === "failed") trouble.say(job.message);
    if (job.state === "stopped") trouble.say(`${run} was stopped and saved; it can go on.`);
    if (job.state !== "running" || !known) { await refresh(); known = runs.some(({ name }) => name === run); }
    await showCurves();
    if (job.state === "done") { verdict.textContent = job.result.text; said.textContent = ""; tell("players"); }
  });
}
async function refresh() {
  try { runs = await ask("runs", {}); } catch (error) { if (!gone(error)) trouble.say(error.message); return; }
  const own = runs.filter(({ problem }) => !spec.problem || problem === spec.problem.name);
  clear(list);
  if (!own.length) { clear(curves); verdict.textContent = ""; make(list, "p", { class: "note" }, "No runs of this problem yet."); return; }
  if (!own.some(({ name }) => name === chosen)) { chosen = own[0].name; points = []; showCurves(); }
  const table = make(list, "table"), head = make(make(table, "thead"), "tr"), body = make(table, "tbody");
  ["run", "recipe", "state", ""].forEach((text) => make(head, "th", {}, text));
  own.forEach((run) => {
    const row = make(body, "tr", { class: run.name === chosen ? "chosen" : "" });
    button(make(row, "th"), run.name, () => { chosen = run.name; points = []; verdict.textContent = ""; refresh(); showCurves(); }, { class: "link" });
    make(row, "td", {}, run.recipe);
    make(row, "td", {}, run.job ? "training" : run.finished ? "finished" : "stopped");
    const acts = make(row, "td");
    if (!run.job && !run.finished) button(acts, "Resume", () => resume(run.name));
    if (run.has_policy) button(acts, "Watch it play", () => { tell("choose", "play"); tell("player", `run ${run.name}`); });
  });
  const now = own.find(({ name }) => name === chosen);
  if (now && now.verdict) verdict.textContent = verdict.textContent || placings(now.verdict);
}
// The table of experts of a run that ended earlier.
function placings(found) {
  const rows = found.placings.map(({ name, success, value }) => [name, `${(100 * success).toFixed(1)} %`, value === null ? "" : String(Number(value.toPrecision(4)))]);
  const wide = [0, 1, 2].map((k) => Math.max(...rows.map((row) => row[k].length)));
  const lines = rows.map((row) => `${row[0].padEnd(wide[0])}  ${row[1].padStart(wide[1])}  ${row[2].padStart(wide[2])}`.trimEnd());
  const word = { ahead: "ahead of", level: "level with", behind: "behind" }[found.word];
  return [`on ${found.graphs} fresh graphs`, ...lines, ...(word ? [`the policy is ${word} the expert ${found.rival}`] : [])].join("\n");
}
async function showCurves() {
  const run = chosen;
  if (!run) return;
  let fresh;
  try { fresh = await ask("run", { run, since: points.length }); } catch { return; }
  if (run !== chosen) return;
  points.push(...fresh);
  const line = (name, scale = 1) => points.filter((point) => typeof point[name] === "number").map((point) => [point.update, scale * point[name]]);
  clear(curves);
  chart(curves, "Solved on validation graphs, %", [["solved", "good", line("valid_success", 100)]], { low: 0, high: 100 });
  if (points.some((point) => typeof point.valid_reward === "number" && point.valid_reward !== point.valid_success)) chart(curves, "Reward on validation graphs", [["reward", "own", line("valid_reward")]]);
  chart(curves, "Loss", [["loss", "pick", line("loss")]]);
}
