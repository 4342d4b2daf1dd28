// The page as a whole: which spec is open, which panel is shown.

import { clear, el, fillChoice, make } from "./dom.js";
import { ask } from "./net.js";
import { on, openFile, openShipped, discardDraft, save, show, spec, tell } from "./spec.js";
import { goTo, hideTip, replaceAll, startEditor } from "./editor.js";
import { checkPanel } from "./check.js";
import { playPanel } from "./play.js";
import { solvePanel } from "./solve.js";
import { tablePanel } from "./table.js";
import { trainPanel } from "./train.js";

const PANELS = [playPanel, tablePanel, checkPanel, trainPanel, solvePanel];

// Panels as tabs

function startPanels() {
  PANELS.forEach((panel, k) => {
    const tab = make(el("tabs"), "button", { type: "button", role: "tab", id: `tab-${panel.name}`, "aria-controls": `panel-${panel.name}` }, panel.title);
    const box = make(el("panels"), "div", { role: "tabpanel", id: `panel-${panel.name}`, class: "panel", "aria-labelledby": `tab-${panel.name}` });
    tab.addEventListener("click", () => choose(panel.name));
    tab.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (move) { const next = PANELS[(k + move + PANELS.length) % PANELS.length]; choose(next.name); el(`tab-${next.name}`).focus(); }
    });
    panel.start(box);
  });
  let first = PANELS[0].name;
  try { first = sessionStorage.getItem("gnarl panel") || first; } catch { /* kept nowhere */ }
  choose(PANELS.some((panel) => panel.name === first) ? first : PANELS[0].name);
}
export function choose(name) {
  PANELS.forEach((panel) => {
    const shown = panel.name === name;
    el(`tab-${panel.name}`).setAttribute("aria-selected", String(shown));
    el(`tab-${panel.name}`).tabIndex = shown ? 0 : -1;
    el(`panel-${panel.name}`).hidden = !shown;
    if (shown && panel.shown) panel.shown();
  });
  hideTip();
  tell("panel");
  try { sessionStorage.setItem("gnarl panel", name); } catch { /* kept nowhere */ }
}
on("choose", choose);

// Files

function listFiles() {
  const { files, shipped, folder } = spec.hello;
  const own = files.includes(spec.path) || !spec.path ? files : [...files, spec.path];
  const known = Object.entries(shipped).map(([group, names]) => [group, names.map((name) => [`shipped ${name}`, name])]);
  fillChoice(el("files"), [[folder, own.map((name) => [name, name])], ...known], spec.path);
}
async function openChosen() {
  const wanted = el("files").value, [kind, name] = wanted.split(" ");
  try { await (kind === "shipped" && name ? openShipped(name) : openFile(wanted)); }
  catch (error) { state(error.message, true); }
  listFiles();
}
function state(text, wrong = false, action = null) {
  const box = el("saved");
  clear(box);
  box.className = wrong ? "wrong" : "";
  make(box, "span", {}, text);
  if (action) { const made = make(box, "button", { type: "button", class: "link" }, action[0]); made.addEventListener("click", action[1]); }
}
function showSaved() {
  el("save").disabled = !spec.unsaved;
  state(spec.known === null ? "not saved yet" : spec.text === spec.onDisk ? "saved" : "unsaved changes");
}
async function saveNow() {
  try { await save(); }
  catch (error) {
    const overwrite = async () => { const now = await ask("read", { path: spec.path }); spec.known = now.digest; await saveNow(); };
    state(error.message, true, error.status === 409 ? ["Save all the same", overwrite] : null);
    return;
  }
  listFiles();
  showSaved();
}
async function formatNow() {
  try { replaceAll((await ask("format", spec.asked)).text); }
  catch (error) {
    const first = spec.checked && spec.checked.diagnostics.find((one) => one.error);
    state("only a spec without mistakes of form is formatted", true);
    if (first) goTo(first.start, first.end);
  }
}

async function begin() {
  spec.hello = await ask("hello");
  startEditor();
  on("opened", (restored) => {
    listFiles();
    document.title = `${spec.path} – gnarl`;
    showSaved();
    if (restored) state("unsaved text from before", false, ["Discard it", discardDraft]);
  });
  on("checked", () => { if (!el("saved").querySelector("button")) showSaved(); });
  on("problem", (problem) => { el("doc").textContent = problem.doc; });
  el("files").addEventListener("change", openChosen);
  el("save").addEventListener("click", saveNow);
  el("format").addEventListener("click", formatNow);
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return;
    if (event.key === "s") { event.preventDefault(); saveNow(); }
    if (event.key === "F" && event.shiftKey) { event.preventDefault(); formatNow(); }
  });
  startPanels();
  await openFirst();
  tell("ready");
  document.documentElement.dataset.ready = "yes";
}
async function openFirst() {
  const { opened, files } = spec.hello;
  let last = null;
  try { last = sessionStorage.getItem("gnarl open"); } catch { /* kept nowhere */ }
  if (last && last !== opened?.path && files.includes(last)) await openFile(last);
  else if (opened) await show(opened);
  else if (files.length) await openFile(files[0]);
  else await openShipped("bfs");
}
begin();
