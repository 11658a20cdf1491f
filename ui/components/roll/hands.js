// Buttons, pointer and keys of the roll.

const hands = {
  listen() {
    const { audio, root } = this;
    const on = (target, names, act, options) => names.split(" ").forEach((name) => target.addEventListener(name, act, { ...options, signal: this.gone.signal }));
    this.gone = new AbortController();
    on(audio, "play pause ended waiting playing", () => { this.buttons(); this.redraw(); });
    on(audio, "loadedmetadata", () => {
      this.ready = true;
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
      fit: () => { this.view.set(0, this.music.seconds, this.music); },
    };
    on(root, "click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button && this.music) { acts[button.dataset.do](button); this.redraw(); }
    });
    this.pointer(on);
    on(root, "keydown", (event) => this.key(event));
    // Who asks for music hears it as soon as there is some. Where a browser forgets a click as soon
    // as it is over, this one must open the sound; elsewhere it may come before the roll is there.
    on(document, "click", (event) => { if (event.target.closest?.(".st-key-go")) this.awake(); }, { capture: true });
    // Space plays from anywhere on the page where it has no other meaning.
    on(document, "keydown", (event) => { if (event.target === document.body && event.key === " ") this.key(event); });
    // Streamlit's words on a server that is gone name a program that nobody started: the theme has ours.
    this.dialogs = new MutationObserver(() => {
      const title = document.querySelector(".stDialog [role=dialog] h2");
      if (title?.textContent === "Connection error") title.closest(".stDialog").setAttribute("data-gone", "");
    });
    this.dialogs.observe(document.body, { childList: true });
    this.sizes = new ResizeObserver(() => { this.redraw(); this.panel.gaze && this.panel.draw(); });
    this.sizes.observe(root);
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => setTimeout(() => { this.legend(); this.redraw(); }, 300));
  },

  zoom(factor) {
    const { view, cursor } = this;
    const around = cursor >= view.from && cursor <= view.to ? cursor : (view.from + view.to) / 2;
    view.zoom(factor, around, this.music);
  },

  pointer(on) {
    const over = this.find(".over"), mini = this.find(".mini");
    let grip = null;
    on(over, "pointerdown", (event) => { grip = { x: event.offsetX, from: this.view.from, moved: false }; over.setPointerCapture(event.pointerId); });
    on(over, "pointermove", (event) => {
      if (!this.music) return;
      if (!grip) { over.style.cursor = this.paint.music && this.paint.hit(event.offsetX, event.offsetY) >= 0 ? "pointer" : "crosshair"; return; }
      const dx = event.offsetX - grip.x;
      if (Math.abs(dx) > 5) grip.moved = true;
      if (grip.moved) { this.view.shift(grip.from - dx / this.paint.perSecond - this.view.from, this.music); this.redraw(); }
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
    on(over, "wheel", (event) => {
      if (!this.music) return;
      if (event.ctrlKey || event.metaKey) this.view.zoom(Math.exp(event.deltaY / 300), this.paint.seconds(event.offsetX), this.music);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.view.shift((event.deltaX || event.deltaY) / this.paint.perSecond, this.music);
      else return;
      event.preventDefault();
      this.redraw();
    }, { passive: false });
    const to = (event) => { this.view.shift((event.offsetX / mini.clientWidth) * this.music.seconds - (this.view.from + this.view.to) / 2, this.music); this.redraw(); };
    on(mini, "pointerdown", (event) => { if (this.music) { mini.setPointerCapture(event.pointerId); to(event); } });
    on(mini, "pointermove", (event) => { if (event.buttons && this.music) to(event); });
  },

  key(event) {
    const { music } = this;
    if (!music || event.altKey || event.ctrlKey || event.metaKey) return;
    const onButton = event.target.closest?.("button");
    const step = (by) => this.choose(clamp(this.chosen < 0 ? this.nextNote() : this.chosen + by, 0, music.count - 1));
    const acts = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.seek(this.cursor - (event.shiftKey ? 10 : 2)),
      ArrowRight: () => this.seek(this.cursor + (event.shiftKey ? 10 : 2)),
      Home: () => this.seek(0),
      End: () => this.seek(music.seconds),
      ",": () => step(-1),
      ".": () => step(1),
      Escape: () => this.choose(-1),
      "+": () => this.zoom(1 / 1.5),
      "-": () => this.zoom(1.5),
      0: () => this.view.set(0, music.seconds, music),
    };
    if (!acts[event.key] || (onButton && [" ", "Enter"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    if (music.count || event.key === " ") acts[event.key]();
    this.redraw();
  },

  nextNote() {
    const i = this.music.on.findIndex((t) => t >= this.cursor);
    return i < 0 ? this.music.count - 1 : i;
  },
};
