// The chosen note's looks in arcs and in words, and where to take them.

const LEAD_EVENTS = 5, LAB_EVENTS = 10; // the attention lab shows so many events, and these before the note

const gazeAnswer = {
  answer() {
    const { looks } = this;
    if (!looks) {
      this.find(".looks").replaceChildren();
      return this.lay([]);
    }
    const asked = { way: this.way, moment: this.moment }, incoming = this.way === "to";
    const groups = !this.on.size ? [] : this.asOne
      ? [{ head: this.heads[0], name: this.nameOfAll(), row: looks.combined(this.layers, this.heads, this.oneWay, asked) }]
      : this.heads.map((head) => ({ head, row: looks.row(this.layer, head, asked) }));
    for (const each of groups) each.found = strongest(each.row, this.count);
    this.find(".looks").replaceChildren(...groups.map((each) => this.sentence(each)));
    this.lay(groups.flatMap(({ head, found }) => found.map(([to, weight]) => ({ to, weight, head, incoming }))));
  },

  // Arcs lie on a canvas of their own: the notes below are drawn anew only to be dimmed, or bright again.
  lay(arcs) {
    const { roll } = this;
    roll.arcs = arcs;
    if (roll.dimmed === arcs.length > 0) roll.wake();
    else roll.redraw();
  },

  nameOfAll() {
    const { say } = this.roll, many = this.layers.length * this.on.size > 1;
    const heads = this.heads.length === this.told.heads ? say.allHeads : `${say.heads} ${this.heads.map((h) => h + 1).join(", ")}`;
    return many ? `${heads} (${say[this.oneWay]})` : heads;
  },

  sentence({ head, name, row, found }) {
    const { roll } = this, { say, music } = roll, [best] = found, incoming = this.way === "to";
    const key = `looks${name ? "One" : ""}${incoming ? "To" : ""}${best ? "" : "None"}`;
    const item = make("li", fill(say[key], {
      head: head + 1, heads: name, first: percent((row.shares[0] ?? 0) / 65535),
      ...(best && { note: noteName(music.pitch[best[0]]), share: percent(best[1]), back: this.apart(best[0]), on: this.apart(best[0]) }),
    }));
    item.style.setProperty("--c", roll.paint.heads[head % 8]);
    return item;
  },

  apart(note) {
    const { say, music } = this.roll, seconds = Math.abs(music.on[this.looks.note] - music.on[note]);
    if (note === this.looks.note) return say.itself;
    return seconds < 0.05 ? say.together : fill(this.way === "to" ? say.on : say.back, { s: seconds.toFixed(1) });
  },

  // Files of what is shown; and the attention lab, opened on the events that lead to the note.
  links() {
    for (const [view, more] of [["arcs", {}], ["map", { by: this.map.byBars ? "bars" : "events" }], ["overview", {}]]) {
      const query = this.query(more);
      for (const link of this.root.querySelectorAll(`.save-${view} a`)) link.href = `${this.address}/${view}.${link.dataset.form}?${query}`;
    }
    if (!this.looks) return;
    const { music, examples } = this.roll, { piece } = music, { noteOf } = this.told;
    const lead = noteOf[Math.max(0, this.looks.event - LEAD_EVENTS)], place = examples.findIndex((each) => each.id === piece.id);
    const layer = this.everyLayer ? 0 : this.layer, head = this.on.size ? this.heads[0] : 0;
    this.find(".to-lab").href = `lab?${new URLSearchParams({
      look: "music", piece: place < 0 ? piece.id.slice(0, 12) : `example-${place + 1}`,
      from: (Math.floor(10 * (lead < 0 ? 0 : music.on[lead])) / 10).toString(), events: LAB_EVENTS, layer: layer + 1, head: head + 1, step: "weights",
    })}`;
  },
};

Object.defineProperties(GazePanel.prototype, Object.getOwnPropertyDescriptors(gazeAnswer));
