// What can be done in the drawer, by pointer and keys; and where the focus goes on from there.

const acts = {
  press(button) {
    const { shown, told } = this, what = button.dataset.do, card = button.closest("li");
    const id = card?.dataset.id ?? shown?.id;
    if (what === "starred" || what === "all") {
      if (what === "all") this.everything = !this.everything;
      else this.onlyStarred = !this.onlyStarred;
      this.label();
      this.list();
      this.paintAll();
    } else if (what === "undo") this.undo();
    else if (what === "star") this.star(id);
    else if (what === "on") this.go({ do: "on", id });
    else if (what === "onHere") this.go({ do: "on", id, at: this.at });
    else if (what === "anew") this.go({ do: "anew", id, at: this.at });
    else if (what === "versus") this.compare(id);
    else if (what === "remove") this.remove(id);
    else if (what !== "show" || id !== told.shown) this.ask({ do: what, id });
  },

  remove(id) {
    this.heir = () => this.find("[data-do=undo]:not([hidden])");
    this.ask({ do: "remove", id });
  },

  // One by one, the last one first.
  undo() {
    const [last] = this.told.removed;
    this.heir = () => this.card(last.id)?.firstChild;
    this.ask({ do: "undo", id: last.id });
  },

  star(id) {
    const take = this.told.takes.find((each) => each.id === id);
    take.star = !take.star; // at once: the page follows
    this.label();
    this.list();
    this.tools();
    this.ask({ do: "star", id, star: take.star });
  },

  // A click that asks for music lets it sound.
  go(what) {
    this.heir = () => this.find(".takes .making")?.firstChild;
    document.dispatchEvent(new CustomEvent("musicgen:wake"));
    this.ask(what);
  },

  compare(id) {
    this.compared = id;
    this.ask({ do: "versus", id });
  },

  rename() {
    const name = this.find(".name"), title = name.value.trim();
    if (!title || title === this.shown?.title) name.value = this.shown?.title ?? "";
    else this.ask({ do: "rename", id: name.dataset.id, title });
  },

  key(event) {
    if (event.target.classList.contains("name")) {
      event.stopPropagation();
      if (event.key === "Escape") event.target.value = this.shown.title;
      if (event.key === "Enter" || event.key === "Escape") event.target.blur();
      return;
    }
    if (event.altKey || event.metaKey) return;
    if (event.ctrlKey) {
      if (event.key !== "z" || !this.told.removed.length) return;
      event.preventDefault();
      return this.undo();
    }
    const li = event.target.closest("li");
    if (!li) return;
    const isTake = li.classList.contains("take"), { id } = li.dataset;
    const step = (by) => {
      const all = [...this.find(".takes").children];
      all[Math.max(0, Math.min(all.length - 1, all.indexOf(li) + by))].firstChild.focus();
    };
    const acts = {
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      Home: () => step(-1e6),
      End: () => step(1e6),
      Delete: () => isTake && this.remove(id),
      s: () => isTake && this.star(id),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  },

  // What was pressed may be gone now, or cannot be pressed any more: the focus goes on to what came
  // of it. It is lost only when the page has been drawn.
  keepFocus(before) {
    if (before?.comparing && !this.told.comparing && this.compared) {
      const other = this.card(this.compared), versus = other?.querySelector(".versus:not([hidden])");
      this.heir = () => versus ?? other?.firstChild ?? this.find(".card");
      this.compared = null;
    }
    const heir = this.heir?.(), until = performance.now() + 500;
    if (!heir) return;
    this.heir = null;
    const look = () => {
      if (!heir.isConnected) return;
      if (this.isLost()) heir.focus({ preventScroll: true });
      else if (performance.now() < until) requestAnimationFrame(look);
    };
    look();
  },

  isLost() {
    const { activeElement } = this.root.getRootNode();
    return activeElement ? activeElement.disabled || !!activeElement.closest("[hidden]") : document.activeElement === document.body;
  },

  card(id) { return this.find(`.takes li[data-id="${CSS.escape(id)}"]`); },
};
