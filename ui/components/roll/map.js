// One large map: who looks (down) at whom (across), with pitches and bars or seconds along its edges.

const EDGE = 42, STRIP = 26, FOOT = 22; // px: marks of time at the left, pitches, marks below

class LargeMap {
  constructor(panel) {
    this.panel = panel;
    this.canvas = panel.find(".map");
    this.ground = panel.find(".ground"); // the cells; what moves lies over it
    this.cells = new Cells();
    this.fetcher = new MapFetcher();
    Object.assign(this, { byBars: false, from: [0, 0], span: 1, cross: null });
    const on = (name, act) => this.canvas.addEventListener(name, act);
    on("pointermove", (event) => this.move(event));
    on("pointerdown", (event) => { this.grip = { x: event.offsetX, y: event.offsetY, from: [...this.from], moved: false }; this.canvas.setPointerCapture(event.pointerId); });
    on("pointerup", (event) => { if (this.grip && !this.grip.moved) { this.point(event); this.pick(); } this.grip = null; });
    on("pointercancel", () => { this.grip = null; });
    on("pointerleave", () => { if (!this.grip) this.release(); });
    on("wheel", (event) => { if (event.ctrlKey || event.metaKey) { event.preventDefault(); this.zoom(Math.exp(event.deltaY / 300), this.cell(event)); } });
    on("keydown", (event) => this.key(event));
    panel.find(".map-tools").addEventListener("click", (event) => this.tool(event.target.closest("button")?.dataset.map));
  }

  forget() { this.data = this.path = null; this.cross = null; this.from = [0, 0]; this.span = 1; }

  async load() {
    const { panel } = this;
    const query = new URLSearchParams({ layers: panel.layers, heads: panel.on.size ? panel.heads : [0], how: panel.oneWay, by: this.byBars ? "bars" : "events" });
    const path = `${panel.address}/map?${query}`;
    this.label();
    if (this.path === path) return this.draw();
    this.path = path;
    try {
      const buffer = await this.fetcher.fetch(path);
      if (this.path !== path) return;
      const [side, small] = new Uint32Array(buffer, 0, 2), largest = new Float32Array(buffer, 8, side);
      if (this.data && this.data.side !== side) { this.from = [0, 0]; this.span = 1; this.cross = null; }
      const at = 8 + 4 * side, coarse = { side: small, levels: new Uint8Array(buffer, at, small * small) };
      const levels = small === side ? coarse.levels : new Uint8Array(buffer, at + small * small);
      this.data = { side, largest, levels, coarse };
      this.names = null;
      this.draw();
    } catch { this.path = null; }
  }

  label() {
    const { panel } = this, { say } = panel.roll, told = panel.told;
    const bars = told.span === null ? say.byBars : fill(say.bySpans, { s: told.span });
    for (const [name, text, pressed] of [["events", say.byEvents, !this.byBars], ["bars", bars, this.byBars], ["out", "−", null], ["in", "+", null]]) {
      const b = panel.find(`[data-map=${name}]`);
      b.textContent = text;
      if (pressed !== null) b.setAttribute("aria-pressed", pressed);
    }
    panel.find("[data-map=out]").setAttribute("aria-label", say.out);
    panel.find("[data-map=in]").setAttribute("aria-label", say.in);
    this.canvas.setAttribute("aria-label", `${this.title()}. ${say.mapAxes}. ${say.mapHelp}`);
    if (!this.cross) this.caption(`${this.title()} · ${say.mapAxes}`);
  }

  title() {
    const { panel } = this, { say } = panel.roll;
    const heads = panel.on.size === 1 ? `${say.head} ${panel.heads[0] + 1}` : panel.on.size ? panel.nameOfAll().replace(/^./, (c) => c.toLowerCase()) : `${say.head} 1`;
    return fill(panel.everyLayer ? say.mapOfAll : say.mapOf, { layer: panel.layer + 1, heads });
  }

  caption(text) { this.panel.find(".large figcaption").textContent = text; }

  tool(name) {
    if (name === "events" || name === "bars") { this.byBars = name === "bars"; this.cross = null; this.release(); this.load(); this.panel.links(); }
    else if (name) this.zoom(name === "in" ? 1 / 1.6 : 1.6);
  }

