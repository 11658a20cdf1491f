// What can be made from a point of a take or of a file, beside the roll itself: at the chosen note, or where the
// playhead rests.

const LEAST_S = 1; // less than that is no rest to be made anew
const GAP = 10; // pixels between the point and its buttons

const going = {
  get spot() { return this.chosen >= 0 ? this.music.on[this.chosen] : this.cursor; },

  get goesOn() {
    const { kind, live, deaf } = this.music.piece;
    return kind !== "example" && !live && !deaf;
  },

  canGoOn() {
    const { spot } = this;
    return this.goesOn && spot > 0.05 && spot < this.music.seconds - LEAST_S;
  },

  // It moves with the point, and lies over the roll: nothing on the page makes room for it, but on a phone,
  // where it would cover a third of the notes.
  offer() {
    const box = this.find(".here"), x = this.paint.x(this.spot), { left, width } = this.paint;
    const seen = this.canGoOn() && (this.chosen >= 0 || !this.sounding) && x >= left - 1 && x <= width;
    box.hidden = !seen;
    if (!seen) return;
    const { say } = this, at = clock(this.spot);
    if (at !== this.offered) {
      this.offered = at;
      box.setAttribute("aria-label", fill(say.onHere, { at }));
      this.word("on", fill(say.onHere, { at }), say.onHereHelp);
      this.word("anew", say.anewHere, say.anewHelp);
    }
    for (const button of box.children) button.disabled = this.busy;
    box.lastChild.hidden = this.music.piece.kind !== "take"; // of a file there is nothing to make anew
    const room = box.offsetWidth + GAP;
    box.style.setProperty("--top", `${this.paint.top + 6}px`);
    box.style.left = `${Math.round(clamp(x + room < width ? x + GAP : x - room, left + 4, Math.max(4, width - room)))}px`;
  },

  word(name, text, help) {
    const button = this.find(`[data-go=${name}]`);
    button.textContent = text;
    button.title = help;
  },

  // A click that asks for music lets it sound.
  goOn(name) {
    if (!this.canGoOn() || this.busy || (name === "anew" && this.music.piece.kind !== "take")) return;
    this.awake();
    this.find(".over").focus({ preventScroll: true }); // the button goes with the take
    this.trigger("act", { do: name, id: this.music.piece.id, at: this.spot });
  },
};
