// Drawing what moves, on the canvas above: playhead, sounding and chosen notes, arcs; and what is hit.

const over = {
  drawOver(cursor, chosen, arcs, sounding, link) {
    const g = this.context(this.over, this.width, this.height);
    const { music, left, width, height } = this;
    g.save();
    g.beginPath();
    g.rect(left, this.top, width - left, height);
    g.clip();
    if (link) this.drawLink(g, link);
    if (sounding) {
      g.fillStyle = g.strokeStyle = this.dark ? "#fff" : "#000";
      const [first, end] = music.range(cursor, cursor);
      for (let i = first; i < end; i++) {
        if (music.off[i] > cursor && !music.muted.has(music.track[i])) this.outline(g, i, 0.55, 1);
      }
    }
    for (const arc of arcs) this.drawArc(g, arc, chosen);
    if (chosen >= 0) {
      this.drawStrong(g, chosen);
      g.strokeStyle = this.text;
      this.outline(g, chosen, 1, 2.5);
    }
    g.restore();
    const x = this.x(cursor);
    if (x >= left - 1 && x <= width) {
      g.fillStyle = this.mark;
      const begin = this.top - RULER;
      g.fillRect(x - 0.75, begin + 4, 1.75, height);
      g.beginPath();
      g.moveTo(x - 6, begin); g.lineTo(x + 6, begin); g.lineTo(x, begin + 9);
      g.fill();
    }
  },

  drawStrong(g, i) {
    g.fillStyle = g.strokeStyle = this.colour(i);
    g.lineWidth = 1.25;
    g.globalAlpha = 1;
    g.beginPath();
    this.trace(g, i, !this.music.isNew(i));
    if (this.music.isNew(i)) return g.fill();
    g.stroke();
    g.globalAlpha = 0.4;
    g.fill();
    g.globalAlpha = 1;
  },

  outline(g, i, alpha, line) {
    const { music } = this;
    g.globalAlpha = alpha;
    g.lineWidth = line;
    g.beginPath();
    g.roundRect(this.x(music.on[i]) - 1, this.y(music.pitch[i]) - 1, Math.max(4, (music.off[i] - music.on[i]) * this.perSecond + 2), this.row + 2, 3);
    g.stroke();
    g.globalAlpha = 1;
  },

  // From the chosen note back to what it looked at; dashed from the notes that looked at it.
  drawArc(g, { to, weight, head, incoming }, chosen) {
    const { music } = this;
    const x0 = this.x(music.on[chosen]) + 2, y0 = this.y(music.pitch[chosen]) + this.row / 2;
    const x1 = this.x(music.on[to]) + 2, y1 = this.y(music.pitch[to]) + this.row / 2;
    const lift = Math.max(Math.min(y0, y1) - 18 - Math.min(110, Math.abs(x0 - x1) * 0.28) - (head % 8) * 3, this.top + 4);
    g.strokeStyle = g.fillStyle = this.heads[head % 8];
    g.globalAlpha = 0.35 + 0.65 * Math.min(1, weight * 2);
    g.lineWidth = 1 + 3.5 * Math.min(1, weight * 1.5);
    g.setLineDash(incoming ? [7, 4] : []);
    g.beginPath();
    g.moveTo(x0, y0);
    g.bezierCurveTo(x0 + (x1 - x0) * 0.2, lift, x0 + (x1 - x0) * 0.8, lift, x1, y1);
    g.stroke();
    g.setLineDash([]);
    this.drawStrong(g, to);
    g.strokeStyle = this.heads[head % 8];
    this.outline(g, to, 1, 1.5);
  },

  // What the crosshair of the large map is on: two notes, or two stretches of time.
  drawLink(g, { notes = [], spans = [] }) {
    g.fillStyle = this.ink(0.1);
    for (const [from, to] of spans) g.fillRect(this.x(from), this.top, (to - from) * this.perSecond, this.height);
    g.strokeStyle = this.mark;
    const seen = notes.filter((i) => i >= 0);
    for (const i of seen) {
      g.globalAlpha = 0.5;
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(this.x(this.music.on[i]), this.top);
      g.lineTo(this.x(this.music.on[i]), this.height);
      g.stroke();
      this.outline(g, i, 1, 2);
    }
  },

  hit(x, y) {
    const { music } = this, [first, end] = music.range(this.seconds(x - 7), this.seconds(x + 7));
    let best = -1, near = 7;
    for (let i = first; i < end; i++) {
      const dx = Math.max(this.x(music.on[i]) - x, x - this.x(music.off[i]), 0);
      const dy = Math.max(this.y(music.pitch[i]) - y, y - this.y(music.pitch[i]) - this.row, 0);
      const d = Math.hypot(dx, dy);
      if (d < near || (d === 0 && best >= 0 && music.on[i] > music.on[best])) { near = d; best = i; }
    }
    return x < this.left || y < this.top ? -1 : best;
  },
};

Object.defineProperties(Painter.prototype, Object.getOwnPropertyDescriptors(over));
