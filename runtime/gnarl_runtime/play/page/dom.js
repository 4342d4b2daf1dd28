// How elements are made and found. Texts reach the page by textContent only.

export const { make, draw, percent } = GnarlDrawing;
export const el = (id) => document.getElementById(id);
export const clear = (node) => node.replaceChildren();

export function button(parent, text, action, more = {}) {
  const made = make(parent, "button", { type: "button", ...more }, text);
  made.addEventListener("click", action);
  return made;
}
export function choice(parent, label, options, value, changed) {
  const box = make(parent, "label", { class: "choice" });
  make(box, "span", {}, label);
  const select = make(box, "select");
  fillChoice(select, options, value);
  select.addEventListener("change", () => changed(select.value));
  return select;
}
// options: [value, text] or [group, [[value, text], …]]
export function fillChoice(select, options, value) {
  clear(select);
  const add = (parent, [key, text]) => {
    if (Array.isArray(text)) { const group = make(parent, "optgroup", { label: key }); text.forEach((item) => add(group, item)); }
    else make(parent, "option", { value: key }, text);
  };
  options.forEach((item) => add(select, item));
  select.value = value;
}
export function numberField(parent, label, value, { min, max, step = 1 }, changed) {
  const box = make(parent, "label", { class: "choice" });
  make(box, "span", {}, label);
  const input = make(box, "input", { type: "number", min, max, step, value });
  input.addEventListener("change", () => {
    const wanted = Math.max(min, Math.min(max, Number(input.value) || 0));
    input.value = String(wanted);
    changed(wanted);
  });
  return input;
}

// The little Markdown that the language server writes: paragraphs, fences, `code`.
export function prose(parent, text) {
  text.split(/```(?:\w*)\n([\s\S]*?)\n```/).forEach((part, k) => {
    if (k % 2) { make(parent, "pre", {}, part); return; }
    part.split(/\n\n+/).map((one) => one.trim()).filter(Boolean).forEach((one) => ticked(make(parent, "p"), one));
  });
}
// `code` within a sentence.
export function ticked(parent, text) {
  text.split("`").forEach((part, k) => { if (part) k % 2 ? make(parent, "code", {}, part) : parent.append(part); });
  return parent;
}
export function later(wait, action) {
  let timer = null;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => action(...given), wait); };
}
export const number = (value) => (typeof value === "number" ? String(Number(value.toPrecision(5))) : String(value));
