// What the heads look at: of the whole piece at once, and of the chosen note in arcs and words.

const CALM_MS = 400; // a piece that is gone again by then is not read
const DEEP = "musicgen:maps"; // where the browser keeps, for this visit, whether the large map and habits are open

class GazePanel {
  constructor(root, roll) {
    this.root = root.querySelector(".gaze");
    this.roll = roll;
    Object.assign(this, { layer: -1, way: "from", moment: "wrote", how: "each", count: 3, solo: false, on: new Set(), facts: new Map() });
    this.find = (name) => this.root.querySelector(name);
    this.overview = new Overview(this);
    this.habits = new HabitsTable(this);
    this.map = new LargeMap(this);
    this.find(".count").addEventListener("input", (event) => this.set({ count: Number(event.target.value) }));
    try { this.wide = sessionStorage.getItem(DEEP) === "1"; } catch { this.wide = false; /* a browser that keeps nothing */ }
    this.find(".more").addEventListener("click", () => this.set({ wide: !this.wide }));
    this.sight = new IntersectionObserver((seen) => { this.inSight = seen.at(-1).isIntersecting; this.begin(); });
    this.sight.observe(this.root);
  }

  // Another piece: it is read as soon as its panel can be seen.
  open() {
    const { music, say } = this.roll;
    this.forget();
    this.map.forget();
    Object.assign(this, { told: null, address: null, failed: null });
    this.root.hidden = !music.count || !music.piece.maps || !!music.piece.live;
    if (this.root.hidden) return;
    for (const name of ["gaze", "way", "layer", "heads", "how", "count", "shade"]) this.find(`.name-${name}`).textContent = say[name];
    this.find(".about").textContent = say.about;
    for (const [name, label] of [["arcs", say.saveArcs], ["map", say.saveMap], ["overview", say.saveOverview]]) saveLinks(this.find(`.save-${name}`), label, say);
    this.draw();
    this.begin();
  }

  async begin() {
    if (this.told || this.failed || this.root.hidden || !this.inSight) return;
    const { music } = this.roll;
    await new Promise((resolve) => setTimeout(resolve, CALM_MS));
    if (music === this.roll.music && !this.address && await this.load(0)) this.draw();
  }

  // The note's looks: arcs at once, where the layer to begin with is known.
  async show(looks) {
    if (!looks) {
      this.forget();
      if (this.told && this.address !== this.at(0)) await this.load(0);
      return this.draw();
    }
    this.asked = looks;
    if (this.address !== this.at(looks.page) || !this.told) await this.load(looks.page);
    if (this.asked !== looks || !this.roll.music) return;
    this.looks = looks;
    this.draw();
  }
  // Another note is asked about: what is said of the last one is not true any more.
  pend() { this.asked = null; this.find(".looks").replaceChildren(); }
  forget() { this.looks = this.asked = null; }

  at(page) { return `${this.roll.music.piece.maps}/${page}`; }

  // Events, bars and habits of a part of the piece: asked for once.
  async load(page) {
    const address = this.at(page), { say } = this.roll;
    if (address !== this.address) this.map.forget();
    this.address = address;
    if (!this.facts.has(address)) {
      try {
        const answer = await this.roll.known(`${address}/facts`);
        const facts = answer.ok ? await answer.json() : null;
        if (facts && !facts.error) this.facts.set(address, facts);
        else if (this.address === address) this.failed = facts ? `${facts.error.message} ${facts.error.hint}` : answer.status === 404 ? say.gone : say.lost;
      } catch { if (this.address === address) this.failed = say.lost; }
    }
    if (this.address !== address || !this.roll.music) return false; // the page may be another by now
    this.told = this.facts.get(address) ?? null;
    if (!this.told) { this.address = null; this.overview.draw(); return false; }
    const { habits, layers, heads } = this.told;
    this.failed = null;
    if (!this.picked || this.layer > layers) this.layer = habits.telling;
    if (this.known !== heads) { this.known = heads; this.on = new Set(Array(heads).keys()); }
    this.overview.load(address);
    return true;
  }

  get opened() { return this.wide || !!this.looks; } // a note's words need no large map
  get everyLayer() { return this.layer === this.told.layers; }
  get layers() { return this.everyLayer ? Array.from({ length: this.told.layers }, (_, i) => i) : [this.layer]; }
  get heads() { return [...this.on].sort((a, b) => a - b); }
  get oneWay() { return this.how === "max" ? "max" : "mean"; }
  get asOne() { return !this.looks || this.everyLayer || this.how !== "each"; }

