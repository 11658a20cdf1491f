// Manners of the whole page that Streamlit has not. The keyboard's focus stays where something was
// pressed: what takes the place of a button that goes gets it, else the page's heading. Where music was
// asked for the roll gets it, on which Space plays: on a button it would stop the music, or ask for more.

const HEIRS = { go: "roll", stop: "go", again_go: "roll", remove: "upload" };
const ROLL = ".over"; // what has the keys there
const PATIENCE_MS = 2500; // so long something may still come to its place

class Manners {
  constructor() {
    this.gone = new AbortController();
    const on = (name, act) => document.addEventListener(name, act, { signal: this.gone.signal, capture: true });
    on("focusin", (event) => this.remember(event.target));
    on("pointerdown", () => { this.last = null; }); // whoever clicks elsewhere wants no focus back
    this.changes = new MutationObserver(() => this.look());
    this.changes.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["disabled"] });
  }

  update() {}

  remember(element) {
    this.since = null;
    this.last = { element, key: this.keyOf(element) };
  }

  // The name that the page's script gave to what an element belongs to.
  keyOf(element) {
    const holder = element.closest?.("[class*='st-key-']");
    return holder && [...holder.classList].find((name) => name.startsWith("st-key-")).slice("st-key-".length);
  }

  look() {
    const { last } = this;
    if (!last || document.activeElement !== document.body || (last.element.isConnected && !last.element.disabled)) return;
    const heir = [HEIRS[last.key], last.key].map((key) => key && this.within(key)).find(Boolean);
    if (heir) return heir.focus({ preventScroll: true });
    if (!this.since) {
      this.since = performance.now();
      setTimeout(() => this.look(), PATIENCE_MS);
    } else if (performance.now() - this.since >= PATIENCE_MS) this.heading();
  }

  within(key) {
    if (key === "roll") {
      const parts = [...document.querySelectorAll(".st-key-roll, .st-key-roll *")];
      return parts.map((each) => each.shadowRoot?.querySelector(ROLL)).find(Boolean);
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
    this.changes.disconnect();
  }
}

export default mounting(Manners, ".mg-manners");
