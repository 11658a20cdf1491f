// The component: what it is told and shows; one instance a mount, kept over Streamlit's reruns.

const QUICK_MS = 150; // of choices that follow each other so fast only the last is asked for

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
    this.bars = false;
    this.hovered = -1;
    this.asked = 0;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.stacked = matchMedia("(max-width: 640px)"); // the settings stand above, not beside
    this.volume = new Volume(this.find(".volume"), (gain) => this.loud(gain));
    this.listen();
  }

  update({ piece, examples, say, busy }, { setStateValue, setTriggerValue }) {
    this.send = setStateValue;
    this.trigger = setTriggerValue;
    this.say = this.paint.say = say;
    this.busy = busy;
    this.volume.say(say);
    this.examples = examples;
    this.label();
    if (piece && !(this.local && examples.some((e) => e.id === this.local) && piece.id !== this.local)) {
      this.local = null;
      this.show(piece);
    } else if (!piece) this.root.hidden = true;
    this.chips();
    this.restyle();
  }

  // The page's colours may be others now.
  restyle() {
    if (!this.music) return;
    this.stale = true;
    this.legend();
    this.redraw();
    this.panel.draw();
  }

  label() {
    const { say } = this;
    const set = (name, title, text) => {
      const b = this.find(`[data-do=${name}]`);
      b.title = title;
      b.setAttribute("aria-label", text?.length > 1 ? `${text}: ${title}` : title); // what is read is what is seen, and more
      if (text) b.textContent = text;
    };
    set("start", say.toStart);
    set("seam", say.seam);
    set("out", say.out);
    set("in", say.in);
    set("fit", say.fitHelp, say.fit);
    set("follow", say.followHelp, say.follow);
    set("bars", say.barsHelp, say.bars);
    set("help", say.helpTitle, "?");
    keyList(this.find(".keys"), [...say.keys, ["?", say.help]]);
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
    const playing = this.playing && this.music.piece.id === piece.id;
    if (this.music.piece.id !== piece.id) {
      this.local = piece.id;
      this.show(piece);
      this.chips();
      this.send("pick", piece.id);
    }
    if (playing) this.pause();
    else this.play();
    this.redraw();
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
    if (note < 0) { this.panel.show(null); this.status(); }
    else {
      this.panel.pend();
      this.status(`${this.name(note)} — ${say.asks}`);
      const { from, to } = this.view;
      if (music.on[note] < from || music.on[note] > to) this.view.shift(music.on[note] - (from + to) / 2, music);
    }
    this.ask(note);
    this.redraw();
  }

  // Ask where the heads look; only the last of many quick choices is asked for.
  async ask(note) {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    if (note < 0) return;
    const before = this.asked;
    this.asked = performance.now();
    if (this.asked - before < QUICK_MS) await new Promise((resolve) => setTimeout(resolve, QUICK_MS));
    if (signal.aborted) return;
    const { piece } = this.music, name = this.name(note);
    try {
      const answer = await this.known(`${piece.maps}/note/${note}`, { signal });
      if (answer.status === 204) { this.panel.show(null); return this.status(`${name}. ${this.say.unseen}`); }
      if (answer.status === 404) return this.status(this.say.gone, true);
      if (!answer.ok) throw new Error(answer.status);
      if (isRefusal(answer)) {
        const { error } = await answer.json();
        this.panel.show(null);
        return this.status(`${error.message} ${error.hint}`, true);
      }
      const looks = new Looks(await answer.arrayBuffer());
      this.status(name);
      this.panel.show(looks);
    } catch (error) {
      if (error.name !== "AbortError") this.status(this.say.lost, true);
    }
  }

  name(note) {
    const { music, say } = this;
    return `${noteName(music.pitch[note])} · ${say.velocity} ${music.vel[note]} · ${this.when(music.on[note])}`;
  }

  // An instant as the ruler counts: bar and beat, or seconds.
  when(seconds) {
    if (!this.bars || !this.music.meter) return clock(seconds);
    const { bar, beat } = this.music.place(seconds);
    return fill(this.say.barAt, { bar, beat });
  }

  // What the large map points at, outlined here; a stretch of time brought into view.
  outline(link) {
    this.link = link;
    this.wake();
  }
  see(from, to) {
    const { view, music } = this, middle = (from + to) / 2;
    if (from < view.from || to > view.to) view.shift(middle - (view.from + view.to) / 2, music);
    this.redraw();
  }

  redraw() { this.dirty = true; this.wake(); }
  wake() { if (!this.frame && this.music) this.frame = requestAnimationFrame(() => this.tick()); }

  tick() {
    this.frame = 0;
    const { audio, view, music, paint } = this, playing = this.sounding;
    if (playing) {
      this.cursor = this.stream ? this.stream.seconds() : audio.currentTime;
      const span = view.to - view.from, place = (this.cursor - view.from) / span;
      if (this.follow && (place > (this.calm.matches ? 0.98 : 0.7) || place < 0) && span < music.seconds) {
        const before = view.from;
        view.shift(this.calm.matches || place < 0 || place > 1 ? (place - 0.1) * span : (place - 0.7) * span, music);
        if (view.from !== before) this.dirty = true;
      }
    }
    if (paint.over.clientWidth) {
      if (this.stale) paint.look();
      paint.measure(music, view, this.bars);
      if (this.dirty) { paint.drawBase((this.dimmed = this.arcs.length > 0)); paint.drawMini(this.stale); }
      paint.drawOver(this.cursor, this.chosen, this.arcs, playing, this.link);
      this.stale = false;
      this.offer();
    }
    this.dirty = false;
    const { bar, beat } = this.bars && music.meter ? music.place(this.cursor) : {};
    const time = `${bar ? `${bar}.${beat} · ` : ""}${clock(this.cursor)} / ${clock(music.seconds)}`;
    if (time !== this.time) this.find(".time").textContent = this.time = time;
    // The drawer below goes on from here.
    document.dispatchEvent(new CustomEvent("musicgen:at", { detail: { id: music.piece.id, seconds: this.spot } }));
    if (playing) this.wake();
  }

  destroy() {
    this.gone.abort();
    this.asking?.abort();
    this.sizes.disconnect();
    this.panel.destroy();
    this.dialogs.disconnect();
    this.volume.destroy();
    cancelAnimationFrame(this.frame);
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.music = null;
    this.stream?.close();
    this.stream = null; // the look at whether it is heard may still be to come
    this.context?.close();
  }
}

for (const part of [watching, player, legend, going, hands, keys]) Object.defineProperties(Roll.prototype, Object.getOwnPropertyDescriptors(part));

export default mounting(Roll, ".mg");
