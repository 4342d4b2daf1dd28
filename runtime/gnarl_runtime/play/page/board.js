// One episode on a graph: picks made here or by a player, taken back, explained, played by itself.

import { button, clear, draw, el, fillChoice, make, number, percent } from "./dom.js";
import { ask, gone } from "./net.js";
import { hideTip, showTip } from "./editor.js";
import { makeCanvasDrawing, MANY } from "./canvas.js";

const THOUGHT = 70;  // milliseconds that the pointer rests on a node
const PACES = [["1600", "0.5×"], ["800", "1×"], ["400", "2×"], ["120", "6×"], ["0", "fastest"]];
const ICONS = {
  undo: "M7 3 2 7.5 7 12V9c4 0 6 1 7 4 0-5-3-7-7-7z", redo: "M9 3l5 4.5L9 12V9c-4 0-6 1-7 4 0-5 3-7 7-7z",
  restart: "M3 3h2v10H3zM13 3v10L6 8z", step: "M3 3v10l7-5zM11 3h2v10h-2z", play: "M4 2.5v11L13 8z", halt: "M4 3h3v10H4zM9 3h3v10H9z",
};
function icon(parent, name, title, action) {
  const made = button(parent, "", action, { "aria-label": title, title, class: "icon" });
  draw(draw(made, "svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }), "path", { d: ICONS[name] });
  return made;
}

export class Board {
  // `on`: {moved(board), marks(board)} – the panel around it
  constructor(parent, on) {
    this.on = on;
    this.game = null; this.picks = []; this.undone = []; this.frames = new Map();
    this.player = null; this.adviser = null; this.playing = null; this.hovered = null; this.active = null; this.turn = 0;
    this.box = make(parent, "section", { class: "board", "aria-label": "Board" });
    const bar = make(this.box, "div", { class: "bar" });
    const who = make(bar, "label", { class: "choice" });
    make(who, "span", {}, "Player");
    this.playerChoice = make(who, "select", { class: "player" });
    this.playerChoice.addEventListener("change", () => { this.player = this.playerChoice.value; this.advise(); on.moved(this); });
    const buttons = make(bar, "span", { class: "buttons" });
    this.buttons = {
      restart: icon(buttons, "restart", "From the start (Home)", () => this.go(0)),
      undo: icon(buttons, "undo", "Take the pick back (U)", () => this.undo()),
      redo: icon(buttons, "redo", "Make it again (R)", () => this.redo()),
      step: icon(buttons, "step", "The player picks (N)", () => { this.halt(); this.step(); }),
      play: icon(buttons, "play", "Play by itself (P)", () => this.toggle()),
    };
    this.buttons.play.classList.add("main");
    this.end = button(buttons, "End here", () => this.pick(-1), { class: "end", title: "End the episode, as the spec allows (.)" });
    const pace = make(bar, "label", { class: "choice pace" });
    make(pace, "span", { class: "unseen" }, "Speed");
    this.pace = make(pace, "select", { title: "Speed" });
    fillChoice(this.pace, PACES, "800");
    this.counters = make(this.box, "dl", { class: "counters" });
    this.stage = make(this.box, "div", { class: "stage", tabindex: 0, role: "application",
      "aria-label": "Graph: arrow keys move between nodes, Enter picks, U takes back, N lets the player pick, P plays" });
    this.said = make(this.box, "p", { class: "said", role: "status", "aria-live": "polite" });
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("blur", () => { if (this.drawing && this.active !== null) { this.active = null; this.drawing.activate(null); hideTip(); } });
  }

  // Games

  // What the server said of a new game; the picks are those that are still legal.
  show(begun) {
    this.halt();
    this.game = begun;
    this.scene = begun.scene;
    this.picks = begun.picks; this.undone = []; this.turn++;
    this.frames = new Map(begun.frames.map((frame, k) => [begun.picks.slice(0, k).join(), frame]));
    this.known = this.known && this.known.game === begun.game ? this.known : { game: begun.game, best: null };
    this.hovered = this.active = null;
    this.listPlayers(begun.players);
    clear(this.stage);
    const many = begun.scene.labels.length > MANY;
    const element = many ? make(this.stage, "canvas", {}) : draw(this.stage, "svg", { preserveAspectRatio: "xMidYMid meet", "aria-hidden": "true" });
    const listeners = { hover: (v) => this.hover(v), click: (v) => { this.stage.focus({ preventScroll: true }); this.active = null; this.drawing.activate(null); this.pick(v); }, silent: true };
    const fill = this.drawing && this.drawing.fill.column?.name;
    this.drawing = many ? makeCanvasDrawing(element, this.scene, listeners) : GnarlDrawing.makeDrawing(element, this.scene, listeners);
    const same = this.drawing.fill.options.find(({ column }) => column.name === fill);
    if (same) this.drawing.fill.at = same.at;
    this.draw();
    this.box.dataset.game = begun.game;
    this.advise();
  }
  listPlayers(players) {
    this.players = players;
    if (!players.some(({ id }) => id === this.player)) this.player = players[0].id;
    fillChoice(this.playerChoice, players.map(({ id, name }) => [id, name]), this.player);
  }
  refused(text) {
    this.halt();
    this.game = null;
    clear(this.stage);
    make(this.stage, "p", { class: "refused" }, text);
    clear(this.counters);
    this.said.textContent = "";
  }
  get frame() { return this.frames.get(this.picks.join()); }
  get before() { return this.picks.length ? this.frames.get(this.picks.slice(0, -1).join()) : undefined; }
  get here() { return { game: this.game.game, picks: this.picks }; }
  get over() { return Boolean(this.frame && (this.frame.ended || this.frame.stuck)); }

  // Moves

  async pick(v) {
    const frame = this.frame;
    if (!frame || this.over) return;
    if (v === -1 ? !frame.mayStop : !frame.legal.includes(v)) { this.explain(v); return; }
    performance.mark("gnarl-pick");
    clearTimeout(this.resting);
    hideTip();
    this.thought = null;
    this.quiet = v;
    this.undone = [];
    await this.goTo([...this.picks, v]);
    performance.measure("gnarl-pick", "gnarl-pick");
  }
  undo() { if (this.picks.length) { this.halt(); this.undone.push(this.picks.at(-1)); this.goTo(this.picks.slice(0, -1)); } }
  redo() { if (this.undone.length) { this.halt(); this.goTo([...this.picks, this.undone.pop()]); } }
  go(count) {
    if (!this.picks.length) return;
    this.halt();
    this.undone.push(...this.picks.slice(count).reverse());
    this.goTo(this.picks.slice(0, count));
  }
  async goTo(picks) {
    const turn = ++this.turn, wanted = picks.join();
    const known = !picks.length || this.frames.has(picks.slice(0, -1).join());
    if (!this.frames.has(wanted) || !known) {
      const since = known ? picks.length : picks.length - 1;
      let found;
      try { found = await this.on.again(this, () => ask("look", { game: this.game.game, picks, since })); }
      catch (error) { if (!gone(error)) this.tell(error.message); return; }
      if (turn !== this.turn) return;
      found.forEach((frame, k) => this.frames.set(picks.slice(0, since + k).join(), frame));
    }
    this.picks = picks;
    this.draw();
    this.advise();
    this.on.moved(this);
  }

  // The player

  async step() {
    if (this.over || !this.game) return false;
    const turn = this.turn;
    let found;
    this.tell(`${this.playerName} picks …`, 400);
    try { found = await this.on.again(this, () => ask("move", { ...this.here, player: this.player, seed: this.on.seed() })); }
    catch (error) { if (!gone(error)) this.tell(error.message); return false; }
    if (turn !== this.turn) return false;
    this.undone = [];
    await this.goTo([...this.picks, found.pick]);
    return !this.over;
  }
  get playerName() { return (this.players.find(({ id }) => id === this.player) || { name: "the player" }).name; }
  toggle() { this.playing ? this.halt() : this.start(); }
  async start() {
    if (!this.game) return;
    if (this.over) await this.goTo([]);
    const mine = this.playing = {};
    this.showPlaying();
    while (this.playing === mine) {
      const began = performance.now();
      if (!(await this.step())) break;
      const rest = Number(this.pace.value) - (performance.now() - began);
      if (rest > 0) await new Promise((done) => setTimeout(done, rest));
    }
    if (this.playing === mine) this.halt();
  }
  halt() { if (this.playing) { this.playing = null; this.showPlaying(); } }
  showPlaying() {
    const on = Boolean(this.playing), made = this.buttons.play;
    made.setAttribute("aria-pressed", String(on));
    made.setAttribute("aria-label", on ? "Halt (P)" : "Play by itself (P)");
    made.querySelector("path").setAttribute("d", ICONS[on ? "halt" : "play"]);
    this.said.setAttribute("aria-live", on ? "off" : "polite");  // nobody can listen that fast
  }

  // Who would pick what: asked after the picture is there, since some take their time

  async advise() {
    if (!this.game || this.over) return;
    const turn = this.turn, frame = this.frame, wanted = this.picks.join();
    const asked = [...new Set([this.player, this.adviser].filter(Boolean))];
    await Promise.all(asked.map(async (player) => {
      let found;
      try { found = await this.on.again(this, () => ask("chances", { ...this.here, player })); }
      catch (error) { if (!gone(error) && turn === this.turn) this.tell(`${player}: ${error.message}`); return; }
      if (player === this.player) { frame.chances = found.nodes; frame.endChance = found.end; }
      if (player === this.adviser) frame.advice = found.nodes;
      if (turn === this.turn && wanted === this.picks.join()) this.draw();
    }));
  }

  // Pointing at nodes

  hover(v) {
    this.hovered = v;
    clearTimeout(this.resting);
    if (!this.drawing) return;
    if (v === null) { hideTip(); this.drawing.focus(null); this.thought = null; this.draw(); this.on.marks(this); return; }
    this.drawing.focus(v);
    if (v === this.quiet) return;  // it has just been picked: nobody asks about it
    this.quiet = null;
    this.resting = setTimeout(() => this.think(v), THOUGHT);
  }
  async think(v) {
    const frame = this.frame, turn = this.turn;
    if (!frame || this.playing) return;
    if (this.over || !frame.legal.includes(v)) { this.explain(v); return; }
    let after;
    try { after = await this.on.again(this, () => ask("would", { ...this.here, node: v })); }
    catch (error) { if (!gone(error)) this.tell(error.message); return; }
    if (turn !== this.turn || (this.hovered !== v && this.active !== v)) return;
    this.thought = { v, after };
    this.draw();
    const changes = after.latest.changes;
    const told = [`May be picked${this.chanceText(frame, v)}.`, ...changes.slice(0, 6), ...(changes.length > 6 ? [`and ${changes.length - 6} more`] : [])];
    this.tip(v, `Node ${this.scene.labels[v]}`, told, "may");
    this.on.marks(this, after.latest.written.map((line) => [line, ["update wrote", "▸ would change"]]));
  }
  async explain(v) {
    const turn = this.turn;
    let reasons;
    try { reasons = await this.on.again(this, () => ask("why", { ...this.here, node: v })); } catch { return; }
    if (turn !== this.turn) return;
    const words = reasons.map(({ text }) => text);
    this.tip(v, `Node ${this.scene.labels[v]} may not be picked`, words, "not");
    this.said.textContent = `Node ${this.scene.labels[v]} may not be picked: ${words.join("; ")}`;
    this.on.marks(this, reasons.flatMap(({ lines }) => lines).map((line) => [line, ["forbids", "✕ forbids it"]]));
  }
  chanceText(frame, v) {
    const p = new Map(frame.chances || []).get(v);
    return p === undefined ? "" : `, chance ${percent(p)}`;
  }
  tip(v, title, lines, kind) {
    const box = el("tip");
    clear(box);
    make(box, "b", { class: kind }, title);
    lines.forEach((text) => make(box, "p", { class: "mono" }, text));
    const at = this.placeOf(v);
    showTip({ left: at.x + at.r + 8, top: at.y + at.r + 6, above: at.y - at.r - 6 });
  }
  placeOf(v) {
    const { geometry, element } = this.drawing, box = element.getBoundingClientRect(), spot = geometry.spots[v];
    const scale = Math.min(box.width / GnarlDrawing.WIDTH, box.height / geometry.height);
    return { x: box.left + (box.width - GnarlDrawing.WIDTH * scale) / 2 + spot.x * scale,
      y: box.top + (box.height - geometry.height * scale) / 2 + spot.y * scale, r: geometry.radius * scale };
  }

  // Keys

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.game || event.target !== this.stage) return;
    const act = { u: () => this.undo(), Backspace: () => this.undo(), r: () => this.redo(), n: () => { this.halt(); this.step(); }, p: () => this.toggle(),
      Home: () => this.go(0), Escape: () => { hideTip(); this.move(null); }, ".": () => this.pick(-1),
      Enter: () => this.active !== null && this.pick(this.active), " ": () => this.active !== null && this.pick(this.active),
      ArrowRight: () => this.turnTo(1, 0), ArrowLeft: () => this.turnTo(-1, 0), ArrowUp: () => this.turnTo(0, -1), ArrowDown: () => this.turnTo(0, 1) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
  turnTo(dx, dy) {
    const { spots } = this.drawing.geometry;
    if (this.active === null) { this.move(this.frame.latest && this.frame.latest.pick >= 0 ? this.frame.latest.pick : this.frame.legal[0] ?? 0); return; }
    const own = spots[this.active];
    let best = null, least = Infinity;
    spots.forEach((spot, v) => {
      const along = (spot.x - own.x) * dx + (spot.y - own.y) * dy, off = Math.abs((spot.x - own.x) * dy) + Math.abs((spot.y - own.y) * dx);
      if (along > 1 && along + 2 * off < least) { least = along + 2 * off; best = v; }
    });
    if (best !== null) this.move(best);
  }
  move(v) {
    this.active = v;
    this.drawing.activate(v);
    this.thought = null;
    if (v === null) { this.draw(); this.on.marks(this); return; }
    const may = this.frame.legal.includes(v) && !this.over;
    this.said.textContent = `Node ${this.scene.labels[v]}${may ? ` may be picked${this.chanceText(this.frame, v)}` : ""}`;
    this.hover(v);
  }

  // What is shown

  draw() {
    const frame = this.frame;
    if (!frame || !this.drawing) return;
    const thought = this.thought && this.thought.v === (this.active ?? this.hovered) ? this.thought : null;
    const latest = frame.latest && frame.latest.pick >= 0 ? frame.latest.pick : null;
    this.drawing.draw(frame, { before: this.before, after: thought ? thought.after : undefined, trying: thought ? thought.v : null,
      picked: latest, open: !this.over });
    this.count();
    const { undo, redo, restart, step } = this.buttons;
    undo.disabled = restart.disabled = !this.picks.length;
    redo.disabled = !this.undone.length;
    step.disabled = this.over;
    this.end.hidden = !frame.mayStop;
    if (!thought) { this.said.textContent = this.sentence(frame); this.on.marks(this); }
  }
  sentence(frame) {
    const phases = this.scene.phases, name = (v) => this.scene.labels[v];
    if (frame.ended) return `The end: ${frame.ended} after ${frame.round} round${frame.round === 1 ? "" : "s"}${this.verdict(frame)}.`;
    if (frame.stuck) return "Dead end: no node can be picked in the middle of a round.";
    const phase = phases[frame.phase], last = frame.latest && frame.latest.pick >= 0 ? `Node ${name(frame.latest.pick)} was picked. ` : "";
    return `${last}Pick ${phase.variable} (phase ${phase.name}): ${frame.legal.length} of ${this.scene.labels.length} nodes may be picked.`;
  }
  verdict(frame) {
    if (frame.judged === undefined) this.judge(frame);
    if (!frame.judged) return "";
    const { valid, correct, metrics } = frame.judged;
    const words = [["valid", valid], ["correct", correct]].filter(([, truth]) => truth !== null).map(([word, truth]) => (truth ? word : `not ${word}`));
    return [...words, ...Object.entries(metrics).map(([key, value]) => `${key} ${number(value)}`)].map((word) => `, ${word}`).join("");
  }
  async judge(frame) {
    frame.judged = null;
    let found;
    try { found = await this.on.again(this, () => ask("ending", this.here)); } catch { return; }
    frame.judged = found;
    if (this.frame === frame) { this.draw(); this.on.ended(this, frame); }
  }
  count() {
    const frame = this.frame, box = this.counters, phase = this.scene.phases[frame.phase];
    clear(box);
    const add = (name, value, kind = "", title = "") => { const item = make(box, "div", { class: kind, title }); make(item, "dt", {}, name); make(item, "dd", {}, value); };
    add("Round", this.scene.horizon === "inf" ? String(frame.round) : `${frame.round} / ${this.scene.horizon}`);
    add("Phase", frame.ended ? "ended" : `${phase.name}(${phase.variable})`);
    const { reward, objectives } = this.scene;
    if (reward !== null && !objectives.includes(reward)) add(`Reward ${reward}`, frame.total, "figure", frame.latest ? `the latest pick paid ${frame.latest.reward}` : "");
    objectives.forEach((name, k) => add(name, frame.objectives[k], "figure", name === reward && frame.latest ? `the latest pick paid ${frame.latest.reward}` : ""));
    const best = this.known && this.known.best;
    if (best) add("Best known", `${number(best.value)}`, "best", `by ${best.name}`);
    if (frame.judged && (frame.judged.valid !== null || frame.judged.correct !== null)) {
      const good = frame.judged.valid !== false && frame.judged.correct !== false;
      add("End", good ? (frame.judged.correct === null ? "✓ valid" : "✓ correct") : frame.judged.valid === false ? "✕ not valid" : "✕ not correct", good ? "good" : "bad");
    }
  }
  learnBest(value, name) {
    if (typeof value !== "number" || !this.known) return false;
    if (this.known.best && this.known.best.value >= value) return false;
    this.known.best = { value, name };
    if (this.frame) this.count();
    return true;
  }
  tell(text, wait = 0) {
    clearTimeout(this.telling);
    const turn = this.turn;
    if (!wait) { this.said.textContent = text; return; }
    this.telling = setTimeout(() => { if (turn === this.turn) this.said.textContent = text; }, wait);
  }
}