  // The same choice as the server reads it.
  query(more = {}) {
    const { dark } = this.roll.paint, how = this.asOne ? this.oneWay : "each";
    const heads = this.on.size ? this.heads : [0], note = this.looks ? { note: this.looks.note } : {};
    return new URLSearchParams({ layers: this.layers, heads, how, way: this.way, moment: this.moment, k: this.count, theme: dark ? "dark" : "light", ...note, ...more });
  }

  set(change) {
    if ("layer" in change) this.picked = true;
    Object.assign(this, change);
    if ("wide" in change) try { sessionStorage.setItem(DEEP, this.wide ? "1" : "0"); } catch { /* it holds for this page */ }
    this.draw();
  }
  step(by) { if (this.told) this.set({ layer: clamp(this.layer + by, 0, this.told.layers) }); }
  choose(layer, head, more = {}) { this.set({ layer, on: new Set([head]), ...more }); }
  // Solo shows one head at once: the one that looks most. Without it all that were shown are back.
  alone(solo) {
    if (solo) {
      this.before = this.on;
      const most = this.on.size === 1 ? this.heads[0] : this.strongestHead();
      this.on = new Set([most]);
    } else if (this.before) this.on = this.before;
    this.set({ solo });
  }
  toggle(head) {
    if (this.solo) this.on = new Set(this.on.size === 1 && this.on.has(head) ? Array(this.told.heads).keys() : [head]);
    else if (!this.on.delete(head)) this.on.add(head);
    this.draw();
  }

  draw() {
    const { roll, looks, told } = this, { say } = roll;
    if (this.root.hidden || !roll.music) return;
    const more = this.find(".more"), body = this.find(".body");
    more.textContent = this.wide ? say.fewerMaps : say.moreMaps;
    more.setAttribute("aria-expanded", this.wide);
    more.hidden = !told;
    this.overview.draw(); // after that: an open panel has larger squares
    body.hidden = !told || !this.opened;
    for (const part of this.root.querySelectorAll(".deep")) part.hidden = !this.wide;
    if (looks) this.root.dataset.note = looks.note; else delete this.root.dataset.note;
    for (const part of this.root.querySelectorAll(".of-note")) part.hidden = !looks;
    if (!told) return;
    this.links();
    if (body.hidden) return this.answer();
    const focus = this.root.getRootNode().activeElement?.dataset.key;
    this.buttons();
    if (focus) this.find(`[data-key="${focus}"]`)?.focus();
    this.answer();
    if (!this.wide) return;
    this.habits.draw();
    this.map.load();
  }

  buttons() {
    const { roll, told } = this, { say } = roll;
    this.group(".ways", say.way, ["from", "to"].map((way) => this.button(way, say[way], way === this.way, () => this.set({ way }))));
    this.group(".moments", say.moment, ["wrote", "after"].map((moment) => this.button(moment, say[moment], moment === this.moment, () => this.set({ moment }), say[`${moment}Help`])));
    this.group(".layers", say.layer, [
      ...Array.from({ length: told.layers }, (_, l) => this.button(`l${l}`, l + 1, l === this.layer, () => this.set({ layer: l }))),
      this.button("lall", say.allLayers, this.everyLayer, () => this.set({ layer: told.layers })),
    ]);
    this.group(".heads", say.heads, [
      ...Array.from({ length: told.heads }, (_, h) => {
        const b = this.button(`h${h}`, h + 1, this.on.has(h), () => this.toggle(h));
        b.dataset.head = h;
        b.style.setProperty("--c", roll.paint.heads[h % 8]);
        b.prepend(make("i"));
        return b;
      }),
      this.button("solo", say.solo, this.solo, () => this.alone(!this.solo), say.soloHelp),
      this.button("all", say.all, null, () => this.set({ on: new Set(Array(told.heads).keys()), solo: false })),
      this.button("none", say.none, null, () => this.set({ on: new Set(), solo: false })),
    ]);
    this.group(".hows", say.how, ["each", "mean", "max"].map((how) => {
      const b = this.button(how, say[how], this.asOne ? how === this.oneWay : how === this.how, () => this.set({ how }));
      b.disabled = how === "each" && (this.everyLayer || !this.looks);
      return b;
    }));
    const count = this.find(".count");
    count.value = this.count;
    count.title = say.countHelp;
    count.setAttribute("aria-label", say.countHelp);
    this.find(".counted").textContent = this.count;
  }

  group(name, label, buttons) {
    const box = this.find(name);
    box.replaceChildren(...buttons);
    box.setAttribute("aria-label", label);
  }
  button(key, text, pressed, act, title) {
    const b = make("button", text, { type: "button", "data-key": key });
    if (pressed !== null) b.setAttribute("aria-pressed", pressed);
    if (title) b.title = title;
    b.addEventListener("click", act);
    return b;
  }

  destroy() { this.sight.disconnect(); this.map.fetcher.close(); }
}
