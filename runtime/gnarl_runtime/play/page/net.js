// Questions to the server in, answers out; one banner when the server is gone.

import { el } from "./dom.js";

export class Told extends Error {
  constructor(text, status) { super(text); this.status = status; }
}

let lost = false;

export async function ask(what, body, signal) {
  let reply;
  try {
    reply = await fetch(`api/${what}`, body === undefined ? { signal } : {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
  } catch (error) {
    if (error.name !== "AbortError") away();
    throw error;
  }
  if (!(reply.headers.get("content-type") || "").startsWith("application/json")) {
    if (reply.status === 403) moved();
    throw new Told((await reply.text()).trim(), reply.status);
  }
  const found = await reply.json();
  if (!reply.ok) throw new Told(found.error, reply.status);
  if (found && found.refused !== undefined) throw new Told(found.refused, found.status);
  return found;
}

export const gone = (error) => error.name === "AbortError" || error instanceof TypeError;

// The server has ended, or was started anew with another token

function banner(text) { el("banner").textContent = text; el("banner").hidden = !text; }

function away() {
  if (lost) return;
  lost = true;
  banner("The server has ended. Start gnarl-play again; unsaved text is kept in this browser.");
  again();
}
function moved() {
  lost = true;
  banner("The server was started anew. Open the address that it printed: unsaved text will be there.");
}
async function again() {
  for (;;) {
    await new Promise((done) => setTimeout(done, 1000));
    let reply;
    try { reply = await fetch("api/hello"); } catch { continue; }
    if (reply.status === 403) { moved(); return; }
    lost = false;
    banner("");
    for (const listener of returned) listener();
    return;
  }
}
const returned = [];
export function onReturn(listener) { returned.push(listener); }
