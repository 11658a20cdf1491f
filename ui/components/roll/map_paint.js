// Drawing the large map: its cells, the bars or seconds and pitches along its edges, the crosshair.

const mapPaint = {
  // All but the crosshair, once; a move of the pointer only lays the crosshair over it.
  draw() {
    const { data, panel, size, span, from } = this, { paint } = panel.roll;
    if (!data || !panel.told || size < 1) return;
    this.canvas.style.height = this.ground.style.height = `${this.tall}px`;
    const left = EDGE + STRIP, edges = [panel.address, this.byBars, panel.roll.bars, ...from, span, size, paint.dark, window.devicePixelRatio].join();
    const same = this.edges === edges && this.edgesOf === data.side;
    const g = same ? this.ground.getContext("2d") : paint.context(this.ground, this.ground.clientWidth, this.tall);
    if (same) g.clearRect(left, 0, size, size); // another head has the same edges
    this.cells.draw(g, data, { from, span, size, left, dark: paint.dark });
    g.strokeStyle = paint.ink(0.2);
    g.strokeRect(left + 0.5, 0.5, size - 1, size - 1);
    if (!same) {
      if (!this.byBars) this.strips(g);
      this.marks(g);
    }
    Object.assign(this, { edges, edgesOf: data.side });
    this.paint();
  },

  // Where a row or column lies, px within the map.
  at(index, axis) { return ((index / this.data.side - this.from[axis]) / this.span) * this.size; },

  paint() {
    const { canvas, data, panel } = this;
    if (!data) return;
    const { paint } = panel.roll, w = canvas.clientWidth, { size, tall } = this, left = EDGE + STRIP;
    const g = paint.context(canvas, w, tall);
    const unit = Math.max(1.5, size / data.side / this.span), clip = (from, axis) => clamp(this.at(from, axis), 0, size);
    const rowLine = (row, alpha) => {
      const y = this.at(row + 0.5, 0);
      g.globalAlpha = alpha;
      if (y >= 0 && y <= size) g.fillRect(0, y - 0.75, left + clip(row + 1, 1), 1.5);
    };
    g.fillStyle = paint.mark;
    if (!this.byBars && panel.looks) rowLine(this.row, 0.55);
    if (this.cross) {
      const [row, column] = this.cross, x = this.at(column + 0.5, 1);
      rowLine(row, 1);
      if (x >= 0 && x <= size) g.fillRect(left + x - 0.75, clip(column, 0), 1.5, size + STRIP - clip(column, 0));
      g.strokeStyle = paint.mark;
      g.lineWidth = 1.5;
      g.strokeRect(left + this.at(column, 1) - 1, this.at(row, 0) - 1, unit + 2, unit + 2);
    }
    g.globalAlpha = 1;
  },

  // The row of the chosen note: that from which it was written, or its own.
  get row() {
    const { looks, moment, way } = this.panel;
    return Math.max(0, looks.event - (way === "from" && moment === "wrote" ? 1 : 0));
  },

  // A small roll along each edge: which note each row and column is.
  strips(g) {
    const { data, panel } = this, { roll } = panel, { music, paint } = roll, { noteOf } = panel.told, left = EDGE + STRIP;
    const high = music.high, range = Math.max(1, high - music.low), tall = STRIP - 4, unit = Math.max(1.5, this.size / data.side / this.span);
    for (let axis = 0; axis < 2; axis++) {
      const first = Math.floor(this.from[axis] * data.side), last = Math.min(data.side, Math.ceil((this.from[axis] + this.span) * data.side));
      for (let i = first; i < last; i++) {
        const note = noteOf[i];
        if (note < 0) continue;
        const at = this.at(i, axis), up = ((music.pitch[note] - music.low) / range) * tall;
        const colour = paint.colour(note);
        if (colour !== g.fillStyle) g.fillStyle = colour;
        if (axis) g.fillRect(left + at, this.size + STRIP - 3 - up, unit, 2);
        else g.fillRect(EDGE + up + 1, at, 2, unit);
      }
    }
  },

  // Bars' numbers or times, where there is room for them; and the end of the piece, which is no note.
  marks(g) {
    const { data, panel } = this, { paint, say } = panel.roll, left = EDGE + STRIP;
    g.font = `11px ${paint.font}`;
    for (let axis = 0; axis < 2; axis++) {
      const end = panel.told.ended && !this.byBars ? this.at(data.side - 0.5, axis) : Infinity, word = g.measureText(say.endMark).width;
      let free = -Infinity;
      for (const [index, text] of this.lines()) {
        const at = this.at(index, axis), need = axis ? g.measureText(text).width + 12 : 20;
        if (at < 0 || at > this.size - (axis ? 8 : 4) || at < free || at + need > end - (axis ? word : 0)) continue;
        free = at + need;
        g.fillStyle = paint.ink(0.3);
        if (axis) g.fillRect(left + at, this.size, 1, STRIP + 4); else g.fillRect(EDGE - 4, at, STRIP + 4, 1);
        g.fillStyle = paint.ink(0.75);
        g.textBaseline = axis ? "top" : "middle";
        g.textAlign = axis ? "left" : "right";
        g.fillText(text, axis ? left + at + 1 : EDGE - 6, axis ? this.size + STRIP + 4 : clamp(at, 6, this.size - 6));
      }
      if (end > this.size) continue;
      g.fillStyle = paint.ink(0.75);
      g.textBaseline = axis ? "top" : "middle";
      g.textAlign = "right";
      g.fillText(say.endMark, axis ? left + Math.min(end + word / 2, this.size) : EDGE - 6, axis ? this.size + STRIP + 4 : Math.min(end, this.size - 6));
    }
    g.textAlign = "left";
  },

  // Where bars or round seconds begin, and what they are called: [[index, text], …].
  lines() {
    const { panel, byBars } = this, { roll, told } = panel, { music } = roll;
    if (this.names?.by === byBars && this.names.bars === roll.bars) return this.names.lines;
    const lines = [];
    if (byBars) for (let i = 0; i < this.data.side; i++) lines.push([i, this.bar(i).short]);
    else if (roll.bars && told.span === null) told.groups.forEach((bar, i) => { if (i === 0 || bar !== told.groups[i - 1]) lines.push([i, `${bar + 1}`]); });
    else {
      const on = told.noteOf.map((note) => (note < 0 ? NaN : music.on[note])), seen = on.filter((s) => !Number.isNaN(s));
      const step = [0.5, 1, 2, 5, 10, 15, 30, 60].find((s) => (seen.at(-1) - seen[0]) / s < 12) || 120;
      let next = Math.ceil(seen[0] / step) * step;
      on.forEach((s, i) => { if (s >= next) { lines.push([i, clock(Math.floor(s / step) * step, step < 1)]); next = (Math.floor(s / step) + 1) * step; } });
    }
    this.names = { by: byBars, bars: roll.bars, lines };
    return lines;
  },

  // A row of means: its bar, or two seconds of music without bars; what it is called and when it is.
  bar(index) {
    const { panel } = this, { told, roll } = panel, { music, say } = roll;
    this.order = this.orderOf === told ? this.order : [...new Set(told.groups)];
    this.orderOf = told;
    const group = this.order[index] ?? 0;
    if (told.span !== null || !music.meter) {
      const from = group * (told.span ?? 1);
      return { short: clock(from, false), name: clock(from, false), span: [from, from + (told.span ?? 1)] };
    }
    const { beats, bars } = music.meter, start = (n) => beats[bars[n] ?? beats.length - 1];
    return { short: `${group + 1}`, name: fill(say.barName, { n: group + 1 }), span: [start(group), start(group + 1)] };
  },
};

Object.defineProperties(LargeMap.prototype, Object.getOwnPropertyDescriptors(mapPaint));
