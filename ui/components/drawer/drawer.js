// The drawer: one instance a mount, kept over Streamlit's reruns. Names go in as text, never as HTML.

const LOOK_MS = 700; // so often it is asked how far a piece has come

class Drawer {
  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.at = 0;
    this.cards = new Map();
    this.asked = new Set();
    this.gone = new AbortController();
    const on = (target, name, act) => target.addEventListener(name, act, { signal: this.gone.signal });
    on(document, "musicgen:at", (event) => this.playhead(event.detail));
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => setTimeout(() => this.paintAll(), 300));
    on(root, "click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button) this.press(button);
    });
    on(root, "keydown", (event) => this.key(event));
    const name = this.find(".name");
    on(name, "change", () => this.rename());
    this.sizes = new ResizeObserver(() => this.paintAll());
    this.sizes.observe(root);
  }

  update(told, { setTriggerValue }) {
    const before = this.told;
    this.told = told;
    this.trigger = setTriggerValue;
    this.say = told.say;
    this.shown = told.takes.find((take) => take.id === told.shown);
    if (before?.shown !== told.shown) this.at = 0;
    this.news(before);
    this.label();
    this.list();
    this.tools();
    this.keepFocus(before);
    for (const job of told.making) this.watch(job);
  }

  ask(what) { this.trigger("act", what); }

  // What a screen reader hears, and everybody reads, about what has changed.
  news(before) {
    const { told, say } = this, said = this.find(".said");
    const old = new Set(before?.takes.map((take) => take.id)), gone = new Set(before?.removed.map((take) => take.id));
    const fresh = before && told.takes.find((take) => !old.has(take.id));
    const removed = before && told.removed.find((take) => !gone.has(take.id));
    const [last] = told.removed;
    if (removed || (!before && last)) said.textContent = fill(say.removed, removed ?? last);
    else if (fresh) said.textContent = fill(gone.has(fresh.id) ? say.back : say.arrived, fresh);
    else if (before && (told.removed.length < before.removed.length || this.isBegun(before))) said.textContent = "";
  }

  // Another file, or other music: what was said of the last take is news no more.
  isBegun({ yours, making }) {
    const { told } = this, old = new Set(making.map((job) => job.id));
    return (told.yours?.id ?? null) !== (yours?.id ?? null) || told.making.some((job) => !old.has(job.id));
  }

  label() {
    const { say, told } = this, count = told.takes.length + told.making.length + (told.yours ? 1 : 0);
    const starred = told.takes.filter((take) => take.star).length;
    this.find(".heading").textContent = say.takes;
    const undo = this.find("[data-do=undo]"), [last] = told.removed;
    undo.hidden = !last;
    undo.textContent = told.removed.length > 1 ? `${say.undo} (${told.removed.length})` : say.undo;
    undo.title = last ? fill(say.undoHelp, last) : "";
    undo.setAttribute("aria-label", `${undo.textContent}: ${undo.title}`);
    const stars = this.find("[data-do=starred]");
    if (!starred) this.onlyStarred = false;
    stars.hidden = !starred;
    stars.textContent = `${say.starred} (${starred})`;
    stars.setAttribute("aria-pressed", !!this.onlyStarred);
    const all = this.find("[data-do=all]");
    all.hidden = count < 4;
    all.textContent = this.everything ? say.strip : `${say.all} (${count})`;
    all.setAttribute("aria-pressed", !!this.everything);
    this.find(".takes").setAttribute("aria-label", `${say.takes}. ${say.keys}`);
    this.find(".takes").toggleAttribute("data-all", !!this.everything);
    this.root.hidden = !told.takes.length && !told.making.length && !told.yours && !told.removed.length;
  }

  // What can be done with the take on the roll.
  tools() {
    const { shown, say, told } = this, tools = this.find(".tools");
    tools.hidden = !shown || told.comparing;
    if (tools.hidden) return;
    tools.setAttribute("aria-label", shown.title);
    const name = this.find(".name");
    if (name.dataset.id !== shown.id || name !== this.root.getRootNode().activeElement) name.value = shown.title;
    name.dataset.id = shown.id;
    name.title = say.nameHelp;
    name.setAttribute("aria-label", say.name);
    const star = tools.querySelector("[data-do=star]");
    if (!star.firstChild) star.append(starIcon());
    this.starred(star, shown);
    const busy = told.making.length > 0;
    const set = (what, text, help, disabled) => {
      const button = tools.querySelector(`[data-do=${what}]`);
      if (button.textContent !== text) button.textContent = text;
      button.title = help;
      button.disabled = disabled;
    };
    const inside = this.at > 0.05 && this.at < shown.seconds - told.least, at = inside ? clock(this.at) : say.playhead;
    set("on", say.on, say.onHelp, busy);
    set("onHere", fill(say.onHere, { at }), say.onHereHelp, busy || !inside);
    set("anew", fill(say.anew, { at }), say.anewHelp, busy || !inside);
    set("remove", say.remove, say.remove, false);
  }

  playhead({ id, seconds }) {
    if (!this.shown || id !== this.shown.id || Math.abs(seconds - this.at) < 0.05) return;
    this.at = seconds;
    this.tools();
  }

  // How far a piece has come; when it is there the page is told, until it shows it.
  async watch({ id, ask, wanted }) {
    if (this.asked.has(id)) return;
    this.asked.add(id);
    const going = () => !this.gone.signal.aborted && this.told.making.some((job) => job.id === id);
    for (let told = 0, unknown = false; going(); ) {
      try {
        let now = { state: "failed", made: 0, place: 0 };
        if (!unknown) { // a server that was begun anew does not know it: it is not asked again
          const answer = await fetch(ask, { signal: this.gone.signal });
          unknown = !answer.ok;
          if (answer.ok) now = await answer.json();
        }
        const card = this.cards.get("making" + id);
        if (card && going()) {
          card.style.setProperty("--done", `${(100 * now.made) / wanted}%`);
          card.querySelector("small").textContent = now.place ? fill(this.say.waiting, now) : fill(this.say.made_of, { made: now.made.toFixed(0), wanted: wanted.toFixed(0) });
        }
        if ((now.state === "done" || now.state === "failed") && going() && told++ % 4 === 0) this.trigger("done", id);
      } catch { /* the server may come back */ }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    this.asked.delete(id);
  }

  destroy() {
    this.gone.abort();
    this.sizes.disconnect();
  }
}

for (const part of [cards, acts]) Object.defineProperties(Drawer.prototype, Object.getOwnPropertyDescriptors(part));

export default mounting(Drawer, ".mg-drawer");
