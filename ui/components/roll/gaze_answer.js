// The chosen note's looks in arcs and in words, and where to take them.

const LEAD_EVENTS = 5, LAB_EVENTS = 8; // the attention lab shows so many events, and these before the note

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
    this.labLink(groups);
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

  // The head that looks most at one note; of no note, the first that is shown.
  strongestHead() {
    const { looks, told, layer } = this, asked = { way: this.way, moment: this.moment };
    if (!looks || this.everyLayer) return this.heads[0] ?? 0;
    const most = Array.from({ length: told.heads }, (_, head) => strongest(looks.row(layer, head, asked), 1)[0]?.[1] ?? 0);
    return most.indexOf(Math.max(...most));
  },

  // Files of what is shown.
  links() {
    for (const [view, more] of [["arcs", {}], ["map", { by: this.map.byBars ? "bars" : "events" }], ["overview", {}]]) {
      const query = this.query(more);
      for (const link of this.root.querySelectorAll(`.save-${view} a`)) link.href = `${this.address}/${view}.${link.dataset.form}?${query}`;
    }
  },

  // The attention lab, opened on the strongest look that is told here: on the row that it is of.
  labLink(groups) {
    const { roll, told, looks } = this, { music, examples, say } = roll, link = this.find(".to-lab");
    const most = groups.filter(({ found }) => found.length).sort((a, b) => b.found[0][1] - a.found[0][1])[0];
    const head = most?.head ?? 0, layer = this.everyLayer ? 0 : this.layer;
    const wrote = this.moment === "wrote" ? 1 : 0; // a note is written from the row before it
    const other = most ? told.noteOf.indexOf(most.found[0][0]) : -1;
    const [row, column] = this.way === "from" ? [looks.event - wrote, other] : [other - wrote, looks.event];
    link.textContent = fill(say.toLab, { head: head + 1 });
    const { piece } = music, { noteOf } = told, lead = noteOf[Math.max(0, looks.event - LEAD_EVENTS)], place = examples.findIndex((each) => each.id === piece.id);
    const point = other < 0 || row < column ? {} : { row: row + told.firstEvent, column: column + told.firstEvent };
    link.href = `lab?${new URLSearchParams({
      look: "music", piece: place < 0 ? piece.id.slice(0, 12) : `example-${place + 1}`,
      from: (Math.floor(10 * (lead < 0 ? 0 : music.on[lead])) / 10).toString(), events: LAB_EVENTS,
      reads: told.firstEvent, ...point, layer: layer + 1, head: head + 1, step: "weights",
    })}`;
  },
};

Object.defineProperties(GazePanel.prototype, Object.getOwnPropertyDescriptors(gazeAnswer));
