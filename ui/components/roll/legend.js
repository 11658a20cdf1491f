// Who plays: colours and names, and a press that mutes; the sound without what is muted.

const MOST_TRACKS = 6; // in the legend, until all are asked for

const legend = {
  legend() {
    const { music, say, paint } = this, { piece } = music;
    paint.look();
    this.root.toggleAttribute("data-goes-on", this.goesOn); // a phone has room below the notes for what is offered
    const items = music.used.map((track) => this.trackItem(track));
    const few = this.allTracks || items.length <= MOST_TRACKS + 1 ? items : items.slice(0, MOST_TRACKS);
    // What the model made stands last, and is never hidden.
    const shown = few.length < items.length && items.at(-1).dataset.new ? [...few, items.at(-1)] : few;
    if (items.length > MOST_TRACKS + 1) {
      const more = make("button", this.allTracks ? say.fewer : fill(say.more, { n: items.length - shown.length }), { type: "button", class: "track", "data-key": "more", "aria-expanded": !!this.allTracks });
      more.addEventListener("click", () => { this.allTracks = !this.allTracks; this.legend(); });
      shown.push(more);
    }
    if (piece.pedals.length) shown.push(this.legendMark("span", paint.pedal, say.pedal, "lane"));
    const box = this.find(".legend"), focus = box.getRootNode().activeElement?.dataset.key;
    box.replaceChildren(...shown);
    box.toggleAttribute("data-many", shown.length > (music.meter ? 1 : 2)); // beside them stands one button more
    box.setAttribute("aria-label", say.tracks);
    if (focus) box.querySelector(`[data-key="${focus}"]`)?.focus();
    this.find(".over").setAttribute("aria-label", `${say.roll}: ${piece.title}. ${piece.live ? say.hintKeys : say.hint}`);
    const bars = this.find("[data-do=bars]");
    bars.hidden = !music.meter;
    bars.setAttribute("aria-pressed", this.bars);
    bars.title = music.meter?.kept === false ? say.barsFree : say.barsHelp;
  },

  legendMark(tag, colour, text, kind) {
    const item = make(tag), mark = make("i");
    mark.className = kind;
    mark.style.setProperty("--c", colour);
    item.append(mark, make("span", text));
    item.title = text;
    return item;
  },

  trackName(track) {
    const { say } = this, { kind, tracks } = this.music.piece;
    return kind === "example" ? say.example : tracks[track] ?? say.made;
  },

  trackItem(track) {
    const { music, say, paint } = this, { piece } = music;
    const mine = piece.newTrack === null || track === piece.newTrack;
    const canMute = !piece.live && piece.audio && music.used.length > 1 && track < 128;
    const colour = mine ? paint.fresh : paint.tracks[track % paint.tracks.length];
    const item = this.legendMark(canMute ? "button" : "span", colour, this.trackName(track), mine ? "full" : "hollow");
    if (mine) item.dataset.new = 1;
    if (!canMute) return item;
    item.type = "button";
    item.className = "track";
    item.dataset.key = `t${track}`;
    item.title = fill(say.muteHelp, { track: this.trackName(track) });
    item.setAttribute("aria-pressed", !music.muted.has(track));
    item.addEventListener("click", (event) => this.mute_(track, event.shiftKey));
    return item;
  },

  // One more track is not heard, or is heard again; alone: all others are not.
  mute_(track, alone) {
    const { music } = this;
    if (music.piece.live || music.used.length < 2 || !music.used.includes(track)) return;
    if (alone) {
      const others = music.used.filter((t) => t !== track), was = others.every((t) => music.muted.has(t)) && !music.muted.has(track);
      music.muted = new Set(was ? [] : others);
    } else if (!music.muted.delete(track)) music.muted.add(track);
    this.remix();
  },

  async remix() {
    const { music, audio, say } = this, { piece, muted, used } = music;
    this.legend();
    this.stale = true;
    this.redraw();
    const names = used.filter((t) => muted.has(t)).map((t) => this.trackName(t)).join(", ");
    const silent = muted.size === used.length;
    audio.muted = silent;
    let path = piece.audio;
    if (muted.size && !silent) {
      const mask = [...muted].reduce((bits, t) => bits | (1n << BigInt(t)), 0n).toString(16);
      path = piece.audio.replace(/\.wav$/, `/without/${mask}.wav`);
    }
    const run = (this.mixing = (this.mixing ?? 0) + 1);
    if (this.stream) { // what plays goes on, as a file
      const { playing } = this;
      this.handOver();
      if (playing) this.play();
    }
    if (path !== this.heard) {
      // What was heard goes on until what is to be heard is there.
      this.status(say.muting);
      try {
        const answer = await fetch(path, { headers: { Range: "bytes=0-1" } });
        if (run !== this.mixing || this.music !== music) return;
        if (!answer.ok) return this.status(say.mute, true);
      } catch { return this.status(say.lost, true); }
      const playing = this.playing;
      if (playing) this.cursor = audio.currentTime;
      this.heard = path;
      this.ready = false;
      audio.src = path;
      audio.load();
      if (playing) audio.play().catch(() => this.buttons());
    }
    this.status(names ? fill(say.muted, { tracks: names }) : undefined);
  },
};
