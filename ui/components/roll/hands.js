// Buttons and pointer of the roll.

const hands = {
  listen() {
    const { audio, root } = this;
    const on = (target, names, act, options) => names.split(" ").forEach((name) => target.addEventListener(name, act, { ...options, signal: this.gone.signal }));
    this.gone = new AbortController();
    on(audio, "play pause ended waiting playing", () => { this.buttons(); this.redraw(); });
    on(audio, "loadedmetadata", () => {
      this.ready = true;
      this.tried = false;
      if (this.stream) this.liveChanged(this.stream.state);
      if (this.cursor > 0) audio.currentTime = this.cursor;
      this.buttons();
      this.soundFacts();
      this.redraw();
    });
    on(audio, "error", () => this.silent());
    const acts = {
      play: () => this.toggle(),
      start: () => { this.seek(0); this.view.shift(-1e9, this.music); },
      seam: () => { this.seek(this.music.piece.promptEnd - SEAM_S); this.play(); },
      follow: (b) => { this.follow = !this.follow; b.setAttribute("aria-pressed", this.follow); },
      out: () => this.zoom(1.5),
      in: () => this.zoom(1 / 1.5),
      fit: () => this.whole(),
      bars: () => { this.bars = !this.bars; this.legend(); this.panel.draw(); },
      help: () => this.help(),
    };
    on(this.find(".here"), "click", (event) => { const button = event.target.closest("[data-go]"); if (button) this.goOn(button.dataset.go); });
    on(root, "click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button && this.music) { acts[button.dataset.do](button); this.redraw(); }
    });
    this.pointer(on);
    on(root, "keydown", (event) => this.key(event));
    // Who asks for music hears it as soon as there is some. Where a browser forgets a click as soon
    // as it is over, this one must open the sound; elsewhere it may come before the roll is there.
    on(document, "click", (event) => { if (event.target.closest?.(".st-key-go")) this.awake(); }, { capture: true });
    on(document, "musicgen:wake", () => this.awake());
    // Space plays from anywhere on the page where it has no other meaning.
    on(document, "keydown", (event) => { if (event.target === document.body && event.key === " ") this.key(event); });
    // Streamlit's words on a server that is gone name a program that nobody started: the theme has ours.
    this.dialogs = new MutationObserver(() => {
      const title = document.querySelector(".stDialog [role=dialog] h2");
      const away = title?.textContent === "Connection error";
      if (away) title.closest(".stDialog").setAttribute("data-gone", "");
      else if (this.away && this.music) this.seekPiece(); // it is back, and knows nothing of this page
      this.away = away;
    });
    this.dialogs.observe(document.body, { childList: true });
    this.sizes = new ResizeObserver(() => {
      if (root.clientWidth === this.wide) return; // only the panel below became taller
      this.wide = root.clientWidth;
      this.stale = true;
      this.redraw();
      if (this.music) this.panel.draw();
    });
    this.sizes.observe(root);
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => setTimeout(() => { this.restyle(); }, 300));
    on(this.find(".help"), "click", (event) => { if (event.target === event.currentTarget || event.target.closest("button")) event.currentTarget.close(); });
  },

  // The note under the pointer is also seen on the large map.
  hover(note) {
    this.find(".over").style.cursor = note >= 0 ? "pointer" : "crosshair";
    if (note === this.hovered) return;
    this.hovered = note;
    this.panel.map.follow(note);
  },

  // What its visitor has chosen to see stays when a piece is done; `refit` does that.
  whole() {
    this.held = "whole";
    this.view.set(0, this.music.seconds, this.music);
  },

  shift(seconds) {
    this.held = true;
    this.view.shift(seconds, this.music);
  },

  zoom(factor) {
    const { view, cursor } = this;
    this.held = true;
    const around = cursor >= view.from && cursor <= view.to ? cursor : (view.from + view.to) / 2;
    view.zoom(factor, around, this.music);
  },

  pointer(on) {
    const over = this.find(".over"), mini = this.find(".mini");
    let grip = null;
    on(over, "pointerdown", (event) => { grip = { x: event.offsetX, from: this.view.from, moved: false }; over.setPointerCapture(event.pointerId); });
    on(over, "pointermove", (event) => {
      if (!this.music) return;
      if (!grip) return this.hover(this.paint.music ? this.paint.hit(event.offsetX, event.offsetY) : -1);
      const dx = event.offsetX - grip.x;
      if (Math.abs(dx) > 5) grip.moved = true;
      if (grip.moved) { this.shift(grip.from - dx / this.paint.perSecond - this.view.from); this.redraw(); }
    });
    on(over, "pointerup", (event) => {
      if (grip && !grip.moved && this.music) {
        const note = this.paint.hit(event.offsetX, event.offsetY);
        if (note >= 0) this.choose(note);
        else if (!this.mute) this.seek(this.paint.seconds(event.offsetX));
      }
      grip = null;
    });
    on(over, "pointercancel", () => { grip = null; });
    on(over, "pointerleave", () => this.hover(-1));
    on(over, "wheel", (event) => {
      if (!this.music) return;
      if (event.ctrlKey || event.metaKey) { this.held = true; this.view.zoom(Math.exp(event.deltaY / 300), this.paint.seconds(event.offsetX), this.music); }
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.shift((event.deltaX || event.deltaY) / this.paint.perSecond);
      else return;
      event.preventDefault();
      this.redraw();
    }, { passive: false });
    const to = (event) => { this.shift((event.offsetX / mini.clientWidth) * this.music.seconds - (this.view.from + this.view.to) / 2); this.redraw(); };
    on(mini, "pointerdown", (event) => { if (this.music) { mini.setPointerCapture(event.pointerId); to(event); } });
    on(mini, "pointermove", (event) => { if (event.buttons && this.music) to(event); });
  },
};
