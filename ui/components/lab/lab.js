// The attention lab: one step on screen, the numbers of its tables, and what made each of them.

const CALM_MS = 400;

class Lab {
  constructor(root) {
    this.root = root;
    this.find = (name) => root.querySelector(name);
    this.at = 0;
    this.name = null;
    this.chosen = null;
    this.find(".previous").addEventListener("click", () => this.go(this.at - 1));
    this.find(".next").addEventListener("click", () => this.go(this.at + 1));
    root.addEventListener("keydown", (event) => this.key(event));
    this.onPage = (event) => this.pageKey(event);
    document.addEventListener("keydown", this.onPage);
  }

  update({ lesson, go, say }, { setTriggerValue }) {
    this.trigger = setTriggerValue;
    this.say = say;
    const told = JSON.stringify(lesson), dark = isDark(this.root);
    // The answer to a step that was gone to: nothing new, and the number that was chosen stays.
    if (told === this.told && this.times === go.times && dark === this.dark) return;
    // At the beginning, or where the visitor opened another address: else the page only follows.
    const opened = this.times !== go.times;
    if (opened) this.name = go.step;
    Object.assign(this, { told, times: go.times, dark, lesson });
    this.root.toggleAttribute("data-dark", dark);
    const same = lesson.steps.findIndex((step) => step.name === this.name);
    const head = this.root.getRootNode().activeElement?.dataset.head;
    this.at = Math.max(0, same);
    this.find(".steps").setAttribute("aria-label", say.steps);
    this.find(".previous").textContent = `← ${say.previous}`;
    this.find(".next").textContent = `${say.next} →`;
    this.find(".keys").textContent = say.keys;
    this.draw();
    if (opened) requestAnimationFrame(() => this.find("tr.came")?.scrollIntoView({ block: "center" }));
    if (head !== undefined) this.find(`[data-head="${head}"]`)?.focus();
  }

  go(to, focus = false) {
    if (to < 0 || to >= this.lesson.steps.length || to === this.at) return;
    const inside = this.find(".page").contains(this.root.getRootNode().activeElement);
    this.at = to;
    this.draw();
    const step = this.lesson.steps[to];
    this.find(".said").textContent = fill(this.say.step, { step: to + 1, steps: this.lesson.steps.length, title: step.title });
    this.report(step.name);
    if (inside || focus || this.root.getRootNode().activeElement === null) this.find("h2").focus({ preventScroll: true });
    const top = this.root.getBoundingClientRect().top;
    if (top < 0) this.root.scrollIntoView({ block: "start" });
  }

