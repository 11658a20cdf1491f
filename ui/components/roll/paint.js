// Drawing: keys, grid, notes, pedal on one canvas; playhead, chosen note and arcs on one above it.

const HEADS = {
  light: ["#c2410c", "#946200", "#15803d", "#0e7490", "#1d4ed8", "#7e22ce", "#be185d", "#57534e"],
  dark: ["#fb923c", "#facc15", "#4ade80", "#22d3ee", "#8ab0ff", "#c99bff", "#f78ac0", "#d6d3d1"],
};
const TRACKS = {
  light: ["#a35a00", "#7a4fb0", "#b03a5b", "#3c68a8", "#5d7a1f", "#6b5b4a"],
  dark: ["#f0a94a", "#bda4f5", "#f492ac", "#8fb8f0", "#aed065", "#cbbba6"],
};
const RULER = 24, LANE = 12;

class Painter {
  constructor(root) {
    this.base = root.querySelector(".base");
    this.over = root.querySelector(".over");
    this.mini = root.querySelector(".mini");
    this.root = root;
  }

  // The theme's colours, read from the page; a change of theme is a new look at the next drawing.
  look() {
    const style = getComputedStyle(this.root);
    const [r, g, b] = (style.backgroundColor.match(/[\d.]+/g) || [255, 255, 255]).map(Number);
    const dark = r * 0.3 + g * 0.59 + b * 0.11 < 128;
    this.root.toggleAttribute("data-dark", dark);
    const fresh = getComputedStyle(this.root);
    const ink = (alpha) => (dark ? `rgba(255,250,240,${alpha})` : `rgba(40,30,10,${alpha})`);
    Object.assign(this, {
      dark, ink,
      back: fresh.backgroundColor,
      text: fresh.color,
      fresh: fresh.getPropertyValue("--new").trim(),
      mark: fresh.getPropertyValue("--head").trim(),
      heads: dark ? HEADS.dark : HEADS.light,
      tracks: dark ? TRACKS.dark : TRACKS.light,
      pedal: dark ? "#a8853a" : "#b08a2e",
      font: fresh.fontFamily,
    });
  }

