// The attention of the chosen note: layers, heads, the strongest looks in words, and the maps.

class GazePanel {
  constructor(root, roll) {
    this.root = root.querySelector(".gaze");
    this.roll = roll;
    this.layer = -1;
    this.on = new Set();
    this.moment = "wrote";
    this.find = (name) => this.root.querySelector(name);
    this.find(".tiles").addEventListener("click", (event) => this.tileAt(event));
    this.find(".tiles").addEventListener("keydown", (event) => this.tileKey(event));
    this.find(".map").addEventListener("pointermove", (event) => this.mapAt(event, false));
    this.find(".map").addEventListener("click", (event) => this.mapAt(event, true));
  }

  show(gaze) {
    const { say } = this.roll;
    this.gaze = gaze;
    this.root.hidden = !gaze;
    if (!gaze) return;
    const layers = gaze.wrote.length, heads = gaze.wrote[0].length;
    if (this.layer < 0 || this.layer >= layers) this.layer = this.farthest();
    if (!this.seen) { this.seen = true; for (let h = 0; h < heads; h++) this.on.add(h); }
    this.find(".name-moment").textContent = say.moment;
    this.find(".name-layer").textContent = say.layer;
    this.find(".name-heads").textContent = say.heads;
    this.find(".about").textContent = say.about;
    this.find(".small figcaption").textContent = say.maps;
    this.find(".small figcaption").title = say.mapsHelp;
    this.load(gaze.maps);
    this.draw();
  }

  get rows() { return this.gaze[this.moment]; }
  get row() { return this.gaze.event - (this.moment === "wrote" ? 1 : 0); }

  // To begin with: the layer that looks back furthest. Heads that repeat the last note are plenty.
  farthest() {
    const { on } = this.roll.music, from = on[this.gaze.note];
    const far = (head) => head.looks.reduce((sum, [to, weight]) => sum + (from - on[to] > 1 ? weight : 0), 0);
    const sums = this.rows.map((layer) => layer.reduce((sum, head) => sum + far(head), 0));
    return sums.indexOf(Math.max(...sums));
  }

  draw() {
    const { roll } = this, { say } = roll;
    const chips = (name, count, each) => {
      const box = this.find(name);
      box.replaceChildren(...Array.from({ length: count }, (_, i) => each(i)));
      return box;
    };
    const focus = this.root.getRootNode().activeElement?.dataset.key;
    const button = (key, text, pressed, act) => {
      const b = make("button", text, { type: "button", "data-key": key });
      if (pressed !== null) b.setAttribute("aria-pressed", pressed);
      b.addEventListener("click", act);
      return b;
    };
    const moments = chips(".moments", 2, (i) => {
      const moment = ["wrote", "after"][i];
      return button(moment, say[moment], moment === this.moment, () => { this.moment = moment; this.draw(); });
    });
    moments.setAttribute("aria-label", say.moment);
    const layers = chips(".layers", this.rows.length, (l) =>
      button(`l${l}`, l + 1, l === this.layer, () => this.choose(l)));
    const heads = chips(".heads", this.rows[0].length, (h) => {
      const b = button(`h${h}`, h + 1, this.on.has(h), () => this.toggle(h));
      b.dataset.head = h;
      b.style.setProperty("--c", roll.paint.heads[h % 8]);
      b.prepend(make("i"));
      return b;
    });
    layers.setAttribute("aria-label", say.layer);
    heads.setAttribute("aria-label", say.heads);
    heads.append(button("all", say.all, null, () => this.all(true)), button("none", say.none, null, () => this.all(false)));
    if (focus) this.find(`[data-key="${focus}"]`)?.focus();
    this.words();
    this.drawTiles();
    this.loadMap();
    roll.arcs = this.arcs();
    roll.dirty = true;
    roll.wake();
  }

  choose(layer, head) {
    this.layer = layer;
    if (head !== undefined) this.on = new Set([head]);
    this.draw();
  }
  toggle(head) {
    if (!this.on.delete(head)) this.on.add(head);
    this.draw();
  }
  all(wanted) {
    this.on = new Set(wanted ? this.rows[0].keys() : []);
    this.draw();
  }

  arcs() {
    const most = this.on.size > 2 ? 3 : 6;
    return [...this.on].sort((a, b) => a - b).flatMap((head) =>
      this.rows[this.layer][head].looks.slice(0, most).map(([to, weight]) => ({ to, weight, head })));
  }

  words() {
    const { roll } = this, { say, music } = roll;
    const percent = (share) => `${Math.round(share * 100)}%`;
    this.find(".looks").replaceChildren(...[...this.on].sort((a, b) => a - b).map((h) => {
      const head = this.rows[this.layer][h];
      const [best] = head.looks;
      const text = best
        ? fill(say.looks, { head: h + 1, note: noteName(music.pitch[best[0]]), share: percent(best[1]), back: this.back(best[0]) })
        : fill(say.looksNone, { head: h + 1, first: percent(head.first) });
      const item = make("li", text);
      item.style.setProperty("--c", roll.paint.heads[h % 8]);
      return item;
    }));
  }

