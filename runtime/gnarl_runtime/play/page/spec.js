// What is being edited, and what the server says of it; everything else on the page listens here.

import { ask, gone, onReturn } from "./net.js";
import { later } from "./dom.js";

const PAUSE = 60;  // milliseconds after a keystroke
const FIXES = 150;

export const spec = {
  hello: null,
  path: "", text: "", known: null, onDisk: "",  // `onDisk`: the text that was read or saved
  params: {},
  checked: null,  // the latest answer
  problem: null,  // the latest problem without mistakes; it may be of an earlier text
  table: null,
  get asked() { return { path: spec.path, text: spec.text, params: spec.params }; },
  get unsaved() { return spec.text !== spec.onDisk || spec.known === null; },
};

const listeners = new Map();
export function on(event, listener) {
  if (!listeners.has(event)) listeners.set(event, []);
  listeners.get(event).push(listener);
}
export function tell(event, ...given) { (listeners.get(event) || []).forEach((listener) => listener(...given)); }

// Unsaved text outlives a reload (of this tab) and the server (in this browser)

const draftName = () => `gnarl draft ${spec.hello.folder} ${spec.path}`;
function keepDraft() {
  const draft = JSON.stringify({ text: spec.text, known: spec.known });
  for (const store of [sessionStorage, localStorage]) {
    try {
      if (spec.text === spec.onDisk) store.removeItem(draftName());
      else store.setItem(draftName(), draft);
    } catch { /* a browser that keeps nothing */ }
  }
}
function readDraft() {
  for (const store of [sessionStorage, localStorage]) {
    try {
      const found = JSON.parse(store.getItem(draftName()));
      if (found && typeof found.text === "string") return found;
    } catch { /* not ours */ }
  }
  return null;
}
const keepSoon = later(200, keepDraft);
addEventListener("pagehide", () => { if (spec.path) keepDraft(); });

// Files

export function show(file) {
  spec.path = file.path;
  spec.onDisk = file.text;
  spec.known = file.digest;
  spec.params = {};
  spec.problem = spec.table = spec.checked = null;
  const draft = readDraft();
  spec.text = draft ? draft.text : file.text;
  if (draft && spec.known !== null) spec.known = draft.known;
  try { sessionStorage.setItem("gnarl open", spec.path); } catch { /* kept nowhere */ }
  tell("opened", Boolean(draft));
  return check();
}
export function discardDraft() {
  spec.text = spec.onDisk;
  keepDraft();
  tell("opened", false);
  return check();
}
export async function openFile(path) {
  show(await ask("read", { path }));
}
export async function openShipped(name) {
  show(await ask("shipped", { path: name }));
}
export async function save() {
  const found = await ask("save", { path: spec.path, text: spec.text, known: spec.known });
  spec.known = found.digest;
  spec.onDisk = spec.text;
  spec.hello.files = found.files;
  keepDraft();
  tell("saved");
}

// Checks: the latest text only; an answer about an older one is dropped

let running = null;
const checkSoon = later(PAUSE, () => check());
const fixesSoon = later(FIXES, () => findFixes());

export function changeText(text) {
  spec.text = text;
  keepSoon();
  checkSoon();
}
export function setParam(name, value) {
  spec.params = { ...spec.params, [name]: value };
  return check();
}
export async function check() {
  if (running) running.abort();
  running = new AbortController();
  const text = spec.text;
  let found;
  try {
    found = await ask("check", spec.asked, running.signal);
  } catch (error) {
    if (!gone(error)) tell("refused", error.message);
    return;
  }
  if (text !== spec.text) return;
  spec.checked = found;
  if (found.problem) { spec.problem = found.problem; spec.table = found.table; }
  tell("checked", found);
  if (found.problem) tell("problem", found.problem);
  if (found.diagnostics.length) fixesSoon();
}
async function findFixes() {
  const text = spec.text;
  let found;
  try { found = await ask("fixes", { ...spec.asked, start: 0, end: text.length }); } catch { return; }
  if (text === spec.text) tell("fixes", found);
}
onReturn(() => { if (spec.path) check(); });
