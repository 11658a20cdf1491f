// Keys of the roll, and the list of them.

const keys = {
  key(event) {
    const { music, panel } = this;
    if (!music || event.altKey || event.ctrlKey || event.metaKey) return;
    const on = event.target;
    if (on.closest?.("dialog") || (/^(INPUT|SELECT)$/.test(on.tagName) && !(on.type === "range" && event.key === " "))) return;
    const pressed = event.shiftKey && event.code?.startsWith("Digit") ? event.code.slice(5) : event.key;
    const act = this.keyActs(event)[pressed] ?? this.keyActs(event)[pressed.toLowerCase()];
    const number = /^[1-9]$/.test(pressed) ? Number(pressed) : 0;
    if ((!act && !number) || (on.closest?.("button, a") && [" ", "Enter"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    if (number) { if (number <= music.used.length) this.mute_(music.used[number - 1], event.shiftKey); }
    else if (music.count || [" ", "?"].includes(pressed)) act();
    this.redraw();
  },

  keyActs(event) {
    const { music, view, panel } = this, far = event.shiftKey ? 10 : 2, span = view.to - view.from;
    const step = (by) => this.choose(clamp(this.chosen < 0 ? this.nextNote() : this.chosen + by, 0, music.count - 1));
    return {
      " ": () => this.toggle(),
      ArrowLeft: () => this.seek(this.cursor - far),
      ArrowRight: () => this.seek(this.cursor + far),
      ArrowUp: () => (event.shiftKey ? this.louder(1) : this.choose(this.neighbour(1))),
      ArrowDown: () => (event.shiftKey ? this.louder(-1) : this.choose(this.neighbour(-1))),
      Home: () => this.seek(0),
      End: () => this.seek(music.seconds),
      PageUp: () => this.shift(-0.8 * span),
      PageDown: () => this.shift(0.8 * span),
      ",": () => step(-1),
      ".": () => step(1),
      Escape: () => this.choose(-1),
      "+": () => this.zoom(1 / 1.5),
      "=": () => this.zoom(1 / 1.5),
      "-": () => this.zoom(1.5),
      0: () => this.whole(),
      n: () => this.press("seam"),
      f: () => this.press("follow"),
      b: () => this.press("bars"),
      g: () => this.goOn("on"),
      r: () => this.goOn("anew"),
      u: () => { music.muted.clear(); this.remix(); },
      w: () => panel.set({ way: panel.way === "from" ? "to" : "from" }),
      m: () => panel.set({ moment: panel.moment === "wrote" ? "after" : "wrote" }),
      "[": () => panel.step(-1),
      "]": () => panel.step(1),
      "?": () => this.help(),
    };
  },

  louder(by) {
    this.volume.step(by);
    this.status(`${this.say.volume}: ${this.volume.said}`);
  },

  press(name) {
    const button = this.find(`[data-do=${name}]`);
    if (!button.hidden && !button.disabled) button.click();
  },

  // The next note above or below the chosen one among those near it.
  neighbour(direction) {
    const { music, chosen } = this;
    if (chosen < 0) return this.nextNote();
    const near = 0.6, [first, end] = music.range(music.on[chosen] - near, music.on[chosen] + near);
    let best = chosen, least = Infinity;
    for (let i = first; i < end; i++) {
      const up = (music.pitch[i] - music.pitch[chosen]) * direction, away = Math.abs(music.on[i] - music.on[chosen]);
      if (up > 0 && away <= near && up + 20 * away < least) { least = up + 20 * away; best = i; }
    }
    return best;
  },

  nextNote() { return Math.min(firstAbove(this.music.on, this.cursor - 1e-6), this.music.count - 1); },

  help() {
    const { say } = this, dialog = this.find(".help");
    if (dialog.open) return dialog.close();
    dialog.querySelector("h2").textContent = say.helpTitle;
    dialog.querySelector("p").textContent = say.keysMouse;
    dialog.querySelector("button").textContent = say.close;
    dialog.querySelector("dl").replaceChildren(...say.keysAll.flatMap(([names, what]) => {
      const term = make("dt");
      for (const name of names.split(" ")) term.append(name === "…" ? name : make("kbd", name));
      return [term, make("dd", what)];
    }));
    dialog.showModal();
  },
};
