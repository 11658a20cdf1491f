// Every layer and head at a glance: their maps, or how much they have of a habit.

const AXIS = 20; // px for the numbers of layers and heads

// Black or white, whichever is read on a colour: at least 4.5:1 on any.
function inkOn(rgba) {
  const [r, g, b] = [rgba & 255, (rgba >> 8) & 255, (rgba >> 16) & 255].map((c) => { const s = c / 255; return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
const cssOf = (rgba) => `rgb(${rgba & 255},${(rgba >> 8) & 255},${(rgba >> 16) & 255})`;

class Overview {
  constructor(panel) {
    this.panel = panel;
    this.shade = "maps";
    this.canvas = panel.find(".tiles");
    const on = (name, act) => this.canvas.addEventListener(name, (event) => { if (panel.told) act(event); });
    on("click", (event) => { const place = this.place(event); if (place) panel.choose(...place, { wide: true }); });
    on("pointermove", (event) => this.tell((this.pointed = this.place(event))));
    on("pointerleave", () => this.tell((this.pointed = null)));
    on("keydown", (event) => this.key(event));
    panel.find(".shade").addEventListener("change", (event) => { this.shade = event.target.value; this.draw(); });
  }

  async load(address) {
    if (this.address === address) return;
    this.address = address;
    this.tiles = this.pointed = null;
    try {
      const answer = await fetch(address);
      if (!answer.ok || isRefusal(answer)) throw new Error(answer.status);
      const data = await answer.arrayBuffer();
      if (this.address !== address) return;
      const [layers, heads, size] = new Uint32Array(data, 0, 4);
      this.tiles = { layers, heads, size, pixels: new Uint8Array(data, 16), pictures: new Map() };
      this.draw();
    } catch { if (this.address === address) this.address = null; } // else another piece is being read
  }

  draw() {
    const { panel, canvas } = this, { told, roll } = panel, { say, paint } = roll;
    this.tell(told && this.pointed); // what is pointed at is told on, also where maps come later
    canvas.hidden = !!panel.failed;
    panel.find(".shading").hidden = panel.find(".save-overview").hidden = !told;
    if (!told || !canvas.clientWidth) return paint.context(canvas);
    this.choices(told.habits);
    canvas.style.aspectRatio = `${told.heads} / ${Math.min(told.layers, told.heads)}`;
    const g = paint.context(canvas), w = (canvas.clientWidth - AXIS) / told.heads, h = (canvas.clientHeight - AXIS) / told.layers;
    g.imageSmoothingEnabled = false;
    this.numbers(g, w, h);
    const colours = RAMPS[paint.dark ? "dark" : "light"];
    const kind = this.shade === "maps" ? -1 : Object.keys(told.habits.names).indexOf(this.shade);
    const most = kind < 0 ? 1 : Math.max(0.01, ...told.habits.weights.flat().map((head) => head[kind]));
    for (let l = 0; l < told.layers; l++) for (let k = 0; k < told.heads; k++) {
      const box = [AXIS + k * w + 1, AXIS + l * h + 1, w - 2, h - 2];
      if (kind >= 0) this.cell(g, told.habits.weights[l][k][kind], most, colours, box);
      else if (this.tiles) g.drawImage(this.picture(l, k, colours), ...box);
      if (panel.opened && panel.layers.includes(l) && panel.on.has(k)) {
        g.strokeStyle = paint.heads[k % 8];
        g.lineWidth = 2.5;
        g.strokeRect(...box);
      }
    }
    canvas.setAttribute("aria-label", `${say.overview}. ${this.all()}`);
  }

  // Layers are counted down the left side, heads along the top.
  numbers(g, w, h) {
    const { told, roll } = this.panel, { paint } = roll;
    g.font = `11px ${paint.font}`;
    g.fillStyle = paint.ink(0.75);
    g.textAlign = "center";
    g.textBaseline = "middle";
    const each = Math.ceil(16 / w), line = Math.ceil(12 / h);
    for (let k = 0; k < told.heads; k += each) g.fillText(k + 1, AXIS + (k + 0.5) * w, AXIS / 2);
    for (let l = 0; l < told.layers; l += line) g.fillText(l + 1, AXIS / 2, AXIS + (l + 0.5) * h);
    g.textAlign = "left";
  }

  picture(layer, head, colours) {
    const { size, pixels, pictures, heads } = this.tiles, at = layer * heads + head, key = `${at} ${colours[0]}`;
    if (!pictures.has(key)) pictures.set(key, picture(pixels, at * size * size, size, colours));
    return pictures.get(key);
  }

  cell(g, share, most, colours, [x, y, w, h]) {
    const { paint } = this.panel.roll, colour = colours[Math.round(255 * Math.min(1, share / most))];
    g.fillStyle = cssOf(colour);
    g.fillRect(x, y, w, h);
    g.fillStyle = inkOn(colour);
    g.font = `${Math.min(12, w / 2.6)}px ${paint.font}`;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillText(percent(share), x + w / 2, y + h / 2);
    g.textAlign = "left";
  }

  choices(habits) {
    const { say } = this.panel.roll, select = this.panel.find(".shade"), names = Object.entries(habits.names);
    if (select.options.length !== names.length + 1) {
      select.replaceChildren(make("option", say.shadeMaps, { value: "maps" }), ...names.map(([kind, text]) => make("option", text, { value: kind })));
      if (!habits.names[this.shade]) this.shade = "maps";
      select.value = this.shade;
      select.setAttribute("aria-label", say.shadeHelp);
    }
  }

  // What all squares together are, and of which notes.
  all() {
    const { panel } = this, { told, roll } = panel, { say } = roll;
    return fill(this.canvas.clientWidth ? say.overviewAll : say.overviewFolded, { layers: told.layers, heads: told.heads, which: panel.habits.which() });
  }

  caption(text) {
    const { panel } = this, { told, failed, roll } = panel, said = panel.find(".strip .said");
    said.textContent = text ?? failed ?? (told ? this.all() : roll.say.reading);
    said.title = told ? roll.say.mapsHelp : "";
  }

  tell(place) {
    if (!place) return this.caption();
    const [layer, head] = place, { told, roll } = this.panel;
    this.caption(`${fill(roll.say.map, { layer: layer + 1, head: head + 1 })}: ${told.habits.words[layer][head]}`);
  }

  place(event) {
    const { clientWidth, clientHeight } = this.canvas, { told } = this.panel;
    const [across, down] = [(event.offsetX - AXIS) / (clientWidth - AXIS), (event.offsetY - AXIS) / (clientHeight - AXIS)];
    return across < 0 || down < 0 ? null : [Math.min(told.layers - 1, Math.floor(down * told.layers)), Math.min(told.heads - 1, Math.floor(across * told.heads))];
  }

  key(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key], { panel } = this;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const head = panel.on.size ? panel.heads[0] : 0, layer = Math.min(panel.layer, panel.told.layers - 1);
    const place = [clamp(layer + step[0], 0, panel.told.layers - 1), clamp(head + step[1], 0, panel.told.heads - 1)];
    panel.choose(...place, { wide: true });
    this.tell(place);
  }
}