  back(note) {
    const { say, music } = this.roll, seconds = music.on[this.gaze.note] - music.on[note];
    if (note === this.gaze.note) return say.itself;
    return seconds < 0.05 ? say.together : fill(say.back, { s: seconds.toFixed(1) });
  }

  async fetchMap(path) {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(answer.status);
    const data = await answer.arrayBuffer();
    const [layers, heads, size, events] = new Uint32Array(data.slice(0, 16));
    return { layers, heads, size, events, pixels: new Uint8Array(data, 16) };
  }

  async load(path) {
    if (this.path === path) return;
    this.path = path;
    this.tiles = this.large = null;
    try {
      const tiles = await this.fetchMap(path);
      if (this.path !== path) return;
      this.tiles = tiles;
      this.drawTiles();
    } catch { this.path = null; }
  }

  async loadMap() {
    const head = this.on.size ? Math.min(...this.on) : 0;
    const path = `${this.gaze.maps}/${this.layer}/${head}`;
    this.find(".large figcaption").textContent = fill(this.roll.say.map, { layer: this.layer + 1, head: head + 1 });
    if (this.large?.path === path) return this.drawMap();
    this.wanted = path;
    try {
      const large = await this.fetchMap(path);
      if (this.wanted !== path) return;
      this.large = { ...large, path };
      this.drawMap();
    } catch { this.large = null; }
  }

  // Greys become the page's own colours: ground, then the new music's colour, then ink.
  picture(pixels, at, size) {
    const { dark } = this.roll.paint;
    const ramp = dark ? [[28, 26, 23], [32, 120, 110], [214, 255, 246]] : [[244, 241, 234], [70, 160, 150], [4, 44, 42]];
    const image = new ImageData(size, size);
    for (let i = 0; i < size * size; i++) {
      const v = pixels[at + i] / 127.5, k = Math.min(1, Math.floor(v)), f = v - k;
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = ramp[k][c] + (ramp[k + 1][c] - ramp[k][c]) * f;
      image.data[4 * i + 3] = 255;
    }
    const canvas = new OffscreenCanvas(size, size);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  drawTiles() {
    const { tiles, roll } = this;
    if (!tiles || !this.gaze) return;
    const canvas = this.find(".tiles"), { layers, heads, size } = tiles;
    canvas.style.aspectRatio = `${heads} / ${layers}`;
    const g = roll.paint.context(canvas);
    const w = canvas.clientWidth / heads, h = canvas.clientHeight / layers;
    g.imageSmoothingEnabled = false;
    for (let l = 0; l < layers; l++) for (let k = 0; k < heads; k++) {
      g.drawImage(this.picture(tiles.pixels, (l * heads + k) * size * size, size), k * w + 1.5, l * h + 1.5, w - 3, h - 3);
      if (l === this.layer && this.on.has(k)) {
        g.strokeStyle = roll.paint.heads[k % 8];
        g.lineWidth = 2.5;
        g.strokeRect(k * w + 1.5, l * h + 1.5, w - 3, h - 3);
      }
    }
    canvas.setAttribute("aria-label", `${roll.say.maps}. ${this.find(".large figcaption").textContent}`);
  }

  tileAt(event) {
    if (!this.tiles) return;
    const { width, height } = event.target.getBoundingClientRect();
    this.choose(Math.floor((event.offsetY / height) * this.tiles.layers), Math.floor((event.offsetX / width) * this.tiles.heads));
  }

  tileKey(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !this.tiles) return;
    event.preventDefault();
    event.stopPropagation();
    const head = this.on.size ? Math.min(...this.on) : 0;
    this.choose(clamp(this.layer + step[0], 0, this.tiles.layers - 1), clamp(head + step[1], 0, this.tiles.heads - 1));
  }

  drawMap(row = this.row, column) {
    const { large, roll } = this;
    if (!large || !this.gaze) return;
    const canvas = this.find(".map");
    canvas.style.aspectRatio = "1";
    const g = roll.paint.context(canvas), w = canvas.clientWidth, unit = w / large.events;
    g.imageSmoothingEnabled = false;
    large.image ||= this.picture(large.pixels, 0, large.size);
    g.drawImage(large.image, 0, 0, w, w);
    g.fillStyle = roll.paint.mark;
    g.fillRect(0, (row + 0.5) * unit - 0.75, (row + 1) * unit, 1.5);
    if (column !== undefined) g.fillRect((column + 0.5) * unit - 0.75, column * unit, 1.5, (row - column) * unit);
  }

  mapAt(event, click) {
    const { large, gaze, roll } = this;
    if (!large || !gaze) return;
    const { width } = event.target.getBoundingClientRect();
    const at = (x) => clamp(Math.floor((x / width) * large.events), 0, large.events - 1);
    const row = at(event.offsetY), column = Math.min(row, at(event.offsetX));
    const [note, other] = [gaze.noteOf[row], gaze.noteOf[column]];
    if (click && note >= 0) return roll.choose(note);
    this.drawMap(row, column);
    const name = (i) => (i < 0 ? roll.say.first : `${noteName(roll.music.pitch[i])} ${clock(roll.music.on[i])}`);
    this.find(".large figcaption").textContent = fill(roll.say.mapAt, { note: name(note), other: name(other) });
  }
}