  // The page is told where its visitor is, once they stay there for a moment.
  report(step) {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.trigger("step", step), CALM_MS);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "n") this.go(this.at + 1);
    else if (event.key === "p") this.go(this.at - 1);
    else if (event.key === "Escape" && this.chosen) this.tell(null, null, true);
    else if (event.target.closest?.("ol") && ["ArrowRight", "ArrowLeft"].includes(event.key)) {
      this.go(this.at + (event.key === "ArrowRight" ? 1 : -1));
      this.find("ol [aria-current]").focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // n and p are heard wherever the focus is, but where somebody types.
  pageKey(event) {
    if (!["n", "p"].includes(event.key) || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    const on = event.composedPath()[0], box = on.closest?.("input, textarea, select, [contenteditable], [role=dialog]");
    if (box && !["range", "checkbox", "radio"].includes(box.type)) return;
    this.go(this.at + (event.key === "n" ? 1 : -1));
    event.preventDefault();
  }

  draw() {
    const { say, lesson } = this, step = lesson.steps[this.at];
    this.name = step.name;
    this.steps();
    this.find("h2").textContent = step.title;
    this.find(".text").replaceChildren(...step.text.map((text) => make("p", text)));
    this.find(".after").replaceChildren(...step.after.map((text) => make("p", text)));
    math(this.find(".formula"), step.formula);
    math(this.find(".shapes"), step.shapes ? `${say.shapes}: ${step.shapes}` : "");
    this.tables = step.tables.map((data) => new NumberTable(data, say, (...told) => this.tell(...told)));
    this.find(".tables").replaceChildren(...this.tables.map((table) => {
      const box = make("div", "", { class: "scroll" });
      box.append(table.node);
      return box;
    }));
    this.legend(step);
    this.heads(["weights", "join"].includes(step.name));
    this.find(".previous").disabled = this.at === 0;
    this.find(".next").disabled = this.at === lesson.steps.length - 1;
    this.find(".story").hidden = !step.tables.some((data) => data.stories.length);
    this.find(".story").classList.remove("told");
    this.tell(null, null, true);
    if (step.point) this.pointOut(this.tables[0], step.point);
  }

  // The number that somebody came for: told, its row marked, and in sight.
  pointOut(table, [r, c]) {
    table.node.tBodies[0].rows[r].classList.add("came");
    this.tell(table, [r, c], true);
    const cell = table.cells[r][c], box = table.node.parentElement;
    box.scrollLeft = cell.offsetLeft - (box.clientWidth - cell.offsetWidth) / 2;
  }

  // The buttons stay: the one that was pressed keeps the focus.
  steps() {
    const list = this.find("ol"), { steps } = this.lesson;
    while (list.children.length > steps.length) list.lastElementChild.remove();
    while (list.children.length < steps.length) {
      const button = make("button"), item = make("li"), place = list.children.length;
      button.type = "button";
      button.append(make("i", place + 1), make("span"));
      button.addEventListener("click", () => this.go(place));
      item.append(button);
      list.append(item);
    }
    steps.forEach((step, place) => {
      const button = list.children[place].firstElementChild;
      button.lastElementChild.textContent = step.short;
      if (place !== this.at) button.removeAttribute("aria-current");
      else {
        button.setAttribute("aria-current", "step");
        const bar = this.find(".steps"), item = button.parentElement;
        bar.scrollLeft = item.offsetLeft - (bar.clientWidth - item.offsetWidth) / 2;
      }
    });
  }

  legend(step) {
    const { say } = this, looks = new Set(step.tables.map((data) => data.look));
    const later = new Set(step.tables.map((data) => data.later));
    const told = [];
    const item = (name, text) => {
      const span = make("span");
      span.append(make("i", "", { class: name }), text);
      told.push(span);
    };
    if (looks.has("signed")) item("signed", say.legendSigned);
    if (looks.has("weight")) item("weight", say.legendWeight);
    if (later.has("masked")) item("masked", say.legendMasked);
    if (later.has("future")) item("future", say.legendFuture);
    this.find(".legend").replaceChildren(...told);
  }

  destroy() {
    clearTimeout(this.soon);
    document.removeEventListener("keydown", this.onPage);
  }

  heads(shown) {
    const box = this.find(".heads"), { say, lesson } = this, { now, maps } = lesson.heads;
    box.hidden = !shown || !maps.length;
    if (box.hidden) return;
    box.setAttribute("aria-label", say.heads);
    box.querySelector("h3").textContent = say.heads;
    box.querySelector("p").textContent = say.headsHelp;
    box.querySelector(".maps").replaceChildren(...maps.map((weights, head) => {
      const button = make("button"), canvas = make("canvas");
      button.type = "button";
      button.dataset.head = head;
      button.setAttribute("aria-pressed", String(head === now));
      paint(canvas, weights, getComputedStyle(this.root).getPropertyValue("--plus").trim());
      button.append(canvas, fill(say.head, { head: head + 1 }));
      button.addEventListener("click", () => this.trigger("head", head));
      return button;
    }));
  }

  // A number that the pointer is on is told about; without one, the number that was chosen.
  tell(table, place, chosen) {
    if (chosen) this.chosen = table ? { table, place } : null;
    const now = table ? { table, place } : this.chosen;
    for (const other of this.tables) other.dark();
    const box = this.find(".story");
    if (!now) {
      box.replaceChildren(make("p", this.say.ask, { class: "ask" }));
      return;
    }
    box.classList.add("told");
    const [r, c] = now.place, story = now.table.data.stories[r][c];
    now.table.cells[r][c].classList.add("on");
    for (const [name, how, index] of story.marks) this.tables.find((t) => t.data.name === name)?.light(how, index, c);
    const lines = [make("p")];
    lines[0].append(make("strong", story.say));
    if (story.terms) {
      const list = make("ul");
      for (const [label, left, right, product] of story.terms) {
        const item = make("li");
        item.append(make("b", label), `${left} × ${right} = ${product}`);
        list.append(item);
      }
      if (story.rest) list.append(make("li", story.rest));
      lines.push(math(make("p", "", { class: "sum" }), story.factors), list);
    }
    box.replaceChildren(...lines, ...story.lines.map((text) => math(make("p"), text)));
  }
}

function paint(canvas, weights, colour) {
  canvas.width = canvas.height = weights.length;
  const pen = canvas.getContext("2d");
  pen.fillStyle = colour;
  weights.forEach((row, t) => row.forEach((weight, s) => {
    pen.globalAlpha = Math.sqrt(weight);
    pen.fillRect(s, t, 1, 1);
  }));
}

export default mounting(Lab, ".mg-lab");
