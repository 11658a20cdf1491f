// The component: what it is told and shows; one instance a mount, kept over Streamlit's reruns.

const LONG_S = 8; // so long compiled code takes to be read; more is compiling
const MOST_TRACKS = 6; // in the legend

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
    this.stacked = matchMedia("(max-width: 640px)"); // the settings stand above, not beside
    this.listen();
  }

  update({ piece, examples, say }, send, trigger) {
    this.send = send;
    this.trigger = trigger;
    this.say = this.paint.say = say;
    this.examples = examples;
    this.label();
    if (piece && !(this.local && examples.some((e) => e.id === this.local) && piece.id !== this.local)) {
      this.local = null;
      this.show(piece);
    } else if (!piece) this.root.hidden = true;
    this.chips();
    this.redraw();
  }

  show(piece, growing = false) {
    this.root.hidden = false;
    const before = this.music, same = before?.piece.id === piece.id;
    const finished = same && before.piece.live && !piece.live;
    if (same && !finished && !(piece.live && growing)) return;
    this.music = new Music(piece);
    if (same) this.music.widen(before);
    if (piece.live && piece.promptEnd === 0) this.music.widen({ low: 36, high: 88 });
    this.legend();
    if (!same) {
      this.asking?.abort();
      this.chosen = -1;
      this.arcs = [];
      this.panel.show(null);
      this.view.fit(this.music);
      this.cursor = 0;
      this.address = piece.live?.sound;
      this.load(piece);
    }
    if (finished) this.kept(piece);
    this.live(piece.live);
    // What is being made, and then what was made, is to be seen without looking for it.
    const begun = !same && (piece.live || before?.piece.live);
    if (this.stacked.matches && (begun || finished)) requestAnimationFrame(() => this.intoView());
    if (!same && piece.live) this.watch(piece);
  }

  // No further than needed: the button that stops stays in view above the roll.
  intoView() {
    this.root.scrollIntoView({ block: "nearest", behavior: this.calm.matches ? "auto" : "smooth" });
  }

  // Notes appear as they are made. When all are there the page is told, again until it has heard.
  async watch(piece) {
    let told = 0, missed = 0;
    const going = () => this.music?.piece.id === piece.id && this.music.piece.live && !this.lost;
    while (going()) {
      // The first notes are waited for, and what is sounding is to be seen.
      await new Promise((resolve) => setTimeout(resolve, missed > 3 ? 1000 : this.music.piece.live.notes.on.length ? 300 : 80));
      let now;
      try {
        const answer = await fetch(piece.live.ask);
        if (answer.status === 404) return going() && this.lose();
        now = await answer.json();
        missed = 0;
      } catch {
        if (going() && ++missed > 3) this.status(this.say.lost, true);
        continue; /* the server may come back */
      }
      if (!going()) return;
      const notes = { ...piece.notes };
      for (const name of Object.keys(notes)) notes[name] = notes[name].concat(now.notes[name]);
      notes.track = piece.notes.track.concat(now.notes.on.map(() => piece.newTrack));
      this.show({ ...piece, notes, live: now }, true);
      this.redraw();
      if ((now.state === "done" || now.state === "failed") && told++ % 6 === 0) this.trigger("done", piece.id);
    }
  }

  live(live) {
    const bar = this.find(".progress");
    bar.hidden = !live;
    // A screen reader hears of the beginning and the end, not of every note or second.
    const counts = live && !live.place && (live.notes.on.length || live.since), waits = this.stream?.state === "waiting" && this.stream.heard;
    this.find(".status").setAttribute("aria-live", counts && !waits ? "off" : "polite");
    if (!live) return;
    bar.setAttribute("aria-valuemax", live.wanted);
    bar.setAttribute("aria-valuenow", live.made);
    bar.setAttribute("aria-label", this.say.composing);
    bar.firstElementChild.style.width = `${(100 * live.made) / live.wanted}%`;
    const notes = live.notes.on.length, { say } = this;
    const composing = live.state === "done" ? say.finishing : live.ending ? say.ending : say.composing;
    const ready = live.state === "preparing" ? say.preparing + (live.since < LONG_S ? "" : `. ${say.compiling}`) : say.loading;
    if (this.lost) this.status(say.gone, true);
    else if (this.mute) this.status(say.mute, true);
    else if (waits) this.status(say.waiting);
    else this.status(live.place ? fill(say.queued, live) : ["reading", "running", "done"].includes(live.state)
      ? `${composing}: ${fill(say.made_of, { ...live, notes })}` : fill(ready, live));
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
    const shown = old.length > MOST_TRACKS ? old.slice(0, MOST_TRACKS - 1) : old;
    for (const t of shown) {
      add(paint.tracks[t % paint.tracks.length], (old.length > 1 && piece.tracks[t]) || say.prompt, "hollow");
    }
    const more = old.length - shown.length;
    if (more) items.push(make("span", fill(say.more, { n: more }), { title: piece.tracks.slice(shown.length).join(", ") }));
    if (piece.kind !== "prompt") add(paint.fresh, piece.kind === "example" ? say.example : say.made, "full");
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
    this.panel.show(null);
    if (note < 0) this.status();
    else {
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
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (signal.aborted) return;
    const { piece } = this.music, name = this.name(note);
    try {
      const answer = await fetch(`${piece.maps}/note/${note}`, { signal });
      const found = await answer.json();
      if (!answer.ok) return this.status(`${found.message} ${found.hint}`, true);
      if (found.unseen) return this.status(`${name}. ${this.say.unseen}`);
      this.status(name);
      this.panel.show(found);
    } catch (error) {
      if (error.name !== "AbortError") this.status(this.say.lost, true);
    }
  }

  name(note) {
    const { music, say } = this;
    return `${noteName(music.pitch[note])} · ${say.velocity} ${music.vel[note]} · ${clock(music.on[note])}`;
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
      paint.measure(music, view);
      if (this.dirty) { paint.look(); paint.drawBase(this.arcs.length > 0); paint.drawMini(); }
      paint.drawOver(this.cursor, this.chosen, this.arcs, playing);
    }
    this.dirty = false;
    this.find(".time").textContent = `${clock(this.cursor)} / ${clock(music.seconds)}`;
    if (playing) this.wake();
  }

  destroy() {
    this.gone.abort();
    this.sizes.disconnect();
    this.dialogs.disconnect();
    cancelAnimationFrame(this.frame);
    this.audio.pause();
    this.audio.removeAttribute("src");
    this.music = null;
    this.stream?.close();
    this.context?.close();
  }
}

for (const part of [player, hands]) Object.defineProperties(Roll.prototype, Object.getOwnPropertyDescriptors(part));

const mounted = new WeakMap();

export default function (component) {
  const { parentElement, data, setStateValue, setTriggerValue } = component;
  const root = parentElement.querySelector(".mg");
  let roll = mounted.get(root);
  if (!roll) {
    roll = new Roll(root);
    mounted.set(root, roll);
  }
  roll.update(data, setStateValue, setTriggerValue);
  return () => {
    roll.destroy();
    mounted.delete(root);
  };
}
