// The panel that prints a problem as gnarl-compile does.

import { clear, make } from "./dom.js";
import { on, spec } from "./spec.js";

export const tablePanel = {
  name: "table",
  title: "Table",
  start(box) {
    const note = make(box, "p", { class: "note" });
    const text = make(box, "pre", { class: "table", tabindex: 0, "aria-label": "The problem as gnarl-compile prints it" });
    on("checked", (found) => {
      note.textContent = found.problem ? "" : spec.table ? "As it was before the mistakes." : "There is a table once the mistakes are mended.";
      text.classList.toggle("stale", !found.problem);
      clear(text);
      (spec.table || "").split(/\x01|\x02/).forEach((part, k) => (k % 2 ? make(text, "b", {}, part) : text.append(part)));
    });
    on("opened", () => { clear(text); note.textContent = ""; });
  },
};
