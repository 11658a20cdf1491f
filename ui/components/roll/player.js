// The sound of the roll: an audio element that reads a whole piece from the server's own address,
// and while a piece is being made, and until that is over, a `LiveSound`.

const SEAM_S = 3; // music is played from so long before the seam
const UNHEARD_MS = 4000; // after so long without leave to sound, the button says Play again
const SEEK_MS = 700; // so often it is asked for what the studio may know again
const begun = new Set(); // what has played by itself: once is enough, also where a roll is drawn anew

const player = {
  load(piece) {
    const { audio } = this;
    this.stream?.close();
    this.stream = null;
    audio.pause();
    this.attach(piece);
    const first = piece.mine && !begun.has(piece.id);
    if (first) begun.add(piece.id);
    if (first || piece.live) this.cursor = Math.max(0, piece.promptEnd - SEAM_S);
    this.buttons();
    if ((this.lost || this.sought) && !piece.live) this.status(this.say.gone, true); // what was there before
    else this.status();
    this.lost = this.tried = this.sought = false;
    if (first && (navigator.userActivation?.hasBeenActive ?? this.context)) this.begin();
  },

  attach(piece) {
    const { audio } = this;
    this.mute = !piece.audio && !piece.live;
    this.ready = audio.muted = false;
    this.heard = piece.audio;
    if (piece.audio) audio.src = piece.audio;
    else audio.removeAttribute("src");
    audio.load();
  },

  // Sound may only begin after a click on the page, and there was one: on the button that makes
  // music, before this roll was there perhaps. A browser that wants another one is not waited for.
  async begin() {
    await this.play();
    const { stream } = this;
    if (stream) setTimeout(() => { if (stream === this.stream && stream.wanted && this.context.state !== "running") this.pause(); }, UNHEARD_MS);
  },

  awake() {
    if (!this.context) {
      this.context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
      this.output = new GainNode(this.context, { gain: this.volume.gain });
      this.output.connect(this.context.destination);
    }
    this.context.resume();
  },

  // One loudness for the file that is kept and for what is heard while it is made.
  loud(gain) {
    this.audio.volume = gain;
    this.output?.gain.setTargetAtTime(gain, this.context.currentTime, 0.01);
  },

  playLive(options) {
    const { piece } = this.music;
    this.awake();
    this.stream ??= new LiveSound(this.output, this.address, (state) => this.liveChanged(state));
    this.stream.start(this.cursor, { skipSilence: this.cursor === 0 && piece.promptEnd === 0, ...options });
  },

  liveChanged(state) {
    if (state === "failed" && this.music?.piece.live) { this.mute = true; this.status(this.say.mute, true); }
    if (state === "gone") this.lose();
    if (["ended", "failed", "gone", "paused"].includes(state)) this.handOver();
    if (!this.music) return;
    if (this.music.piece.live) this.live(this.music.piece.live);
    this.buttons();
    this.redraw();
  },

  // The piece is whole: its notes are there, and its sound is being rendered.
  kept(piece) {
    this.attach(piece);
    this.status();
    if (!this.stream || !this.stream.wanted) this.handOver();
    this.buttons();
  },

  // The audio element goes on where the live sound stopped; not before the piece is whole.
  handOver() {
    const { stream } = this;
    if (!stream || !this.music || this.music.piece.live) return;
    this.cursor = Math.min(stream.seconds(), this.music.seconds);
    this.stream = null;
    stream.close();
    if (this.ready) this.audio.currentTime = this.cursor;
  },

  // What the studio does not know may be kept all the same: where it was started anew, or needed the
  // room, it has the piece again as soon as the page is drawn. Only what is asked for in vain then is gone.
  async known(address, options) {
    const { piece } = this.music, here = () => this.music?.piece.id === piece.id;
    let answer = await fetch(address, options);
    for (let left = 9; answer.status === 404 && left && here(); left--) {
      this.sought = true;
      this.status(this.say.seeks);
      if (left % 3 === 0) this.seekPiece(); // one that was just started may not hear it yet
      await new Promise((resolve) => setTimeout(resolve, SEEK_MS));
      if (here()) answer = await fetch(address, options);
    }
    if (this.sought && here()) { this.sought = false; this.status(); }
    return answer;
  },

  // The page is drawn anew, and shows this piece again where it is kept.
  seekPiece() { document.dispatchEvent(new CustomEvent("musicgen:seek", { detail: this.music.piece.id })); },

  // Nobody knows this piece any more: it is said, and not asked for again.
  lose() {
    if (this.lost || !this.music) return;
    this.lost = this.mute = true;
    this.status(this.say.gone, true);
    this.buttons();
    const { id } = this.music.piece;
    let left = 20;
    // So that the page shows what there is; a server that was just started may not hear it yet.
    const tell = () => { if (this.lost && this.music?.piece.id === id && left--) { this.trigger("done", id); setTimeout(tell, 3000); } };
    tell();
  },

  get playing() { return this.stream ? this.stream.wanted : !this.audio.paused; },
  get sounding() { return this.stream ? this.stream.state === "playing" : !this.audio.paused && this.ready && this.audio.readyState > 2; },

  buttons() {
    const play = this.find("[data-do=play]"), { say, playing, stream } = this;
    const waiting = playing && !this.sounding;
    play.querySelector("path").setAttribute("d", !playing ? "M3 2l11 6-11 6z" : waiting ? "M8 3a5 5 0 1 0 .1 0z" : "M3 2h3.6v12H3zM9.4 2H13v12H9.4z");
    play.querySelector(".word").textContent = waiting ? (stream ? say.waits : say.wait) : playing ? say.pause : say.play;
    play.toggleAttribute("data-wait", waiting);
    play.disabled = this.mute && !stream;
    const piece = this.music?.piece;
    this.find("[data-do=seam]").hidden = !(piece?.kind === "take" && piece.promptEnd > 0 && !this.mute);
  },

  async play() {
    if (this.mute && !this.stream) return;
    if (this.music.piece.live || this.stream) {
      if (this.stream?.state === "paused") this.stream.resume();
      else if (!this.stream?.wanted) this.playLive();
      return;
    }
    if (this.ready && this.cursor >= Math.min(this.audio.duration, this.music.seconds) - 0.05) this.seek(0);
    try { await this.audio.play(); } catch (error) { if (error.name !== "AbortError") this.buttons(); }
  },

  pause() {
    if (this.stream) this.stream.pause();
    else this.audio.pause();
  },

  toggle() { if (this.playing) this.pause(); else this.play(); },

  seek(seconds) {
    const { live, promptEnd } = this.music.piece, { playing } = this;
    this.cursor = clamp(seconds, 0, live ? promptEnd + live.made : this.music.seconds);
    if (this.stream && !live && this.ready) {
      this.stream.from = this.cursor;
      this.stream.silence();
      this.handOver();
      if (playing) this.play();
    } else if (this.stream) this.playLive({ skipSilence: false, paused: !playing });
    else if (this.ready) this.audio.currentTime = this.cursor;
    this.redraw();
  },

  // No sound is said in words; the notes stay, and so does the file.
  async silent() {
    if (this.mute || !this.music?.piece.audio) return;
    const { playing } = this;
    this.mute = true;
    this.buttons();
    const { piece } = this.music;
    let why = "";
    try {
      const answer = await this.known(piece.audio.replace(/\.\w+$/, ""));
      if (piece.id !== this.music?.piece.id) return; // another one is there
      if (answer.status === 404) return this.lose();
      const { error } = await answer.json();
      if (!error && !this.tried) return this.again(playing); // the studio was started anew, and has it
      if (error) why = ` ${error.message} ${error.hint}`;
    } catch { /* the server itself is gone, which the page says */ }
    if (!this.music) return; // its visitor has gone on
    this.status(this.say.mute + why, true);
    this.trigger("done", this.music.piece.id); // so that the page says it too
  },

  // Its sound is loaded once more, and goes on where it was.
  again(playing) {
    this.tried = true;
    this.attach(this.music.piece);
    this.buttons();
    if (playing) this.play();
  },

  async soundFacts() {
    try {
      const { warnings, gain } = await (await fetch(this.music.piece.audio.replace(/\.\w+$/, ""))).json();
      if (gain) this.stream?.settle(gain);
      // What is muted was just said, and the sound without it is what was loaded.
      if (warnings.length && !this.music.muted.size) this.status(warnings.join(" "));
    } catch { /* only remarks are lost */ }
  },
};
