// A training run: how it stands, what it has learned, pieces that it made on the way. It asks the
// studio once a second while the run is at work, and tells the page when the run ends.

const EVERY_MS = 1000;

const count = (number) => Math.round(number).toLocaleString("en-US");

class Board {
  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.audio = this.find("audio");
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(this.find(".curve"));
    this.audio.addEventListener("ended", () => this.mark(null));
  }

  update({ run, say }, { setTriggerValue }) {
    this.trigger = setTriggerValue;
    this.say = say;
    this.root.toggleAttribute("data-dark", isDark(this.root));
    if (this.run?.name !== run.name) {
      this.now = null;
      this.audio.pause();
      this.find(".title").textContent = run.title;
    }
    this.run = run;
    this.draw();
    if (this.watching !== run.name) this.watch(run.name);
  }

  // A run that has ended is asked about once; one that is at work until it ends. The page is told
  // of that end, again until it has drawn itself anew.
  async watch(name) {
    this.watching = name;
    for (let told = 0; this.run?.name === name; ) {
      try {
        const answer = await fetch(this.run.ask);
        if (this.run?.name !== name) return;
        if (answer.status === 404) {
          this.words([this.say.gone], true);
          break;
        }
        this.now = await answer.json();
        this.show();
        if (!this.now.active && !this.run.active) break;
        if (!this.now.active && told++ % 5 === 0) this.trigger("ended", name);
      } catch {
        if (this.run?.name === name) this.words([this.say.lost], true);
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    if (this.watching === name) this.watching = null;
  }

  show() {
    const { now, say } = this;
    this.find(".state").textContent = fill(say.states[now.state], { ...now, files_done: count(now.files_done), files: count(now.files) });
    const bar = this.find(".progress"), share = now.steps ? (100 * now.step) / now.steps : 0;
    bar.hidden = !now.steps;
    bar.setAttribute("aria-valuenow", Math.round(share));
    bar.setAttribute("aria-label", say.progress);
    bar.firstElementChild.style.width = `${share}%`;
    const figures = [];
    if (now.steps) figures.push([say.step, `${count(now.step)} / ${count(now.steps)}`]);
    if (now.bits_per_note !== null) figures.push([say.bits, now.bits_per_note.toFixed(2), this.beside()]);
    if (now.active && now.seconds_left !== null) figures.push([say.left, span(now.seconds_left, say)]);
    if (now.active && now.events_per_s) figures.push([say.speed, count(now.events_per_s)]);
    if (now.parameters) figures.push([say.parameters, count(now.parameters)]);
    const list = this.find(".figures");
    list.replaceChildren(...figures.map(([name, value, beside]) => {
      const item = make("div");
      item.append(make("dt", name), make("dd", value));
      if (beside) item.append(make("dd", beside, { class: "beside" }));
      return item;
    }));
    this.words([now.music, now.notice], false, [now.error, now.hint]);
    this.samples();
    this.draw();
  }

  // What bits a note mean: those of who knows nothing, of this run's beginning, of a good model. Of
  // fine-tuning those of the model it began with, to be taken away from: as exact as the figure.
  beside() {
    const { blind, first, piano, untouched, before } = this.now.beside, { say } = this;
    const told = [[say.bitsBlind, blind], [say.bitsFirst, first], [say.bitsPiano, piano], [say.bitsUntouched, untouched, 2], [say.bitsBefore, before, 2]];
    return told.filter(([, n]) => n !== null).map(([text, n, digits = 1]) => fill(text, { n: n.toFixed(digits) })).join(" · ");
  }

  words(said, isBad, worse = []) {
    const line = (text, bad) => {
      const p = make("p", text);
      p.toggleAttribute("data-bad", bad);
      return p;
    };
    this.find(".words").replaceChildren(
      ...said.filter(Boolean).map((text) => line(text, isBad)),
      ...(worse[0] ? [line(worse.filter(Boolean).join(" "), true)] : []),
    );
  }

  samples() {
    const row = this.find(".samples"), { samples } = this.now;
    row.hidden = !samples.length;
    row.firstElementChild.textContent = this.say.samples;
    for (const { title, audio } of samples) {
      if ([...row.querySelectorAll("button")].some((b) => b.dataset.audio === audio)) continue;
      const button = make("button", title);
      button.type = "button";
      button.dataset.audio = audio;
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => this.play(button));
      row.append(button);
    }
    for (const button of row.querySelectorAll("button")) {
      if (!samples.some((sample) => sample.audio === button.dataset.audio)) button.remove();
    }
  }

  play(button) {
    const stops = button.getAttribute("aria-pressed") === "true";
    this.audio.pause();
    this.mark(stops ? null : button);
    if (stops) return;
    this.audio.src = button.dataset.audio;
    this.audio.play().catch(() => this.mark(null));
  }

  mark(button) {
    for (const other of this.find(".samples").querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
  }

  // Surprise by what it learns from as a line, by what is held out as dots: told apart by more than their colour.
  draw() {
    const canvas = this.find(".curve"), figure = canvas.parentElement, curve = this.now?.curve;
    figure.hidden = !curve || curve.steps.length < 2;
    if (figure.hidden || !canvas.clientWidth) return;
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d"), style = getComputedStyle(this.root);
    pen.scale(scale, scale);
    const colour = (name) => style.getPropertyValue(name).trim();
    const { bits: train, held_out: held } = curve;
    const low = Math.min(...train, ...held), high = Math.max(...train, ...held);
    const room = Math.max(high - low, 0.1) * 0.08, left = 38, bottom = height - 22;
    const x = (step) => left + ((width - left - 10) * step) / Math.max(this.now.steps, 1);
    const y = (bits) => 8 + ((high + room - bits) / (high - low + 2 * room || 1)) * (bottom - 8);
    pen.font = `12px ${style.fontFamily}`;
    pen.fillStyle = colour("--st-text-color");
    pen.strokeStyle = "rgba(128, 128, 128, .28)";
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const step = niceStep((high - low) / 4);
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) {
      pen.beginPath(); pen.moveTo(left, y(at)); pen.lineTo(width - 10, y(at)); pen.stroke();
      pen.globalAlpha = 0.75; pen.fillText(at.toFixed(step < 1 ? 1 : 0), left - 7, y(at)); pen.globalAlpha = 1;
    }
    pen.textAlign = "left"; pen.textBaseline = "alphabetic"; pen.globalAlpha = 0.75;
    pen.fillText("0", left, height - 5);
    pen.textAlign = "right"; pen.fillText(count(this.now.steps), width - 10, height - 5);
    pen.globalAlpha = 1;
    pen.save();
    pen.beginPath(); pen.rect(left, 0, width - left, bottom + 3); pen.clip();
    pen.strokeStyle = colour("--train"); pen.lineWidth = 1.5; pen.lineJoin = "round";
    pen.beginPath();
    train.forEach((bits, at) => pen.lineTo(x(curve.steps[at]), y(bits)));
    pen.stroke();
    pen.fillStyle = pen.strokeStyle = colour("--held"); pen.lineWidth = 1;
    pen.beginPath();
    held.forEach((bits, at) => pen.lineTo(x(curve.validated[at]), y(bits)));
    pen.stroke();
    held.forEach((bits, at) => { pen.beginPath(); pen.arc(x(curve.validated[at]), y(bits), 3.5, 0, 7); pen.fill(); });
    pen.restore();
    this.legend(held.length ? this.now.bits_per_note : null);
  }

  legend(bits) {
    const { say } = this, item = (name, variable, dots) => {
      const span = make("span"), mark = make("i", "", dots ? { class: "dots" } : {});
      mark.style.setProperty("--c", `var(${variable})`);
      span.append(mark, name);
      return span;
    };
    const told = [item(say.train, "--train", false)];
    if (bits !== null) told.push(item(say.held, "--held", true));
    told.push(make("span", say.axes));
    this.find("figcaption").replaceChildren(...told);
    this.find(".curve").setAttribute("aria-label", fill(say.curve, { bits: bits === null ? "–" : bits.toFixed(2), ...this.now }));
  }

  destroy() {
    this.run = null;
    this.sizes.disconnect();
    this.audio.pause();
    this.audio.removeAttribute("src");
  }
}

const niceStep = (rough) => {
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || power;
};

const span = (seconds, say) => {
  const minutes = seconds / 60;
  if (minutes < 1.5) return fill(say.seconds, { n: Math.max(1, Math.round(seconds)) });
  return minutes < 90 ? fill(say.minutes, { n: Math.round(minutes) }) : fill(say.hours, { n: (minutes / 60).toFixed(1) });
};

export default mounting(Board, ".mg-board");
