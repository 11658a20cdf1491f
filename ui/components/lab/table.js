// A table of numbers as a real table: headers for every row and column, one stop for the Tab key,
// arrow keys from number to number. Foreign text comes in by textContent alone.

// `_x`, `_{long}`, `^x`, `^{long}` of our own formulas become sub and sup.
const math = (node, text) => {
  node.replaceChildren();
  let from = 0;
  for (const found of text.matchAll(/([_^])(?:\{([^}]*)\}|(.))/g)) {
    node.append(text.slice(from, found.index));
    node.append(make(found[1] === "_" ? "sub" : "sup", found[2] ?? found[3]));
    from = found.index + found[0].length;
  }
  node.append(text.slice(from));
  return node;
};

class NumberTable {
  constructor(data, say, tell) {
    this.data = data;
    this.tell = tell;
    this.cells = [];
    this.node = make("table", "", data.look === "words" ? { class: "words" } : {});
    if (data.stories.length) this.node.setAttribute("role", "grid");
    const caption = make("caption"), title = make("span", data.title);
    if (data.note) title.append(make("small", data.note));
    caption.append(title);
    const head = make("thead"), row = make("tr");
    row.append(make("td"));
    for (const name of data.columns) row.append(this.header(name, "col"));
    head.append(row);
    const body = make("tbody");
    const most = Math.max(...data.values.flat().map((v) => Math.abs(v ?? 0)), 1e-9);
    data.text.forEach((texts, r) => {
      const line = make("tr");
      line.append(this.header(data.rows[r], "row"));
      this.cells.push(texts.map((text, c) => line.appendChild(this.cell(text, r, c, most, say))));
      body.append(line);
    });
    this.node.append(caption, head, body);
    if (data.stories.length) this.listen();
  }

  header(name, scope) {
    const th = make("th", name);
    th.scope = scope;
    th.title = name;
    return th;
  }

  cell(text, r, c, most, say) {
    const { data } = this, td = make("td", text), value = data.values[r]?.[c];
    if (!data.stories.length) return td;
    td.tabIndex = r || c ? -1 : 0;
    td.dataset.at = `${r},${c}`;
    if (value) {
      // Small shares are to be told from nothing.
      td.style.setProperty("--a", data.look === "weight" ? value ** 0.6 : Math.abs(value) / most);
      td.dataset.sign = Math.sign(value);
    }
    if (data.above[r][c]) {
      td.dataset.above = data.later;
      td.append(make("span", `, ${say[data.later]}`, { class: "aside" }));
    }
    return td;
  }

  listen() {
    const at = (event) => event.target.closest?.("td[data-at]")?.dataset.at.split(",").map(Number);
    const over = (event, chosen) => {
      const place = at(event);
      if (place) this.tell(this, place, chosen);
    };
    this.node.addEventListener("mouseover", (event) => over(event, false));
    this.node.addEventListener("mouseleave", () => this.tell(null, null, false));
    this.node.addEventListener("focusin", (event) => over(event, true));
    this.node.addEventListener("keydown", (event) => this.key(event, at(event)));
  }

  key(event, place) {
    if (!place || event.altKey || event.metaKey) return;
    const [rows, columns] = [this.cells.length, this.cells[0].length];
    let [r, c] = place;
    if (event.key === "ArrowRight") c++;
    else if (event.key === "ArrowLeft") c--;
    else if (event.key === "ArrowDown") r++;
    else if (event.key === "ArrowUp") r--;
    else if (event.key === "Home") [r, c] = event.ctrlKey ? [0, 0] : [r, 0];
    else if (event.key === "End") [r, c] = event.ctrlKey ? [rows - 1, columns - 1] : [r, columns - 1];
    else return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.cells[Math.max(0, Math.min(rows - 1, r))][Math.max(0, Math.min(columns - 1, c))];
    this.cells[place[0]][place[1]].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  // What made a number elsewhere is lit here: a row, a column, or the number at the same place.
  light(how, index, column) {
    this.cells.forEach((line, r) => line.forEach((td, c) => {
      if ((how === "row" && r === index) || (how === "col" && c === index) || (how === "cell" && r === index && c === column)) td.classList.add("lit");
    }));
  }

  dark() {
    for (const td of this.cells.flat()) td.classList.remove("lit", "on");
  }
}
