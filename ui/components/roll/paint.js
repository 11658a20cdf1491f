// Drawing what does not move by itself: keys, grid, notes, pedal on one canvas, and the mini-map.

const RULER = 24, LANE = 12, SEAM = 18; // px: times, pedal, and above the times where new music begins

class Painter {
  constructor(root) {
    this.base = root.querySelector(".base");
    this.over = root.querySelector(".over");
    this.mini = root.querySelector(".mini");
    this.root = root;
    this.small = document.createElement("canvas");
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

  context(canvas, w = canvas.clientWidth, h = canvas.clientHeight) {
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(h * scale);
    }
    const g = canvas.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, w, h);
    return g;
  }

  measure(music, view, bars) {
    this.width = this.over.clientWidth;
    this.height = this.over.clientHeight;
    this.left = this.width < 500 ? 34 : 44;
    const { kind, promptEnd } = music.piece;
    this.top = RULER + (kind === "take" && promptEnd > 0 ? SEAM : 0);
    this.lane = music.piece.pedals.length ? LANE + 4 : 0;
    this.row = (this.height - this.top - this.lane) / (music.high - music.low + 1);
    this.perSecond = (this.width - this.left) / (view.to - view.from);
    this.music = music;
    this.view = view;
    this.bars = bars && music.meter;
  }

  x(seconds) { return this.left + (seconds - this.view.from) * this.perSecond; }
  y(pitch) { return this.top + (this.music.high - pitch) * this.row; }
  seconds(x) { return this.view.from + (x - this.left) / this.perSecond; }
  colour(i) {
    const { music } = this;
    return music.isNew(i) ? this.fresh : this.tracks[music.track[i] % this.tracks.length];
  }

  drawBase(dim) {
    const g = this.context(this.base, this.width, this.height);
    this.drawGrid(g);
    g.save();
    g.beginPath();
    g.rect(this.left, this.top, this.width - this.left, this.height - this.top);
    g.clip();
    this.drawRegions(g);
    this.drawNotes(g, dim ? 0.45 : 1);
    g.restore();
    this.drawKeys(g);
  }

  drawGrid(g) {
    const { music, width, height, left } = this;
    for (let p = music.low; p <= music.high; p++) {
      if (BLACK.includes(p % 12)) { g.fillStyle = this.ink(0.035); g.fillRect(left, this.y(p), width, this.row); }
      if (p % 12 === 0) { g.fillStyle = this.ink(0.13); g.fillRect(left, this.y(p) + this.row - 0.5, width, 1); }
    }
    g.font = `12px ${this.font}`;
    g.textBaseline = "middle";
    this.drawSeam(g);
    if (this.bars) this.drawBars(g);
    else this.drawSeconds(g);
    g.fillStyle = this.ink(0.14);
    g.fillRect(0, this.top - 1, width, 1);
  }

  // Where new music begins is said above the ruler: on it are times, below it notes, and the playhead
  // goes through both.
  drawSeam(g) {
    const x = this.x(this.music.piece.promptEnd), width = g.measureText(this.say.here).width;
    if (this.top === RULER || x < this.left || x > this.width) return;
    g.fillStyle = this.ink(0.55);
    g.fillRect(Math.round(x), 3, 1, SEAM - 3);
    g.fillStyle = this.ink(0.9);
    g.fillText(this.say.here, Math.min(x + 5, this.width - width - 4), SEAM / 2 + 1);
  }

  line(g, seconds, alpha, text) {
    const x = this.x(seconds);
    g.fillStyle = this.ink(alpha);
    g.fillRect(Math.round(x), this.top, 1, this.height - this.top);
    if (text === undefined || x < this.left - 1 || x > this.width - 30) return;
    g.fillStyle = this.ink(0.72);
    g.fillText(text, x + 4, this.top - RULER / 2);
  }

  drawSeconds(g) {
    const { view } = this;
    const step = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800].find((s) => s * this.perSecond > 62) || 3600;
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) this.line(g, t, 0.08, clock(t, step < 1));
  }

  // Every bar has a line, unless they would touch; some have their numbers, and wide ones their beats.
  drawBars(g) {
    const { view } = this, { beats, bars } = this.bars;
    const first = Math.max(0, firstAbove(beats, view.from) - 1), last = firstAbove(beats, view.to);
    const a_beat = (this.width - this.left) / Math.max(1, last - first), a_bar = (a_beat * beats.length) / bars.length;
    const step = [1, 2, 4, 8, 16, 32, 64, 128].find((n) => n * a_bar > 46) || 256, each = Math.max(1, step / 8);
    for (let bar = Math.max(0, firstAbove(bars, first) - 1); bar < bars.length && bars[bar] <= last; bar++) {
      if (bar % each === 0) this.line(g, beats[bars[bar]], bar % step ? 0.07 : 0.16, bar % step ? undefined : bar + 1);
      if (a_beat > 14) for (let beat = bars[bar] + 1; beat < (bars[bar + 1] ?? beats.length) && beat < last; beat++) this.line(g, beats[beat], 0.05);
    }
  }

  // The visitor's part lies on shaded ground before a dashed seam; what is not made yet is hatched.
  drawRegions(g) {
    const { music, height, width } = this;
    const { promptEnd, kind, live, pedals } = music.piece;
    if (kind === "take" && promptEnd > 0) {
      g.fillStyle = this.ink(0.05);
      g.fillRect(this.x(0), this.top, this.x(promptEnd) - this.x(0), height);
      g.strokeStyle = this.ink(0.55);
      g.setLineDash([4, 4]);
      g.beginPath();
      g.moveTo(this.x(promptEnd), this.top);
      g.lineTo(this.x(promptEnd), height);
      g.stroke();
      g.setLineDash([]);
    }
    if (live) {
      const edge = this.x(Math.max(promptEnd + live.made, 0));
      g.strokeStyle = this.ink(0.09);
      g.save();
      g.beginPath();
      g.rect(edge, this.top, width - edge, height);
      g.clip();
      g.beginPath();
      for (let x = edge; x < width + height; x += 14) { g.moveTo(x, this.top); g.lineTo(x - height, this.top + height); }
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

  drawKeys(g) {
    const { music, left, height } = this;
    g.fillStyle = this.back;
    g.fillRect(0, this.top, left, height);
    for (let p = music.low; p <= music.high; p++) {
      const black = BLACK.includes(p % 12);
      g.fillStyle = black ? (this.dark ? "#0b0a09" : "#3a352d") : this.dark ? "#d9d4ca" : "#ffffff";
      g.fillRect(0, this.y(p) + 0.25, black ? left * 0.6 : left - 1, this.row - 0.5);
      if (black) { g.fillStyle = this.dark ? "#d9d4ca" : "#ffffff"; g.fillRect(left * 0.6, this.y(p), left * 0.4 - 1, this.row); }
    }
    g.fillStyle = this.ink(0.25);
    g.fillRect(left - 1, this.top, 1, height);
    this.drawOctaves(g);
    if (this.lane) {
      g.fillStyle = this.back;
      g.fillRect(0, height - this.lane, left, this.lane);
      g.fillStyle = this.ink(0.72);
      g.fillText(this.say.pedal, left > 40 ? 6 : 1, height - LANE + 3);
    }
  }

  // Names of octaves stand on a ground of their own: where rows are low, black keys lie behind them.
  drawOctaves(g) {
    const { music, left } = this;
    g.font = `600 11px ${this.font}`;
    g.textBaseline = "middle";
    g.textAlign = "right";
    for (let p = Math.ceil(music.low / 12) * 12; p <= music.high; p += 12) {
      const name = noteName(p), width = g.measureText(name).width;
      const y = clamp(this.y(p) + this.row / 2, this.top + 7, this.height - this.lane - 8);
      g.fillStyle = this.dark ? "#d9d4ca" : "#ffffff";
      g.fillRect(left - width - 8, y - 6.5, width + 7, 13);
      g.fillStyle = "#2a251d";
      g.fillText(name, left - 4, y + 0.5);
    }
    g.textAlign = "left";
    g.font = `10px ${this.font}`;
  }

  // The notes of the mini-map are drawn once; a frame only moves the window over them.
  drawMini(anew) {
    const { music, view, mini } = this, w = mini.clientWidth, h = mini.clientHeight, scale = w / music.seconds;
    if (anew || this.small.width !== mini.width) {
      const g = this.context(this.small, w, h), paths = new Map();
      g.fillStyle = this.ink(0.03);
      g.fillRect(0, 0, w, h);
      for (let i = 0; i < music.count; i++) {
        const colour = this.colour(i), shown = music.muted.has(music.track[i]) ? this.ink(0.15) : colour;
        if (!paths.has(shown)) paths.set(shown, new Path2D());
        paths.get(shown).rect(music.on[i] * scale, 3 + ((music.high - music.pitch[i]) / (music.high - music.low + 1)) * (h - 6), Math.max(1, (music.off[i] - music.on[i]) * scale), 1.5);
      }
      for (const [colour, path] of paths) { g.fillStyle = colour; g.fill(path); }
    }
    const g = this.context(mini, w, h);
    g.drawImage(this.small, 0, 0, w, h);
    if (view.to - view.from < music.seconds - 0.01) {
      g.fillStyle = this.ink(0.1);
      g.fillRect(view.from * scale, 0, (view.to - view.from) * scale, h);
      g.strokeStyle = this.fresh;
      g.lineWidth = 2;
      g.strokeRect(view.from * scale + 1, 1, (view.to - view.from) * scale - 2, h - 2);
    }
  }
}
