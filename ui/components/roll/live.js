// The sound of a piece that is being made: passages from the server, set one behind another.

const RATE = 48000, BLOCK = 64;
const FIRST_S = 1, LONGEST_S = 6; // asked for at once: little at first, so that it is there soon
const AHEAD_S = 9; // so much lies ready; more would be made for nothing if nobody hears it
const ENOUGH_S = 0.4, MOST_S = 8; // so much must be there to begin; after each wait twice as much
const LEVEL = 7, PEAK = 0.89; // a usual take's gain, until the piece's own is known
const START_S = 0.025; // from here on sound is set: time to do so
const EDGE_S = 0.01; // sound that begins or breaks off is faded, so that it does not click

class LiveSound {
  // It sounds at the audio node `output`; `address` gives passages; `changed` is called when the
  // state is another one.
  constructor(output, address, changed) {
    const { context } = output;
    Object.assign(this, { context, address, changed });
    this.edge = new GainNode(context);
    this.level = new GainNode(context, { gain: LEVEL });
    this.edge.connect(this.level).connect(output);
    this.state = "idle"; // then: waiting, playing, paused, ended, failed, gone
    this.from = this.peak = 0;
    this.run = 0;
    this.nodes = new Set();
  }

  get wanted() { return this.state === "waiting" || this.state === "playing"; }

  become(state) {
    if (this.state === state) return;
    this.state = state;
    this.changed(state);
  }

  // Play from an instant on; of a piece's silent beginning only a moment is kept.
  start(seconds, { skipSilence = false, paused = false } = {}) {
    this.silence();
    Object.assign(this, { from: seconds, skipSilence, queue: [], anchor: null, last: false, enough: ENOUGH_S });
    this.next = Math.floor((seconds * RATE) / BLOCK) * BLOCK;
    if (paused) this.context.suspend(); else this.context.resume();
    this.become(paused ? "paused" : "waiting");
    this.fetch(++this.run);
  }

  async fetch(run) {
    const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    this.abort = new AbortController();
    for (let size = FIRST_S; run === this.run; ) {
      if (this.ahead() > AHEAD_S) { await rest(200); continue; }
      const length = Math.floor((size * RATE) / BLOCK) * BLOCK;
      let answer, data;
      try {
        answer = await fetch(`${this.address}/${this.next}/${length}`, { signal: this.abort.signal });
        if (answer.status === 200) data = new Float32Array(await answer.arrayBuffer());
      } catch { await rest(500); continue; /* the server may come back */ }
      if (run !== this.run) return;
      if (!answer.ok) return this.fail(answer.status === 404 ? "gone" : "failed");
      this.last = answer.headers.get("X-Last") === "1";
      if (data) { this.take(data); size = Math.min(2 * size, LONGEST_S); }
      this.play();
      if (this.last) return;
    }
  }

  take(data) {
    const count = data.length / 2;
    let skipped = 0, peak = 0;
    if (this.skipSilence) {
      while (skipped < count && Math.abs(data[skipped]) < 1e-4 && Math.abs(data[count + skipped]) < 1e-4) skipped++;
      this.skipSilence = skipped === count;
      if (!this.skipSilence) skipped = Math.max(0, skipped - RATE / 20);
      this.from = (this.next + skipped) / RATE;
    }
    for (const sample of data) peak = Math.max(peak, Math.abs(sample));
    const begin = this.next + skipped;
    this.next += count;
    if (skipped === count) return;
    const buffer = new AudioBuffer({ numberOfChannels: 2, length: count - skipped, sampleRate: RATE });
    for (const channel of [0, 1]) buffer.copyToChannel(data.subarray(channel * count + skipped, (channel + 1) * count), channel);
    this.queue.push({ begin, buffer, peak });
  }

  // Set what lies ready behind what sounds; or begin, if there is enough.
  play() {
    const { context, queue } = this;
    if (this.anchor && this.end / RATE < context.currentTime) this.dry();
    if (!this.anchor) {
      const ready = queue.reduce((sum, each) => sum + each.buffer.length, 0);
      if (!ready && this.last && !this.nodes.size) return this.finish();
      if (!ready || (!this.last && ready < this.enough * RATE)) return;
      this.anchor = { frame: Math.ceil((context.currentTime + START_S) * RATE), sample: queue[0].begin };
      this.end = this.anchor.frame;
      const { gain } = this.edge, at = this.end / RATE;
      gain.cancelScheduledValues(0);
      gain.setValueAtTime(0, at);
      gain.linearRampToValueAtTime(1, at + EDGE_S);
      this.heard = true;
      if (this.state === "waiting") this.become("playing");
    }
    for (const each of queue.splice(0)) this.set(each);
  }

  set({ begin, buffer, peak }) {
    const { gain } = this.edge, { frame, sample } = this.anchor, before = this.end / RATE;
    const node = new AudioBufferSourceNode(this.context, { buffer });
    node.connect(this.edge);
    node.onended = () => { this.nodes.delete(node); if (!this.nodes.size) this.over(); };
    const when = (frame + begin - sample) / RATE, late = Math.max(0, this.context.currentTime - when);
    node.start(when + late, late);
    this.nodes.add(node);
    this.end = frame + begin - sample + buffer.length;
    if (before * RATE > frame) gain.cancelScheduledValues(before - 1.2 * EDGE_S);
    if (!this.last || this.queue.length) {
      gain.setValueAtTime(1, Math.max(this.end / RATE - EDGE_S, frame / RATE + EDGE_S));
      gain.linearRampToValueAtTime(0, this.end / RATE);
    }
    if (peak > this.peak && !this.settled) {
      this.peak = peak;
      if (PEAK / peak < LEVEL) this.level.gain.setTargetAtTime(PEAK / peak, Math.max(before - 0.1, 0), 0.02);
    }
  }

  // What was set has sounded.
  over() {
    if (!this.anchor) return;
    if (this.last && !this.queue.length) this.finish();
    else this.dry();
  }

  // The music is not made yet: wait, and then for a little more than before.
  dry() {
    this.from = this.seconds();
    this.anchor = null;
    this.enough = Math.min(2 * this.enough, MOST_S);
    if (this.state === "playing") this.become("waiting");
    if (this.queue.length) this.play();
  }

  finish() {
    this.from = this.next / RATE;
    this.anchor = null;
    this.become("ended");
  }

  fail(state) {
    this.stop();
    this.become(state);
  }

  ahead() { return this.anchor ? this.end / RATE - this.context.currentTime : this.queue.reduce((sum, each) => sum + each.buffer.duration, 0); }

  seconds() {
    if (!this.anchor) return this.from;
    const { frame, sample } = this.anchor;
    const heard = (this.context.currentTime - (this.context.outputLatency || 0)) * RATE;
    return (sample + Math.max(0, Math.min(heard, this.end) - frame)) / RATE;
  }

  pause() {
    this.context.suspend();
    this.become("paused");
  }

  resume() {
    this.context.resume();
    this.become(this.anchor ? "playing" : "waiting");
  }

  // Go over to the level of the sound that is kept, too slowly to be noticed.
  settle(gain) {
    this.settled = true;
    this.level.gain.setTargetAtTime(gain, this.context.currentTime, 0.8);
  }

  silence() {
    this.run++;
    this.abort?.abort();
    this.anchor = null;
    for (const node of this.nodes) { node.onended = null; node.stop(); node.disconnect(); }
    this.nodes.clear();
  }

  stop() {
    this.from = this.seconds();
    this.silence();
    this.context.suspend().catch(() => {}); // it may be closed in the same breath
  }

  close() {
    this.stop();
    this.level.disconnect();
  }
}
