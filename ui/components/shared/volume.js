// How loud everything sounds: one knob wherever something plays, the same for all of them, and as it
// was left when the page is opened again.

const KNOB = "musicgen:volume"; // its name where the browser keeps it, and of the news of a change
const STEP = 5; // of a hundred
const SPEAKER = "M2 6h2.6L8.4 3v10L4.6 10H2z", WAVES = "M10.3 5.2a4 4 0 0 1 0 5.6M12.2 3.4a6.6 6.6 0 0 1 0 9.2", CROSS = "M10.6 6l4 4M14.6 6l-4 4";

class Volume {
  // `box` is filled with the knob; `changed` is called when it is another one.
  constructor(box, changed) {
    this.box = box;
    this.changed = changed;
    this.gone = new AbortController();
    this.recall();
    const on = (target, name, act) => target.addEventListener(name, act, { signal: this.gone.signal });
    this.button = make("button", undefined, { type: "button", class: "icon" });
    this.button.append(this.picture());
    this.slider = make("input", undefined, { type: "range", min: 0, max: 100, step: STEP });
    box.replaceChildren(this.button, this.slider);
    on(this.button, "click", () => this.keep(this.level, !this.muted));
    on(this.slider, "pointerdown", () => { this.from = this.level; });
    on(this.slider, "keydown", () => { this.from = undefined; });
    on(this.slider, "input", () => this.set(Number(this.slider.value)));
    on(document, KNOB, ({ detail }) => { Object.assign(this, detail); this.show(); });
    on(window, "storage", (event) => { if (event.key === KNOB) { this.recall(); this.show(); } });
  }

  picture() {
    const name = "http://www.w3.org/2000/svg", svg = document.createElementNS(name, "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.setAttribute("aria-hidden", "true");
    for (const [kind, d] of [["speaker", SPEAKER], ["waves", WAVES], ["cross", CROSS]]) {
      const path = document.createElementNS(name, "path");
      path.setAttribute("d", d);
      path.setAttribute("class", kind);
      svg.append(path);
    }
    return svg;
  }

  say(say) {
    this.words = say;
    this.show();
  }

  // What it is multiplied with: half the way is half as loud to the ear, about.
  get gain() { return this.muted ? 0 : (this.level / 100) ** 2; }
  get said() { return this.muted ? this.words.isOff : `${this.level} %`; }

  recall() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(KNOB)); } catch { /* a browser that keeps nothing */ }
    this.level = kept?.level > 0 && kept.level <= 100 ? kept.level : 100;
    this.muted = kept?.muted === true;
  }

  // Pulled down to nothing it is muted, and comes back as loud as it was.
  set(level) { this.keep(level || (this.from ?? this.level), level === 0); }
  step(by) { this.set(clamp((this.muted ? 0 : this.level) + by * STEP, 0, 100)); }

  keep(level, muted) {
    const detail = { level, muted };
    try { localStorage.setItem(KNOB, JSON.stringify(detail)); } catch { /* it holds for this page */ }
    document.dispatchEvent(new CustomEvent(KNOB, { detail }));
  }

  show() {
    const { words, slider, button } = this;
    this.box.setAttribute("aria-label", words.volume);
    this.box.toggleAttribute("data-muted", this.muted);
    button.setAttribute("aria-pressed", this.muted);
    button.setAttribute("aria-label", words.soundOff);
    button.title = this.muted ? words.soundOn : words.soundOff;
    slider.value = this.muted ? 0 : this.level;
    slider.setAttribute("aria-label", words.volume);
    slider.setAttribute("aria-valuetext", this.said);
    slider.title = `${words.volume}: ${this.said}`;
    this.box.style.setProperty("--level", `${slider.value}%`);
    this.changed(this.gain);
  }

  destroy() { this.gone.abort(); }
}
