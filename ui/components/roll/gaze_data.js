// The numbers of attention: what the server packs, and the strongest of them.

// Where there is no attention the server says why, where else it would send numbers.
const isRefusal = (answer) => answer.headers.get("Content-Type")?.startsWith("application/json");

const FAINTEST = 0.004; // a look below that is none

// All attention from and to one note: rows of layer and head, and which notes their places are.
class Looks {
  constructor(data) {
    const [page, note, event, layers, heads, events] = new Uint32Array(data, 0, 8);
    Object.assign(this, { page, note, event, layers, heads, events });
    this.noteOf = new Int32Array(data, 32, events);
    let at = 32 + 4 * events;
    for (const [name, size] of [["wrote", event], ["after", event + 1], ["seen", events - event]]) {
      this[name] = { size, shares: new Uint16Array(data, at, layers * heads * size) };
      at += 2 * layers * heads * size;
    }
  }

  // Attention of one head, as shares of 1, and the note at each of its places.
  row(layer, head, { way, moment }) {
    const part = way === "to" ? this.seen : this[moment];
    const from = (layer * this.heads + head) * part.size;
    let shares = part.shares.subarray(from, from + part.size);
    // A note came of the row before it: who looked when it was written stands one event further.
    const written = moment === "wrote" && way === "to";
    if (written) shares = shares.subarray(0, part.size - 1);
    const first = way === "to" ? this.event + (written ? 1 : 0) : 0;
    return { shares, notes: this.noteOf.subarray(first, first + shares.length) };
  }

  // Several heads as one: their mean, or the strongest of them at each place.
  combined(layers, heads, how, asked) {
    const rows = layers.flatMap((layer) => heads.map((head) => this.row(layer, head, asked)));
    const shares = new Float32Array(rows[0].shares.length);
    for (const row of rows) {
      for (let i = 0; i < shares.length; i++) shares[i] = how === "max" ? Math.max(shares[i], row.shares[i]) : shares[i] + row.shares[i] / rows.length;
    }
    return { shares, notes: rows[0].notes };
  }
}

// The strongest looks at notes: [[note, weight], …].
function strongest({ shares, notes }, count) {
  const found = [];
  for (let i = 0; i < shares.length; i++) if (notes[i] >= 0 && shares[i] > FAINTEST * 65535) found.push(i);
  found.sort((a, b) => shares[b] - shares[a] || a - b);
  return found.slice(0, count).map((i) => [notes[i], shares[i] / 65535]);
}

// Weights of 0 to 255 become colours, from the page's ground to its ink: the same as in files.
function ramp(dark) {
  const points = WEIGHTS[dark ? "dark" : "light"], steps = points.length - 1;
  return Uint32Array.from({ length: 256 }, (_, v) => {
    const at = (v / 255) * steps, k = Math.min(steps - 1, Math.floor(at)), f = at - k;
    const [r, g, b] = points[k].map((from, c) => Math.round(from + (points[k + 1][c] - from) * f));
    return 0xff000000 | (b << 16) | (g << 8) | r;
  });
}
const RAMPS = { light: ramp(false), dark: ramp(true) };

function picture(pixels, at, size, colours) {
  const image = new ImageData(size, size), into = new Uint32Array(image.data.buffer);
  for (let i = 0; i < into.length; i++) into[i] = colours[pixels[at + i]];
  const canvas = new OffscreenCanvas(size, size);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

const percent = (share) => `${Math.round(share * 100)}%`;

// Links that save a view: PNG, SVG and CSV.
function saveLinks(box, label, say) {
  box.replaceChildren(make("span", say.save), ...["png", "svg", "csv"].map((form) => make("a", form.toUpperCase(), { download: "", "data-form": form, "aria-label": `${label}: ${form.toUpperCase()}` })));
}