  context(canvas) {
    const scale = window.devicePixelRatio || 1;
    const { clientWidth: w, clientHeight: h } = canvas;
    if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(h * scale);
    }
    const g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, w, h);
    return g;
  }

  measure(music, view) {
    this.width = this.over.clientWidth;
    this.height = this.over.clientHeight;
    this.left = this.width < 500 ? 30 : 44;
    this.lane = music.piece.pedals.length ? LANE + 4 : 0;
    this.row = (this.height - RULER - this.lane) / (music.high - music.low + 1);
    this.perSecond = (this.width - this.left) / (view.to - view.from);
    this.music = music;
    this.view = view;
  }

  x(seconds) { return this.left + (seconds - this.view.from) * this.perSecond; }
  y(pitch) { return RULER + (this.music.high - pitch) * this.row; }
  seconds(x) { return this.view.from + (x - this.left) / this.perSecond; }
  colour(i) {
    const { music } = this;
    return music.isNew(i) ? this.fresh : this.tracks[music.track[i] % this.tracks.length];
  }

  drawBase(dim) {
    const g = this.context(this.base);
    this.drawGrid(g);
    g.save();
    g.beginPath();
    g.rect(this.left, RULER, this.width - this.left, this.height - RULER);
    g.clip();
    this.drawRegions(g);
    g.globalAlpha = dim ? 0.45 : 1;
    for (let i = 0; i < this.music.count; i++) this.drawNote(g, i);
    g.globalAlpha = 1;
    g.restore();
    this.drawKeys(g);
  }

  drawGrid(g) {
    const { music, view, width, height, left } = this;
    for (let p = music.low; p <= music.high; p++) {
      if (BLACK.includes(p % 12)) { g.fillStyle = this.ink(0.035); g.fillRect(left, this.y(p), width, this.row); }
      if (p % 12 === 0) { g.fillStyle = this.ink(0.13); g.fillRect(left, this.y(p) + this.row - 0.5, width, 1); }
    }
    const step = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800].find((s) => s * this.perSecond > 62) || 3600;
    g.font = `12px ${this.font}`;
    g.textBaseline = "middle";
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      g.fillStyle = this.ink(0.08);
      g.fillRect(Math.round(this.x(t)), RULER, 1, height - RULER);
      g.fillStyle = this.ink(0.72);
      if (this.x(t) < width - 30) g.fillText(clock(t, step < 1), this.x(t) + 4, RULER / 2);
    }
    g.fillStyle = this.ink(0.14);
    g.fillRect(0, RULER - 1, width, 1);
  }

  // The visitor's part lies on shaded ground before a dashed seam; what is not made yet is hatched.
  drawRegions(g) {
    const { music, height, width } = this;
    const { promptEnd, kind, live, pedals } = music.piece;
    if (kind === "take" && promptEnd > 0) {
      g.fillStyle = this.ink(0.05);
      g.fillRect(this.x(0), RULER, this.x(promptEnd) - this.x(0), height);
      g.strokeStyle = this.ink(0.55);
      g.setLineDash([4, 4]);
      g.beginPath();
      g.moveTo(this.x(promptEnd), RULER);
      g.lineTo(this.x(promptEnd), height);
      g.stroke();
      g.setLineDash([]);
      g.fillStyle = this.ink(0.8);
      if (this.x(promptEnd) < width - 90) g.fillText(this.say.here, this.x(promptEnd) + 7, RULER + 11);
    }
    if (live) {
      const edge = this.x(Math.max(promptEnd + live.made, 0));
      g.strokeStyle = this.ink(0.09);
      g.save();
      g.beginPath();
      g.rect(edge, RULER, width - edge, height);
      g.clip();
      g.beginPath();
      for (let x = edge; x < width + height; x += 14) { g.moveTo(x, RULER); g.lineTo(x - height, RULER + height); }
      g.stroke();
      g.restore();
    }
    g.fillStyle = this.pedal;
    for (const [a, b] of pedals) {
      if (b > this.view.from && a < this.view.to) {
        g.fillRect(this.x(a), height - LANE, Math.max(1, (b - a) * this.perSecond - 1), LANE - 6);
      }
    }
  }

  drawNote(g, i, strong) {
    const { music } = this;
    if (music.off[i] < this.view.from || music.on[i] > this.view.to) return;
    const x = this.x(music.on[i]), y = this.y(music.pitch[i]);
    const w = Math.max(2, (music.off[i] - music.on[i]) * this.perSecond - 0.5);
    const h = Math.max(2, this.row - (this.row > 5 ? 1 : 0));
    const alpha = g.globalAlpha, loud = 0.42 + 0.58 * (music.vel[i] / 127);
    g.fillStyle = g.strokeStyle = this.colour(i);
    g.beginPath();
    if (music.isNew(i)) {
      g.globalAlpha = strong ? 1 : alpha * loud;
      g.roundRect(x, y, w, h, Math.min(2.5, h / 2, w / 2));
      g.fill();
    } else {
      // Hollow and slimmer: the visitor's notes differ in shape, not only in colour.
      g.globalAlpha = strong ? 1 : alpha * (0.25 + loud * 0.75);
      g.lineWidth = 1.25;
      g.roundRect(x + 0.6, y + h * 0.15, Math.max(1, w - 1.2), h * 0.7, Math.min(2, h / 3, w / 2));
      g.stroke();
      g.globalAlpha *= 0.3;
      g.fill();
    }
    g.globalAlpha = alpha;
  }

  drawKeys(g) {
    const { music, left, height } = this;
    g.fillStyle = this.back;
    g.fillRect(0, RULER, left, height);
    for (let p = music.low; p <= music.high; p++) {
      const black = BLACK.includes(p % 12);
      g.fillStyle = black ? (this.dark ? "#0b0a09" : "#3a352d") : this.dark ? "#d9d4ca" : "#ffffff";
      g.fillRect(0, this.y(p) + 0.25, black ? left * 0.6 : left - 1, this.row - 0.5);
      if (black) { g.fillStyle = this.dark ? "#d9d4ca" : "#ffffff"; g.fillRect(left * 0.6, this.y(p), left * 0.4 - 1, this.row); }
    }
    g.fillStyle = this.ink(0.25);
    g.fillRect(left - 1, RULER, 1, height);
    g.font = `10px ${this.font}`;
    g.textBaseline = "middle";
    g.textAlign = "right";
    g.fillStyle = "#3a352d";
    for (let p = music.low; p <= music.high; p++) {
      if (p % 12 === 0) g.fillText(noteName(p), left - 4, this.y(p) + this.row / 2);
    }
    g.textAlign = "left";
    if (this.lane) {
      g.fillStyle = this.back;
      g.fillRect(0, height - this.lane, left, this.lane);
      g.fillStyle = this.ink(0.72);
      g.fillText(this.say.pedal, left > 40 ? 6 : 1, height - LANE + 3);
    }
  }

  drawOver(cursor, chosen, arcs, sounding) {
    const g = this.context(this.over);
    const { music, left, width, height } = this;
    g.save();
    g.beginPath();
    g.rect(left, RULER, width - left, height);
    g.clip();
    if (sounding) {
      g.fillStyle = g.strokeStyle = this.dark ? "#fff" : "#000";
      for (let i = 0; i < music.count; i++) {
        if (music.on[i] <= cursor && music.off[i] > cursor) this.outline(g, i, 0.55, 1);
      }
    }
    for (const arc of arcs) this.drawArc(g, arc, chosen);
    if (chosen >= 0) {
      this.drawNote(g, chosen, true);
      g.strokeStyle = this.text;
      this.outline(g, chosen, 1, 2.5);
    }
    g.restore();
    const x = this.x(cursor);
    if (x >= left - 1 && x <= width) {
      g.fillStyle = this.mark;
      g.fillRect(x - 0.75, 4, 1.75, height);
      g.beginPath();
      g.moveTo(x - 6, 0); g.lineTo(x + 6, 0); g.lineTo(x, 9);
      g.fill();
    }
  }

  outline(g, i, alpha, line) {
    const { music } = this;
    g.globalAlpha = alpha;
    g.lineWidth = line;
    g.beginPath();
    g.roundRect(this.x(music.on[i]) - 1, this.y(music.pitch[i]) - 1, Math.max(4, (music.off[i] - music.on[i]) * this.perSecond + 2), this.row + 2, 3);
    g.stroke();
    g.globalAlpha = 1;
  }

  drawArc(g, { to, weight, head }, chosen) {
    const { music } = this;
    const x0 = this.x(music.on[chosen]) + 2, y0 = this.y(music.pitch[chosen]) + this.row / 2;
    const x1 = this.x(music.on[to]) + 2, y1 = this.y(music.pitch[to]) + this.row / 2;
    const lift = Math.min(y0, y1) - 18 - Math.min(110, Math.abs(x0 - x1) * 0.28) - head * 3;
    g.strokeStyle = this.heads[head % 8];
    g.globalAlpha = 0.35 + 0.65 * Math.min(1, weight * 2);
    g.lineWidth = 1 + 3.5 * Math.min(1, weight * 1.5);
    g.beginPath();
    g.moveTo(x0, y0);
    g.bezierCurveTo(x0 + (x1 - x0) * 0.2, Math.max(lift, RULER + 4), x0 + (x1 - x0) * 0.8, Math.max(lift, RULER + 4), x1, y1);
    g.stroke();
    this.drawNote(g, to, true);
    this.outline(g, to, 1, 1.5);
  }

  drawMini() {
    const g = this.context(this.mini);
    const { music, view } = this;
    const w = this.mini.clientWidth, h = this.mini.clientHeight, scale = w / music.seconds;
    g.fillStyle = this.ink(0.03);
    g.fillRect(0, 0, w, h);
    for (let i = 0; i < music.count; i++) {
      g.fillStyle = this.colour(i);
      g.fillRect(music.on[i] * scale, 3 + ((music.high - music.pitch[i]) / (music.high - music.low + 1)) * (h - 6), Math.max(1, (music.off[i] - music.on[i]) * scale), 1.5);
    }
    if (view.to - view.from < music.seconds - 0.01) {
      g.fillStyle = this.ink(0.1);
      g.fillRect(view.from * scale, 0, (view.to - view.from) * scale, h);
      g.strokeStyle = this.fresh;
      g.lineWidth = 2;
      g.strokeRect(view.from * scale + 1, 1, (view.to - view.from) * scale - 2, h - 2);
    }
  }

  hit(x, y) {
    const { music } = this;
    let best = -1, near = 7;
    for (let i = 0; i < music.count; i++) {
      const dx = Math.max(this.x(music.on[i]) - x, x - this.x(music.off[i]), 0);
      const dy = Math.max(this.y(music.pitch[i]) - y, y - this.y(music.pitch[i]) - this.row, 0);
      const d = Math.hypot(dx, dy);
      if (d < near || (d === 0 && best >= 0 && music.on[i] > music.on[best])) { near = d; best = i; }
    }
    return x < this.left || y < RULER ? -1 : best;
  }
}
