// Manners of the whole page that Streamlit has not. The keyboard's focus stays where something was
// pressed: what takes the place of a button that goes gets it, else the page's heading. Where music was
// asked for the roll gets it, on which Space plays: on a button it would stop the music, or ask for more.

const HEIRS = { go: "roll", stop: "go", again_go: "roll", remove: "upload" };
const ROLL = ".mg[data-piece]", KEYS = ".over"; // where the roll says what it shows, and what has its keys
const PATIENCE_MS = 2500; // so long something may still come to its place
const MUSIC_MS = 1500; // so long the music that was asked for: until then Space would play another piece
const LOOK_MS = 100;

class Manners {
  constructor() {
    this.gone = new AbortController();
    const on = (name, act) => document.addEventListener(name, act, { signal: this.gone.signal, capture: true });
    on("focusin", (event) => this.remember(event.target));
    on("pointerdown", () => { this.last = null; }); // whoever clicks elsewhere wants no focus back
    on("musicgen:seek", ({ detail }) => this.trigger("outlived", detail)); // the roll's piece
    this.changes = new MutationObserver(() => this.look());
    this.changes.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["disabled"] });
  }

  update(_told, { setTriggerValue }) { this.trigger = setTriggerValue; }

  remember(element) {
    this.since = null;
    this.last = { element, key: this.keyOf(element), piece: this.roll()?.dataset.piece };
  }

  // The name that the page's script gave to what an element belongs to.
  keyOf(element) {
    const holder = element.closest?.("[class*='st-key-']");
    return holder && [...holder.classList].find((name) => name.startsWith("st-key-")).slice("st-key-".length);
  }

  look() {
    const { last } = this;
    if (!last || document.activeElement !== document.body || (last.element.isConnected && !last.element.disabled)) return;
    this.since ??= performance.now();
    const lost = performance.now() - this.since, asked = HEIRS[last.key] === "roll" && lost < MUSIC_MS;
    const heir = (asked ? ["roll"] : [HEIRS[last.key], last.key]).map((key) => key && this.within(key)).find(Boolean);
    if (heir) return heir.focus({ preventScroll: true });
    if (lost >= PATIENCE_MS) return this.heading();
    this.again ||= setTimeout(() => { this.again = 0; this.look(); }, LOOK_MS); // no change of the page may come
  }

  roll() {
    const parts = [...document.querySelectorAll(".st-key-roll, .st-key-roll *")];
    return parts.map((each) => each.shadowRoot?.querySelector(ROLL)).find(Boolean);
  }

  within(key) {
    if (key === "roll") {
      const roll = this.roll();
      return roll && roll.dataset.piece !== this.last.piece ? roll.querySelector(KEYS) : undefined;
    }
    return document.querySelector(`.st-key-${CSS.escape(key)} :is(button, input, a, [tabindex="0"]):not(:disabled)`);
  }

  heading() {
    const heading = document.querySelector(".stMain h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }

  destroy() {
    this.gone.abort();
    clearTimeout(this.again);
    this.changes.disconnect();
  }
}

export default mounting(Manners, ".mg-manners");
