// The cards of takes, and their pictures.

const STAR = "M8 1.6l1.9 4.1 4.5.5-3.4 3 1 4.4L8 11.3l-4 2.3 1-4.4-3.4-3 4.5-.5z";

function starIcon() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "path"));
  svg.firstChild.setAttribute("d", STAR);
  return svg;
}

const cards = {
  list() {
    const { told } = this;
    const takes = this.onlyStarred ? told.takes.filter((take) => take.star) : told.takes;
    const wanted = [...[...told.making].reverse().map((job) => ({ ...job, kind: "making" })), ...takes.map((take) => ({ ...take, kind: "take" }))];
    if (told.yours) wanted.push({ ...told.yours, kind: "yours" });
    const ids = new Set(wanted.map((each) => each.kind + each.id));
    const focused = this.root.getRootNode().activeElement;
    for (const [id, card] of this.cards) if (!ids.has(id)) { card.remove(); this.cards.delete(id); }
    const list = this.find(".takes");
    wanted.forEach((each, place) => {
      const id = each.kind + each.id;
      if (!this.cards.has(id)) this.cards.set(id, this.newCard(each));
      const card = this.cards.get(id);
      if (list.children[place] !== card) list.insertBefore(card, list.children[place] ?? null);
      this.dress(card, each);
    });
    if (focused && !focused.isConnected) {
      const made = focused.closest(".making"); // what brings a removed one back, or the one that was made
      this.heir ??= () => (made ? null : this.find("[data-do=undo]:not([hidden])")) ?? this.find(".card");
    }
    const shown = list.querySelector("[data-shown]");
    if (shown && this.seen !== told.shown && !this.everything) {
      const left = shown.offsetLeft - list.offsetLeft;
      if (left < list.scrollLeft || left + shown.offsetWidth > list.scrollLeft + list.clientWidth) list.scrollTo({ left: left - 20 });
    }
    this.seen = told.shown;
  },

  newCard({ kind }) {
    const li = make("li"), card = make("button", undefined, { type: "button", class: "card", "data-do": "show" });
    li.className = kind;
    li.append(card);
    if (kind === "making") {
      const bar = make("div", undefined, { class: "bar", "aria-hidden": "true" });
      bar.append(make("i"));
      card.append(bar, make("b"), make("small"));
      return li;
    }
    card.append(make("canvas", undefined, { "aria-hidden": "true" }), make("b"), make("small"), make("small"), make("small"));
    if (kind === "take") {
      const star = make("button", undefined, { type: "button", class: "star icon", "data-do": "star" });
      star.append(starIcon());
      li.append(star, make("button", this.say.versus, { type: "button", class: "versus", "data-do": "versus" }));
    }
    return li;
  },

  dress(li, each) {
    const { say, told } = this, shown = each.id === told.shown, card = li.firstChild;
    li.dataset.id = each.id;
    li.toggleAttribute("data-shown", shown);
    card.setAttribute("aria-pressed", shown);
    if (each.kind === "making") {
      card.querySelector("b").textContent = say.making;
      li.each = each;
      return;
    }
    const [facts, origin, made] = card.querySelectorAll("small");
    card.querySelector("b").textContent = each.title;
    card.title = fill(say.show, each);
    facts.textContent = each.facts;
    origin.textContent = each.kind === "yours" ? say.yours : [this.when(each.made), each.votes].filter(Boolean).join(" · ");
    made.textContent = each.from ?? "";
    made.title = made.textContent;
    made.hidden = !each.from;
    if (li.each?.thumb !== each.thumb || !li.each) this.paint(card.firstChild, each);
    li.each = each;
    if (each.kind !== "take") return;
    const [star, versus] = [li.querySelector(".star"), li.querySelector(".versus")];
    this.starred(star, each);
    versus.hidden = !this.shown || shown;
    if (this.shown) versus.title = fill(say.versusHelp, { one: this.shown.title, other: each.title });
    versus.setAttribute("aria-label", `${say.versus}: ${versus.title}`);
  },

  starred(button, { title, star }) {
    button.classList.toggle("is-on", star);
    button.setAttribute("aria-pressed", star);
    button.setAttribute("aria-label", `${this.say.star}: ${title}`);
    button.title = this.say.starHelp;
  },

  when(seconds) {
    const date = new Date(seconds * 1000), today = date.toDateString() === new Date().toDateString();
    const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    return today ? time : `${date.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
  },

  paintAll() {
    this.root.toggleAttribute("data-dark", isDark(this.root));
    for (const li of this.cards.values()) if (li.each?.thumb) this.paint(li.firstChild.firstChild, li.each);
  },

  // 96 × 28 bits, the highest of a byte first; the visitor's part in ink, the model's in colour.
  paint(canvas, { thumb, split }) {
    if (!canvas.clientWidth) return;
    this.root.toggleAttribute("data-dark", isDark(this.root));
    const width = 96, height = 28, scale = devicePixelRatio || 1, margin = 4;
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(canvas.clientHeight * scale);
    const g = canvas.getContext("2d"), bytes = Uint8Array.from(atob(thumb), (c) => c.charCodeAt(0));
    const style = getComputedStyle(this.root), fresh = style.getPropertyValue("--new").trim();
    const dx = (canvas.width - 2 * margin * scale) / width, dy = (canvas.height - 2 * margin * scale) / height;
    g.setTransform(1, 0, 0, 1, margin * scale, margin * scale);
    for (let y = 0; y < height; y++) {
      for (let x = 0, run = 0; x <= width; x++) {
        const bit = y * width + x, on = x < width && (bytes[bit >> 3] >> (7 - (bit & 7))) & 1;
        const seam = Math.round(split * width);
        if (run && (!on || x === seam)) {
          g.fillStyle = x <= seam ? style.color : fresh;
          g.globalAlpha = x <= seam ? 0.45 : 0.9;
          g.fillRect((x - run) * dx, y * dy, run * dx, Math.max(scale, dy - 0.5));
          run = 0;
        }
        if (on) run++;
      }
    }
    if (split > 0 && split < 1) {
      g.globalAlpha = 0.5;
      g.fillStyle = style.color;
      g.fillRect(split * width * dx, -margin * scale, scale, canvas.height);
    }
  },
};
