// The panel that asks whether the spec describes what was meant; a counterexample can be played.

import { button, clear, make, ticked } from "./dom.js";
import { ask } from "./net.js";
import { goTo } from "./editor.js";
import { follow, latest, problemLine, progressLine } from "./jobs.js";
import { on, spec, tell } from "./spec.js";

let progress, trouble, result, buttons, stopFollowing = () => {};

export const checkPanel = {
  name: "check",
  title: "Check",
  start(box) {
    make(box, "p", { class: "note" }, "Explores every small graph whole and plays random larger ones; what is broken is shown on the smallest graph that shows it.");
    const row = make(box, "div", { class: "tools" });
    buttons = [button(row, "Quick check", () => start(true), { class: "main", title: "Graphs of up to 3 nodes, nothing compiled" }),
      button(row, "Thorough check", () => start(false), { title: "Graphs of up to 4 nodes and 500 random larger ones, as gnarl-check does" })];
    progress = progressLine(box);
    trouble = problemLine(box);
    trouble.say("");
    result = make(box, "div", { class: "result" });
    on("ready", async () => { const job = await latest("check"); if (job) watch(job.id); });
    on("opened", () => { stopFollowing(); progress.hide(); clear(result); trouble.say(""); });
  },
};
async function start(fast) {
  clear(result);
  trouble.say("");
  try { watch((await ask("start/check", { spec: spec.asked, fast, seed: spec.hello.seed })).id); }
  catch (error) { trouble.say(error.message); }
}
function watch(id) {
  stopFollowing();
  stopFollowing = follow(id, (job) => {
    progress.show(job);
    buttons.forEach((one) => { one.disabled = job.state === "running"; });
    if (job.state === "failed") trouble.say(job.message);
    if (job.state === "stopped") trouble.say("stopped");
    if (job.state === "done") show(job.result);
  });
}
function show(found) {
  clear(result);
  make(result, "p", { class: found.ok ? "verdict good" : "verdict bad" }, found.ok ? "✓ Everything holds" : `✕ ${found.failures.length} ${found.failures.length === 1 ? "property is" : "properties are"} broken`);
  if (spec.problem && found.hash !== spec.problem.hash) make(result, "p", { class: "note" }, "This is about the spec as it was then.");
  found.failures.forEach((failure) => {
    const item = make(result, "section", { class: "failure" });
    const head = make(item, "h3", {}, failure.property);
    if (failure.expert) head.append(` (expert ${failure.expert})`);
    ticked(make(item, "p"), failure.message);
    const row = make(item, "div", { class: "tools" });
    button(row, "Play the counterexample", () => {
      tell("choose", "play");
      tell("play", { graph: { kind: "case", case: failure.case }, picks: failure.picks, label: `counterexample: ${failure.property}` });
    }, { class: "main" });
    if (failure.line) button(row, `Line ${failure.line}`, () => toLine(failure.line));
    make(row, "span", { class: "note" }, `${failure.case.nodes} nodes, ${failure.picks.length} picks`);
  });
  found.lints.forEach((lint) => {
    const item = make(result, "section", { class: "lint" });
    make(item, "h3", {}, lint.name);
    ticked(make(item, "p"), lint.message);
    if (lint.line) button(item, `Line ${lint.line}`, () => toLine(lint.line));
  });
  const more = make(result, "details");
  make(more, "summary", {}, "The report of gnarl-check");
  make(more, "pre", { class: "table", tabindex: 0 }, found.text);
}
function toLine(line) {
  const lines = spec.text.split("\n"), start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  goTo(start, start + (lines[line - 1] || "").length);
}
