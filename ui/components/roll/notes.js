// Drawing notes, many of them at once.

const ROUNDED = 1500; // of more notes nobody sees the corners, and they take most of the time
const LOUDNESSES = 6, COLOURS = 11, SHADES = LOUDNESSES * COLOURS; // new music's colour, and ten of tracks

const noteDrawing = {
  // Notes of one colour and loudness are one path: twenty thousand are drawn in some milliseconds.
  drawNotes(g, alpha) {
    const { music } = this, [first, end] = music.range(this.view.from, this.view.to);
    const starts = new Int32Array(2 * SHADES + 1), order = new Int32Array(end - first), kinds = new Uint8Array(end - first);
    for (let i = first; i < end; i++) {
      if (music.off[i] < this.view.from) { kinds[i - first] = 255; continue; }
      const kind = music.shade[i] + (music.muted.has(music.track[i]) ? SHADES : 0);
      kinds[i - first] = kind;
      starts[kind + 1]++;
    }
    for (let kind = 0; kind < 2 * SHADES; kind++) starts[kind + 1] += starts[kind];
    const next = starts.slice();
    for (let i = first; i < end; i++) if (kinds[i - first] < 255) order[next[kinds[i - first]]++] = i;
    const round = end - first < ROUNDED;
    for (let kind = 0; kind < 2 * SHADES; kind++) {
      if (starts[kind] < starts[kind + 1]) this.shade(g, order.subarray(starts[kind], starts[kind + 1]), kind, alpha, round);
    }
    g.globalAlpha = 1;
  },

  shade(g, some, kind, alpha, round) {
    const muted = kind >= SHADES, slot = Math.floor((kind % SHADES) / LOUDNESSES);
    const loud = 0.42 + 0.58 * (((kind % LOUDNESSES) + 0.5) / LOUDNESSES), hollow = muted || slot > 0;
    g.fillStyle = g.strokeStyle = slot ? this.tracks[slot - 1] : this.fresh;
    g.lineWidth = 1.25;
    g.beginPath();
    if (round) for (const i of some) this.trace(g, i, hollow);
    else this.traceMany(g, some, hollow);
    // Hollow and slimmer: the visitor's notes differ in shape, not only in colour; muted ones are faint.
    g.globalAlpha = muted ? alpha * 0.3 : hollow ? alpha * (0.25 + loud * 0.75) : alpha * loud;
    if (hollow) g.stroke();
    if (muted) return;
    if (hollow) g.globalAlpha *= 0.3;
    g.fill();
  },

  trace(g, i, hollow) {
    const { music } = this, x = this.x(music.on[i]), y = this.y(music.pitch[i]);
    const w = Math.max(2, (music.off[i] - music.on[i]) * this.perSecond - 0.5);
    const h = Math.max(2, this.row - (this.row > 5 ? 1 : 0));
    if (hollow) g.roundRect(x + 0.6, y + h * 0.15, Math.max(1, w - 1.2), h * 0.7, Math.min(2, h / 3, w / 2));
    else g.roundRect(x, y, w, h, Math.min(2.5, h / 2, w / 2));
  },

  // The same without round corners.
  traceMany(g, some, hollow) {
    const { on, off, pitch, high } = this.music, { left, perSecond, row, top } = this, { from } = this.view;
    const h = Math.max(2, row - (row > 5 ? 1 : 0)), inset = hollow ? 0.6 : 0, low = hollow ? h * 0.15 : 0, tall = hollow ? h * 0.7 : h;
    for (let k = 0; k < some.length; k++) {
      const i = some[k], w = (off[i] - on[i]) * perSecond - 0.5;
      g.rect(left + (on[i] - from) * perSecond + inset, top + (high - pitch[i]) * row + low, (w > 2 ? w : 2) - 2 * inset, tall);
    }
  },
};

Object.defineProperties(Painter.prototype, Object.getOwnPropertyDescriptors(noteDrawing));
