// What the roll shows: notes as arrays, names, and the window of time and pitch that is in view.

const NAMES = ["C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B"];
const BLACK = [1, 3, 6, 8, 10];
const noteName = (pitch) => NAMES[pitch % 12] + (Math.floor(pitch / 12) - 1);
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

function clock(seconds, tenths = true) {
  const whole = Math.max(0, tenths ? Math.floor(seconds * 10) / 10 : Math.round(seconds));
  const rest = whole % 60;
  return `${Math.floor(whole / 60)}:${rest < 10 ? "0" : ""}${tenths ? rest.toFixed(1) : rest}`;
}

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

// Text from files goes in as text, never as HTML.
function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
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
