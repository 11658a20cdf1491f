// Two takes on one playhead. Both sound at once and one is heard, so that going from one to the other
// keeps the place. Which of the two is A is drawn by lot; names and notes are hidden until the vote.

const HEARD_S = 1.5; // of each so much must have been heard before a vote, of what is not the same
const LEAD_S = 2; // where they begin alike, they are played from so long before they part
const DRIFT_S = 0.06; // two players that are further apart are put together again
const FADE_S = 0.012; // a switch must not click
const LETTERS = ["A", "B"];

class Versus {
  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.players = [...root.querySelectorAll("audio")];
    this.lanes = this.find(".lanes");
    this.gone = new AbortController();
    this.volume = new Volume(this.find(".volume"), (gain) => this.output?.gain.setTargetAtTime(gain, this.context.currentTime, FADE_S));
    const on = (target, names, act) => names.split(" ").forEach((name) => target.addEventListener(name, act, { signal: this.gone.signal }));
    on(root, "click", (event) => this.press(event.target.closest("button")));
    on(root, "keydown", (event) => this.key(event));
    on(this.lanes, "pointerdown", (event) => this.seek((event.offsetX / this.lanes.clientWidth) * this.seconds));
    this.players.forEach((audio, side) => {
      on(audio, "play pause ended waiting playing canplay", () => { this.ready(); this.redraw(); });
      on(audio, "error", () => { if (audio.getAttribute("src")) { this.mute = side; this.words(); } });
    });
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => setTimeout(() => this.redraw(), 300));
    this.sizes = new ResizeObserver(() => this.redraw());
    this.sizes.observe(root);
  }

  update({ one, other, parting, say }, { setTriggerValue }) {
    this.trigger = setTriggerValue;
    this.say = say;
    this.parting = parting ?? 0;
    this.volume.say(say);
    const pair = [one.id, other.id].sort().join();
    if (pair === this.pair) {
      // Another title, perhaps: what is shown keeps its order.
      const known = { [one.id]: one, [other.id]: other };
      this.sides = this.sides.map((side) => known[side.id]);
      return this.words();
    }
    this.pair = pair;
    this.both = [one, other];
    this.shuffle();
    // What was pressed lies below, and may be hidden now.
    this.find("[data-do=play]").focus({ preventScroll: true });
    bringIntoView(this.root);
  }

  shuffle() {
    const swap = crypto.getRandomValues(new Uint8Array(1))[0] & 1;
    this.pause();
    this.sides = swap ? [this.both[1], this.both[0]] : [...this.both];
    this.state = "blind"; // then: voted, open
    this.mute = null;
    this.heard = [0, 0];
    this.side = 0;
    this.cursor = this.begin;
    this.seconds = Math.max(...this.sides.map((piece) => piece.seconds), 1);
    this.players.forEach((audio, side) => { audio.src = this.sides[side].audio; audio.load(); });
    this.words();
    this.redraw();
  }

  get begin() { return Math.max(0, this.parting - LEAD_S); }

  words() {
    const { say, state, sides } = this, blind = state === "blind";
    const text = (name, said) => { this.find(name).textContent = said; };
    text(".heading", say.heading);
    text("[data-do=close]", say.close);
    text(".question", say.better);
    text("[data-do=reveal]", say.reveal);
    text("[data-do=again]", say.again);
    text("[data-vote=same]", say.same);
    const start = this.find("[data-do=start]");
    start.title = say.start;
    start.setAttribute("aria-label", say.start);
    this.find(".switch").setAttribute("aria-label", say.listen);
    this.find(".switch").title = say.switchHelp;
    this.find(".vote").setAttribute("aria-label", say.better);
    this.root.querySelectorAll("[data-side]").forEach((button, side) => {
      button.setAttribute("aria-checked", side === this.side);
      button.tabIndex = side === this.side ? 0 : -1;
      button.setAttribute("aria-label", blind ? LETTERS[side] : fill(say.lane, { letter: LETTERS[side], title: sides[side].title }));
    });
    const may = this.heard.every((s) => s >= HEARD_S) && this.mute === null;
    this.root.querySelectorAll("[data-vote]").forEach((button) => {
      const side = button.dataset.vote;
      if (side !== "same") button.textContent = fill(say.isBetter, { letter: LETTERS[side] });
      button.hidden = !blind;
      button.disabled = !may;
    });
    this.find(".question").hidden = this.find("[data-do=reveal]").hidden = !blind;
    this.find("[data-do=again]").hidden = blind;
    let said = state === "open" ? say.revealed : this.begin > 0 ? fill(say.sameUntil, { at: clock(this.parting) }) : say.listenFirst;
    if (this.mute !== null) said = fill(say.mute, { title: blind ? LETTERS[this.mute] : sides[this.mute].title });
    else if (state === "voted") said = this.better === "same" ? say.equal : fill(say.preferred, { letter: LETTERS[this.better], title: sides[this.better].title });
    if (this.find(".status").textContent !== said) text(".status", said);
    keyList(this.find(".keys"), say.keys);
    this.ready();
  }

  get playing() { return this.wanted === true; }
  get lead() { return this.players[this.side].ended ? this.players[1 - this.side] : this.players[this.side]; }

  ready() {
    const play = this.find("[data-do=play]"), waits = this.playing && this.lead.readyState < 3;
    play.querySelector("path").setAttribute("d", this.playing ? "M3 2h3.6v12H3zM9.4 2H13v12H9.4z" : "M3 2l11 6-11 6z");
    play.querySelector(".word").textContent = waits ? this.say.wait : this.playing ? this.say.pause : this.say.play;
    if (this.playing && this.players.every((audio) => audio.ended)) this.pause();
  }

  // Through the browser's mixer, so that a switch is a fade of a hundredth of a second.
  mixer() {
    if (this.context) return this.context.resume();
    this.context = new AudioContext();
    this.output = new GainNode(this.context, { gain: this.volume.gain });
    this.output.connect(this.context.destination);
    this.gains = this.players.map((audio, side) => {
      const gain = new GainNode(this.context, { gain: Number(side === this.side) });
      this.context.createMediaElementSource(audio).connect(gain).connect(this.output);
      return gain;
    });
  }

  async play() {
    this.mixer();
    this.wanted = true;
    if (this.cursor >= this.seconds - 0.05) this.cursor = this.begin;
    this.place();
    this.ready();
    // Both are there before either begins: they are to begin together.
    await Promise.all(this.players.map((audio) => new Promise((resolve) => {
      if (audio.readyState > 2 || audio.error) resolve();
      else for (const name of ["canplay", "error"]) audio.addEventListener(name, resolve, { once: true, signal: this.gone.signal });
    })));
    if (!this.wanted) return;
    for (const audio of this.players) if (this.cursor < (audio.duration || 0)) audio.play().catch(() => this.pause());
    this.redraw();
  }

  pause() {
    this.wanted = false;
    for (const audio of this.players) audio.pause();
    if (this.say) this.ready();
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  place() { for (const audio of this.players) if (audio.readyState > 0) audio.currentTime = Math.min(this.cursor, audio.duration || 0); }

  seek(seconds) {
    this.cursor = clamp(seconds, 0, this.seconds);
    this.place();
    if (this.playing) this.play();
    this.redraw();
  }

  listen(side) {
    this.side = side;
    if (this.context) this.gains.forEach((gain, each) => gain.gain.setTargetAtTime(Number(each === side), this.context.currentTime, FADE_S / 3));
    this.words();
    this.redraw();
  }

  vote(better) {
    const [one, other] = this.sides;
    this.state = "voted";
    this.better = better;
    this.trigger("vote", { one: one.id, other: other.id, better: better === "same" ? null : this.sides[better].id });
    this.words();
    this.redraw();
    this.find("[data-do=again]").focus();
  }

  press(button) {
    if (!button || button.disabled) return;
    const { side, vote } = button.dataset;
    if (side) this.listen(Number(side));
    else if (vote) this.vote(vote === "same" ? vote : Number(vote));
    else if (button.dataset.do === "play") this.toggle();
    else if (button.dataset.do === "start") this.seek(0);
    else if (button.dataset.do === "close") this.close();
    else if (button.dataset.do === "again") this.shuffle();
    else if (button.dataset.do === "reveal") { this.state = "open"; this.words(); this.redraw(); }
  }

  close() {
    this.pause();
    this.trigger("close", true);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.matches("input") && ![" ", "Escape"].includes(event.key)) return; // how loud it is
    const button = event.target.closest("button");
    const choose = (side) => { this.listen(side); if (button?.dataset.side) this.root.querySelectorAll("[data-side]")[side].focus(); };
    const step = (by) => (button?.dataset.side ? choose(1 - this.side) : this.seek(this.cursor + by * (event.shiftKey ? 10 : 2)));
    const acts = {
      " ": () => this.toggle(),
      x: () => choose(1 - this.side),
      a: () => choose(0),
      b: () => choose(1),
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      ArrowUp: () => this.volume.step(1),
      ArrowDown: () => this.volume.step(-1),
      Home: () => this.seek(0),
      End: () => this.seek(this.seconds),
      Escape: () => this.close(),
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || (button && [" ", "Enter"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  redraw() { this.frame ||= requestAnimationFrame((now) => this.tick(now)); }

  tick(now) {
    this.frame = 0;
    if (!this.sides) return;
    const { lead } = this, sounding = this.playing && !lead.paused && lead.readyState > 2;
    if (sounding) {
      this.cursor = lead.currentTime;
      const other = this.players[1 - this.players.indexOf(lead)];
      if (!other.ended && !other.seeking && !other.paused && Math.abs(other.currentTime - this.cursor) > DRIFT_S) other.currentTime = this.cursor;
      const before = this.heard.map((s) => s >= HEARD_S).join();
      if (this.cursor >= this.parting) this.heard[this.side] += Math.min(0.1, (now - (this.last ?? now)) / 1000);
      if (before !== this.heard.map((s) => s >= HEARD_S).join()) this.words();
    }
    this.last = sounding ? now : undefined;
    if (this.lanes.clientWidth) this.draw();
    this.find(".time").textContent = `${clock(this.cursor)} / ${clock(this.seconds)}`;
    this.lanes.setAttribute("aria-valuemax", this.seconds.toFixed(1));
    this.lanes.setAttribute("aria-valuenow", this.cursor.toFixed(1));
    this.lanes.setAttribute("aria-valuetext", clock(this.cursor));
    this.lanes.setAttribute("aria-label", this.say.heading);
    if (sounding) this.redraw();
  }

  draw() {
    const { lanes, root } = this, scale = devicePixelRatio || 1, w = lanes.clientWidth, h = lanes.clientHeight;
    if (lanes.width !== Math.round(w * scale)) lanes.width = Math.round(w * scale);
    if (lanes.height !== Math.round(h * scale)) lanes.height = Math.round(h * scale);
    const g = lanes.getContext("2d");
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, w, h);
    root.toggleAttribute("data-dark", isDark(root));
    const style = getComputedStyle(root), look = { text: style.color, fresh: style.getPropertyValue("--new").trim(), font: style.fontFamily };
    const pitches = this.sides.flatMap((piece) => piece.notes.pitch);
    const low = Math.min(...pitches, 60) - 2, high = Math.max(...pitches, 72) + 2;
    this.sides.forEach((piece, side) => this.lane(g, { piece, side, top: (side * h) / 2, w, h: h / 2, low, high, ...look }));
    g.fillStyle = style.getPropertyValue("--head").trim();
    g.fillRect((this.cursor / this.seconds) * w - 0.75, 0, 1.75, h);
  }

  lane(g, { piece, side, top, w, h, low, high, text, fresh, font }) {
    const heard = side === this.side, blind = this.state === "blind", x = (ms) => (ms / 1000 / this.seconds) * w;
    g.save();
    g.beginPath();
    g.rect(0, top, w, h);
    g.clip();
    if (heard) { g.globalAlpha = 0.09; g.fillStyle = fresh; g.fillRect(0, top, w, h); }
    g.globalAlpha = 0.2;
    g.fillStyle = text;
    if (side) g.fillRect(0, top, w, 1);
    if (!blind) {
      const { on, len, pitch, vel, track } = piece.notes, row = (h - 26) / (high - low + 1);
      for (let i = 0; i < on.length; i++) {
        const isNew = piece.newTrack === null || track[i] === piece.newTrack;
        g.fillStyle = isNew ? fresh : text;
        g.globalAlpha = (isNew ? 1 : 0.5) * (heard ? 1 : 0.6) * (0.4 + 0.6 * (vel[i] / 127));
        g.fillRect(x(on[i]), top + 22 + (high - pitch[i]) * row, Math.max(2, x(len[i]) - 0.5), Math.max(2, row - 0.5));
      }
    }
    g.globalAlpha = 1;
    g.fillStyle = heard ? fresh : text;
    g.font = `600 15px ${font}`;
    g.textBaseline = "top";
    g.fillText(LETTERS[side], 10, top + 8);
    g.fillStyle = text;
    g.font = `13px ${font}`;
    g.globalAlpha = 0.8;
    g.fillText(blind ? this.say.hidden : piece.title, 30, top + 10, w - 40);
    g.restore();
  }

  destroy() {
    this.gone.abort();
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
    this.volume.destroy();
    this.pause();
    this.sides = null;
    for (const audio of this.players) audio.removeAttribute("src");
    this.context?.close();
  }
}

export default mounting(Versus, ".mg-versus");
