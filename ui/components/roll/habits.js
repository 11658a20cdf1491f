// Habits of the heads of a layer: all of them beside one another, and each head's in a sentence.

class HabitsTable {
  constructor(panel) { this.panel = panel; }

  // Which notes were measured: all, or those that the model sees at once.
  which() {
    const { told, roll } = this.panel, { say, music } = roll, { notes } = told.habits;
    const seen = told.noteOf.filter((note) => note >= 0);
    if (!told.firstEvent && this.panel.address === this.panel.at(0)) return fill(say.notesAll, { n: notes });
    return fill(say.notesPart, { n: notes, from: roll.when(music.on[seen[0]]), to: roll.when(music.on[seen.at(-1)]) });
  }

  draw() {
    const { panel } = this, { told, roll } = panel, { say } = roll, { habits } = told;
    const layer = Math.min(panel.layer, told.layers - 1);
    panel.find(".name-habits").textContent = fill(say.habits, { layer: layer + 1 });
    const leading = habits.leading[layer].map((kind) => habits.names[kind]).join(", ");
    const first = layer === habits.telling && leading ? fill(say.telling, { layer: layer + 1, n: habits.leading[layer].length, kinds: leading }) : "";
    panel.find(".telling").textContent = first;
    panel.find(".habits-help").textContent = fill(say.habitsHelp, { which: this.which() });
    const shown = [panel.address, layer, roll.paint.dark].join();
    if (this.shown !== shown) this.table(habits, layer); // another head of the layer changes nothing in it
    this.shown = shown;
    this.words(habits, layer);
  }

  // Shaded by how far above chance: a kind of which there are many events is looked at by all heads.
  table(habits, layer) {
    const { panel } = this, { say, paint } = panel.roll, colours = RAMPS[paint.dark ? "dark" : "light"];
    const kinds = Object.keys(habits.names), head = make("tr"), row = (label, shares, shaded) => {
      const line = make("tr");
      line.append(make("th", label, { scope: "row" }), ...shares.map((share, k) => {
        const cell = make("td", percent(share));
        const colour = colours[Math.round(255 * Math.max(0, (share - habits.chance[k]) / (1 - habits.chance[k])) ** 0.7)];
        if (shaded) { cell.style.background = cssOf(colour); cell.style.color = inkOn(colour); }
        return cell;
      }));
      return line;
    };
    head.append(make("th", say.head, { scope: "col" }), ...kinds.map((kind) => make("th", say.kinds[kind] ?? habits.names[kind], { scope: "col", title: habits.names[kind] })));
    const table = panel.find(".habit-table"), body = make("tbody"), top = make("thead");
    top.append(head);
    body.append(...habits.weights[layer].map((shares, k) => row(k + 1, shares, true)), row(say.chance, habits.chance, false));
    panel.find(".scroll").setAttribute("aria-label", fill(say.habits, { layer: layer + 1 }));
    table.replaceChildren(top, body);
  }

  words(habits, layer) {
    const { panel } = this, { say, paint } = panel.roll;
    panel.find(".habits").replaceChildren(...habits.words[layer].map((text, head) => {
      const item = make("li"), b = panel.button(`w${head}`, head + 1, panel.on.has(head) && !panel.everyLayer, () => panel.choose(layer, head));
      b.style.setProperty("--c", paint.heads[head % 8]);
      b.dataset.head = head;
      b.prepend(make("i"));
      b.setAttribute("aria-label", fill(say.map, { layer: layer + 1, head: head + 1 }));
      item.append(b, make("span", text));
      return item;
    }));
  }
}
