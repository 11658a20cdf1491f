// What the roll shows: notes as arrays, names, and the window of time and pitch that is in view.

const BLACK = [1, 3, 6, 8, 10];
const noteName = (pitch) => KEY_NAMES[pitch % 12] + (Math.floor(pitch / 12) - 1);

// The first place in an ascending list whose value is above x.
function firstAbove(list, x) {
  let low = 0, high = list.length;
  while (low < high) { const middle = (low + high) >> 1; if (list[middle] > x) high = middle; else low = middle + 1; }
  return low;
}

class Music {
  constructor(piece) {
    const { on, len, pitch, vel, track } = piece.notes;
    this.piece = piece;
    this.count = on.length;
    this.on = Float64Array.from(on, (ms) => ms / 1000);
    this.off = Float64Array.from(on, (ms, i) => (ms + len[i]) / 1000);
    this.pitch = pitch;
    this.vel = vel;
    this.track = track;
    this.seconds = Math.max(piece.seconds, 1);
    this.used = [...new Set(track)].sort((a, b) => a - b);
    this.muted = new Set(); // tracks that are not heard
    // Notes are sorted by onset; so far does any of the first i reach.
    this.reach = new Float64Array(this.count);
    let reach = 0;
    for (let i = 0; i < this.count; i++) this.reach[i] = reach = Math.max(reach, this.off[i]);
    this.shade = Uint8Array.from(track, (t, i) => (this.isNew(i) ? 0 : 1 + (t % (COLOURS - 1))) * LOUDNESSES + ((vel[i] * LOUDNESSES) >> 7));
    this.meter = piece.meter && { beats: Float64Array.from(piece.meter.beats, (ms) => ms / 1000), bars: piece.meter.bars, kept: piece.meter.kept };
    let low = 127, high = 0;
    for (const p of pitch) { low = Math.min(low, p); high = Math.max(high, p); }
    if (high < low) { low = 48; high = 84; }
    const spare = Math.max(0, 30 - (high - low)) / 2;
    this.low = clamp(Math.floor(low - spare - 2), 0, 127);
    this.high = clamp(Math.ceil(high + spare + 2), 0, 127);
  }

  isNew(i) {
    const { newTrack } = this.piece;
    return newTrack === null || this.track[i] === newTrack;
  }

  // The first note and the one after the last that may sound between two instants.
  range(from, to) { return [firstAbove(this.reach, from), firstAbove(this.on, to)]; }

  // Bar and beat of an instant, counted from 1, as a musician writes them.
  place(seconds) {
    const { beats, bars } = this.meter;
    const beat = Math.max(0, firstAbove(beats, seconds + 1e-6) - 1), bar = Math.max(0, firstAbove(bars, beat) - 1);
    return { bar: bar + 1, beat: beat - bars[bar] + 1 };
  }

  // Keep the pitch range of what was shown before, so that a growing roll does not jump.
  widen(before) {
    this.low = Math.min(this.low, before.low);
    this.high = Math.max(this.high, before.high);
  }
}

class View {
  constructor() {
    this.from = 0;
    this.to = 30;
  }

  fit(music) {
    const { seconds, piece } = music;
    if (seconds <= 90) return this.set(0, seconds, music);
    const start = piece.promptEnd > 40 && piece.promptEnd < seconds ? piece.promptEnd - 20 : 0;
    return this.set(start, start + 60, music);
  }

  set(from, to, music) {
    const span = clamp(to - from, 2, Math.max(2, music.seconds));
    this.from = clamp(from, 0, Math.max(0, music.seconds - span));
    this.to = this.from + span;
  }

  zoom(factor, around, music) {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor, music);
  }

  shift(seconds, music) {
    this.set(this.from + seconds, this.to + seconds, music);
  }
}