  // The window: `from` is its corner and `span` its side, in shares of the whole.
  zoom(factor, around) {
    if (!this.data) return;
    const { side } = this.data, [row, column] = around ?? this.cross ?? [side / 2, side / 2];
    const span = clamp(this.span * factor, Math.min(1, 12 / side), 1);
    this.from = [row, column].map((at, i) => clamp(at / side - ((at / side - this.from[i]) * span) / this.span, 0, 1 - span));
    this.span = span;
    this.draw();
  }

  get size() { return this.canvas.clientWidth - EDGE - STRIP; }
  get tall() { return this.size + STRIP + FOOT; }

  cell(event) {
    const { side } = this.data, at = (px, i) => clamp(Math.floor((this.from[i] + (px / this.size) * this.span) * side), 0, side - 1);
    return [at(event.offsetY, 0), at(event.offsetX - EDGE - STRIP, 1)];
  }

  move(event) {
    if (!this.data) return;
    const { grip } = this;
    if (grip && this.span < 1 && Math.hypot(event.offsetX - grip.x, event.offsetY - grip.y) > 4) grip.moved = true;
    if (grip?.moved) {
      const by = [event.offsetY - grip.y, event.offsetX - grip.x];
      this.from = by.map((px, i) => clamp(grip.from[i] - (px / this.size) * this.span, 0, 1 - this.span));
      return this.draw();
    }
    this.point(event);
  }

  point(event) {
    if (!this.data) return;
    const [row, column] = this.cell(event);
    this.aim(row, Math.min(row, column));
  }

  // Put the crosshair on a cell: here, in words, and on the roll.
  aim(row, column) {
    this.cross = [row, column];
    this.paint();
    const { panel, data } = this, { say, music } = panel.roll, { noteOf } = panel.told;
    const share = percent(data.largest[row] * (data.levels[row * data.side + column] / 255) ** (1 / 0.6));
    if (this.byBars) {
      const [a, b] = [row, column].map((i) => this.bar(i));
      this.caption(fill(say.mapAtBars, { note: a.name, other: b.name, share }));
      panel.roll.outline({ spans: [a.span, b.span] });
    } else {
      const isEnd = (event) => panel.told.ended && event === panel.told.events - 1;
      const name = (event) => (noteOf[event] >= 0 ? `${noteName(music.pitch[noteOf[event]])} ${panel.roll.when(music.on[noteOf[event]])}` : isEnd(event) ? say.theEnd : event || panel.told.firstEvent ? say.rest : say.start);
      this.caption(fill(say.mapAt, { note: name(row), other: name(column), share }));
      panel.roll.outline({ notes: [noteOf[row], noteOf[column]] });
    }
  }

  release() {
    this.cross = null;
    if (this.data) { this.paint(); this.label(); }
    this.panel.roll.outline(null);
  }

  // A note under the pointer on the roll: seen from the chosen one, or seeing it.
  follow(note) {
    const { panel } = this;
    if (!this.data || this.byBars || !panel.looks || !panel.wide) return;
    const event = note < 0 ? -1 : panel.told.noteOf.indexOf(note), own = panel.looks.event;
    if (event < 0) { if (this.cross) { this.cross = null; this.paint(); this.label(); } return; }
    const row = Math.max(event, own), column = Math.min(event, own);
    this.cross = [row, column];
    this.paint();
  }

  pick() {
    if (!this.cross || !this.data) return;
    const { panel } = this, [row] = this.cross;
    if (this.byBars) { const { span } = this.bar(row); panel.roll.see(span[0], span[1]); }
    else if (panel.told.noteOf[row] >= 0) panel.roll.choose(panel.told.noteOf[row]);
  }

  key(event) {
    if (!this.data) return;
    const { side } = this.data, own = this.byBars ? 0 : this.panel.looks?.event ?? side - 1, [row, column] = this.cross ?? [own, Math.max(0, own - 1)];
    const acts = {
      ArrowUp: () => this.aim(Math.max(row - 1, column), column),
      ArrowDown: () => this.aim(Math.min(row + 1, side - 1), column),
      ArrowLeft: () => this.aim(row, Math.max(column - 1, 0)),
      ArrowRight: () => this.aim(row, Math.min(column + 1, row)),
      Enter: () => this.pick(),
      Escape: () => this.release(),
      "+": () => this.zoom(1 / 1.6),
      "-": () => this.zoom(1.6),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  }
}
