// Which piece is shown, and how one that is being made grows.

const LONG_S = 8; // so long compiled code takes to be read; more is compiling

const watching = {
  show(piece, growing = false) {
    this.root.hidden = false;
    const before = this.music, same = before?.piece.id === piece.id;
    const finished = same && before.piece.live && !piece.live;
    if (same && !finished && !(piece.live && growing)) return;
    this.music = new Music(piece);
    this.root.dataset.piece = piece.id; // who asked for it gets the keys then
    if (!same) { this.bars = !!this.music.meter?.kept; this.allTracks = false; this.link = null; }
    this.stale = true;
    if (same) this.music.widen(before);
    if (piece.live && piece.promptEnd === 0) this.music.widen({ low: 36, high: 88 });
    this.legend();
    if (!same) {
      this.asking?.abort();
      this.chosen = -1;
      this.arcs = [];
      this.held = false;
      this.view.fit(this.music);
      this.cursor = 0;
      this.address = piece.live?.sound;
      this.load(piece);
    }
    if (!same || finished) this.panel.open();
    if (finished) {
      this.refit();
      this.kept(piece);
    }
    this.live(piece.live);
    // What is being made, and then what was made, is to be seen without looking for it.
    const begun = !same && (piece.live || before?.piece.live);
    if (this.stacked.matches && (begun || finished)) requestAnimationFrame(() => this.intoView());
    if (!same && piece.live) this.watch(piece);
  },

  // The whole piece is seen once it is there, unless its visitor has chosen what to see.
  refit() {
    const { view, music } = this;
    if (this.held === "whole") this.whole();
    else if (this.held) view.set(view.from, view.to, music);
    else view.fit(music);
  },

  // No further than needed: the button that stops stays in view above the roll, and what the heads
  // look at may stay below.
  intoView() {
    const foot = this.root.querySelector(".foot"), isBelow = foot.getBoundingClientRect().bottom > innerHeight;
    const edge = isBelow ? foot : this.root.querySelector(".bar");
    edge.scrollIntoView({ block: "nearest", behavior: this.calm.matches ? "auto" : "smooth" });
  },

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
  },

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
    else this.status(live.place ? fill(live.wait ? say.queued_for : say.queued, live) : ["reading", "running", "done"].includes(live.state)
      ? `${composing}: ${fill(say.made_of, { ...live, notes })}` : fill(ready, live));
  },
};
