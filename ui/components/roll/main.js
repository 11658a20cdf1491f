// The component: buttons, keys, pointer, player; one instance a mount, kept over Streamlit's reruns.

class Roll {
  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.paint = new Painter(root);
    this.panel = new GazePanel(root, this);
    this.audio = this.find("audio");
    this.view = new View();
    this.chosen = -1;
    this.cursor = 0;
    this.arcs = [];
    this.follow = true;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
  }

  update({ piece, examples, gaze, say }, send) {
    this.send = send;
    this.say = this.paint.say = say;
    this.examples = examples;
    this.label();
    if (piece && !(this.local && examples.some((e) => e.id === this.local) && piece.id !== this.local)) {
      this.local = null;
      this.show(piece);
    } else if (!piece) this.root.hidden = true;
    this.chips();
    this.look(gaze);
    this.redraw();
  }

  show(piece) {
    this.root.hidden = false;
    const before = this.music, same = before?.piece.id === piece.id;
    if (same && !piece.live) return;
    this.music = new Music(piece);
    if (same) this.music.widen(before);
    if (piece.live && piece.promptEnd === 0) this.music.widen({ low: 36, high: 88 });
    this.legend();
    if (!same) {
      this.chosen = -1;
      this.arcs = [];
      this.panel.show(null);
      this.view.fit(this.music);
      this.cursor = 0;
      this.load(piece);
    }
    this.live(piece.live);
  }

  load(piece) {
    const { audio } = this;
    audio.pause();
    this.mute = !piece.audio;
    this.ready = false;
    if (piece.audio) audio.src = piece.audio;
    else audio.removeAttribute("src");
    audio.load();
    this.buttons();
    this.status();
  }

  live(live) {
    const bar = this.find(".progress");
    bar.hidden = !live;
    if (!live) return;
    bar.setAttribute("aria-valuemax", live.wanted);
    bar.setAttribute("aria-valuenow", live.made);
    bar.setAttribute("aria-label", this.say.composing);
    bar.firstElementChild.style.width = `${(100 * live.made) / live.wanted}%`;
    const notes = this.music.piece.notes.on.length;
    this.status(live.place ? fill(this.say.queued, live) : live.state === "running"
      ? `${this.say.composing}: ${fill(this.say.made_of, { ...live, notes })}` : this.say.loading);
  }

  label() {
    const { say } = this;
    const set = (name, title, text) => {
      const b = this.find(`[data-do=${name}]`);
      b.title = title;
      b.setAttribute("aria-label", title);
      if (text) b.textContent = text;
    };
    set("start", say.start);
    set("seam", say.seam);
    set("out", say.out);
    set("in", say.in);
    set("fit", say.fitHelp, say.fit);
    set("follow", say.followHelp, say.follow);
    const keys = this.find(".keys");
    if (!keys.childElementCount) for (const [key, what] of say.keys) {
      const item = make("span");
      item.append(make("kbd", key), what);
      keys.append(item);
    }
  }

  legend() {
    const { music, say, paint } = this, { piece } = music;
    paint.look();
    const items = [];
    const add = (colour, text, kind) => {
      const item = make("span"), mark = make("i");
      mark.className = kind;
      mark.style.setProperty("--c", colour);
      item.append(mark, text);
      item.title = text;
      items.push(item);
    };
    const old = [...new Set(music.track.filter((_, i) => !music.isNew(i)))].sort((a, b) => a - b);
    for (const t of old.slice(0, 6)) {
      add(paint.tracks[t % paint.tracks.length], (old.length > 1 && piece.tracks[t]) || say.prompt, "hollow");
    }
    if (piece.kind !== "prompt") add(paint.fresh, say.made, "full");
    if (piece.pedals.length) add(paint.pedal, say.pedal, "lane");
    this.find(".legend").replaceChildren(...items);
    this.find(".over").setAttribute("aria-label", `${say.roll}: ${piece.title}. ${say.hint}`);
  }

  chips() {
    const box = this.find(".examples");
    box.hidden = !this.examples.length;
    if (box.hidden) return;
    const state = this.examples.map((e) => e.id).join() + this.music?.piece.id;
    if (state === this.chipState) return;
    this.chipState = state;
    box.replaceChildren(make("b", this.say.examples), ...this.examples.map((piece) => {
      const b = make("button", `▸ ${piece.title} `, { type: "button", "aria-pressed": piece.id === this.music?.piece.id });
      b.append(make("small", clock(piece.seconds, false)));
      b.addEventListener("click", () => this.example(piece));
      return b;
    }));
  }

  // An example sounds at once: its notes are here already, the server is only told.
  example(piece) {
    const playing = !this.audio.paused && this.music.piece.id === piece.id;
    if (this.music.piece.id !== piece.id) {
      this.local = piece.id;
      this.show(piece);
      this.chips();
      this.send("pick", { piece: piece.id, note: null });
    }
    if (playing) this.audio.pause();
    else this.play();
    this.redraw();
  }

  buttons() {
    const play = this.find("[data-do=play]"), { say, audio } = this;
    const waiting = !audio.paused && !this.ready;
    play.querySelector("path").setAttribute("d", audio.paused ? "M3 2l11 6-11 6z" : waiting ? "M8 3a5 5 0 1 0 .1 0z" : "M3 2h3.6v12H3zM9.4 2H13v12H9.4z");
    play.querySelector(".word").textContent = waiting ? say.wait : audio.paused ? say.play : say.pause;
    play.toggleAttribute("data-wait", waiting);
    play.disabled = this.mute;
    const piece = this.music?.piece;
    this.find("[data-do=seam]").hidden = !(piece?.kind === "take" && piece.promptEnd > 0 && !this.mute);
  }

  async play() {
    if (this.mute) return;
    if (this.ready && this.cursor >= this.audio.duration - 0.05) this.seek(0);
    try { await this.audio.play(); } catch (error) { if (error.name !== "AbortError") this.buttons(); }
  }
  toggle() { if (this.audio.paused) this.play(); else this.audio.pause(); }

  seek(seconds) {
    this.cursor = clamp(seconds, 0, this.music.seconds);
    if (this.ready) this.audio.currentTime = this.cursor;
    this.redraw();
  }

  // No sound is said in words; the notes stay, and so does the file.
  async silent() {
    if (this.mute || !this.music?.piece.audio) return;
    this.mute = true;
    this.buttons();
    let why = "";
    try {
      const { error } = await (await fetch(this.music.piece.audio.replace(/\.\w+$/, ""))).json();
      if (error) why = ` ${error.message} ${error.hint}`;
    } catch { /* the server itself is gone, which the page says */ }
    this.status(this.say.mute + why, true);
  }

  async soundFacts() {
    try {
      const { warnings } = await (await fetch(this.music.piece.audio.replace(/\.\w+$/, ""))).json();
      if (warnings.length) this.status(warnings.join(" "));
    } catch { /* only remarks are lost */ }
  }

  status(text, bad = false) {
    const line = this.find(".status");
    line.textContent = text ?? (this.music.piece.live ? this.say.hintLive : this.say.hint);
    line.toggleAttribute("data-bad", bad);
  }

  choose(note) {
    const { music, say } = this;
    if (music.piece.live) return;
    this.chosen = note;
    this.arcs = [];
    this.panel.show(null);
    if (note < 0) this.status();
    else {
      this.status(`${noteName(music.pitch[note])} · ${say.velocity} ${music.vel[note]} · ${clock(music.on[note])} — ${say.asks}`);
      const { from, to } = this.view;
      if (music.on[note] < from || music.on[note] > to) this.view.shift(music.on[note] - (from + to) / 2, music);
    }
    this.send("pick", { piece: music.piece.id, note: note < 0 ? null : note });
    this.redraw();
  }

  look(gaze) {
    const { music, say } = this;
    if (!music || !gaze || gaze.piece !== music.piece.id || gaze === this.lastGaze) return;
    if (this.chosen >= 0 && gaze.note !== this.chosen) return;
    this.chosen = gaze.note;
    this.lastGaze = gaze;
    const name = `${noteName(music.pitch[gaze.note])} · ${say.velocity} ${music.vel[gaze.note]} · ${clock(music.on[gaze.note])}`;
    if (gaze.error) return this.status(gaze.error, true);
    if (gaze.unseen) return this.status(`${name}. ${say.unseen}`);
    this.status(name);
    this.panel.show(gaze, music.piece);
  }

  redraw() { this.dirty = true; this.wake(); }
  wake() { if (!this.frame && this.music) this.frame = requestAnimationFrame(() => this.tick()); }

  tick() {
    this.frame = 0;
    const { audio, view, music, paint } = this, playing = !audio.paused && this.ready;
    if (playing) {
      this.cursor = audio.currentTime;
      const span = view.to - view.from, place = (this.cursor - view.from) / span;
      if (this.follow && (place > (this.calm.matches ? 0.98 : 0.7) || place < 0) && span < music.seconds) {
        const before = view.from;
        view.shift(this.calm.matches || place < 0 || place > 1 ? (place - 0.1) * span : (place - 0.7) * span, music);
        if (view.from !== before) this.dirty = true;
      }
    }
    if (this.over?.clientWidth !== 0) {
      paint.measure(music, view);
      if (this.dirty) { paint.look(); paint.drawBase(this.arcs.length > 0); paint.drawMini(); }
      paint.drawOver(this.cursor, this.chosen, this.arcs, playing);
    }
    this.dirty = false;
    this.find(".time").textContent = `${clock(this.cursor)} / ${clock(music.seconds)}`;
    if (playing) this.wake();
  }

  listen() {
    const { audio, root } = this;
    const on = (target, names, act, options) => names.split(" ").forEach((name) => target.addEventListener(name, act, { ...options, signal: this.gone.signal }));
    this.gone = new AbortController();
    on(audio, "play pause ended waiting playing", () => { this.buttons(); this.redraw(); });
    on(audio, "loadedmetadata", () => {
      this.ready = true;
      if (this.cursor > 0) audio.currentTime = this.cursor;
      this.buttons();
      this.soundFacts();
      this.redraw();
    });
    on(audio, "error", () => this.silent());
    const acts = {
      play: () => this.toggle(),
      start: () => { this.seek(0); this.view.shift(-1e9, this.music); },
      seam: () => { this.seek(this.music.piece.promptEnd - 3); this.play(); },
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
    // Space plays from anywhere on the page where it has no other meaning.
    on(document, "keydown", (event) => { if (event.target === document.body && event.key === " ") this.key(event); });
    this.sizes = new ResizeObserver(() => { this.redraw(); this.panel.gaze && this.panel.draw(); });
    this.sizes.observe(root);
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => setTimeout(() => { this.legend(); this.redraw(); }, 300));
  }

  zoom(factor) {
    const { view, cursor } = this;
    const around = cursor >= view.from && cursor <= view.to ? cursor : (view.from + view.to) / 2;
    view.zoom(factor, around, this.music);
  }

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
  }

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
  }

  nextNote() {
    const i = this.music.on.findIndex((t) => t >= this.cursor);
    return i < 0 ? this.music.count - 1 : i;
  }

  destroy() {
    this.gone.abort();
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.music = null;
  }
}

const mounted = new WeakMap();

export default function (component) {
  const { parentElement, data, setStateValue } = component;
  const root = parentElement.querySelector(".mg");
  let roll = mounted.get(root);
  if (!roll) {
    roll = new Roll(root);
    mounted.set(root, roll);
  }
  roll.update(data, setStateValue);
  return () => {
    roll.destroy();
    mounted.delete(root);
  };
}
