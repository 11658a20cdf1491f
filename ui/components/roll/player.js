// The sound of the roll: an audio element that reads from the server's own address.

const player = {
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
  },

  buttons() {
    const play = this.find("[data-do=play]"), { say, audio } = this;
    const waiting = !audio.paused && !this.ready;
    play.querySelector("path").setAttribute("d", audio.paused ? "M3 2l11 6-11 6z" : waiting ? "M8 3a5 5 0 1 0 .1 0z" : "M3 2h3.6v12H3zM9.4 2H13v12H9.4z");
    play.querySelector(".word").textContent = waiting ? say.wait : audio.paused ? say.play : say.pause;
    play.toggleAttribute("data-wait", waiting);
    play.disabled = this.mute;
    const piece = this.music?.piece;
    this.find("[data-do=seam]").hidden = !(piece?.kind === "take" && piece.promptEnd > 0 && !this.mute);
  },

  async play() {
    if (this.mute) return;
    if (this.ready && this.cursor >= this.audio.duration - 0.05) this.seek(0);
    try { await this.audio.play(); } catch (error) { if (error.name !== "AbortError") this.buttons(); }
  },

  toggle() { if (this.audio.paused) this.play(); else this.audio.pause(); },

  seek(seconds) {
    this.cursor = clamp(seconds, 0, this.music.seconds);
    if (this.ready) this.audio.currentTime = this.cursor;
    this.redraw();
  },

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
    this.trigger("done", this.music.piece.id); // so that the page says it too
  },

  async soundFacts() {
    try {
      const { warnings } = await (await fetch(this.music.piece.audio.replace(/\.\w+$/, ""))).json();
      if (warnings.length) this.status(warnings.join(" "));
    } catch { /* only remarks are lost */ }
  },
};
