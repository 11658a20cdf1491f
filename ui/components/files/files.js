// What becomes of each file. Names are foreign text, and come in by textContent alone.

const row = ({ name, kept, what, why, notes }, say) => {
  const line = make("tr"), file = make("th", name, { scope: "row" }), told = make("td");
  line.toggleAttribute("data-kept", kept);
  told.append(make("b", what), make("span", why));
  const number = make("td", notes ? notes.toLocaleString("en-US") : "–", { class: "number" });
  if (notes) number.dataset.unit = say.notes.toLowerCase();
  line.append(file, told, number);
  return line;
};

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".mg-files"), { lines, say } = data;
  root.parentElement.style.containerType = "inline-size";
  root.toggleAttribute("data-dark", isDark(root));
  root.setAttribute("aria-label", say.table);
  const heads = [say.file, say.what, say.notes].map((name, at) => make("th", name, { scope: "col", ...(at === 2 && { class: "number" }) }));
  root.querySelector("thead tr").replaceChildren(...heads);
  root.querySelector("tbody").replaceChildren(...lines.map((line) => row(line, say)));
  // That there are more of them than one sees, as long as that is so.
  const more = root.querySelector(".more");
  more.textContent = fill(say.more, { n: lines.length.toLocaleString("en-US") });
  const look = () => { more.hidden = root.scrollHeight - root.scrollTop - root.clientHeight < 24; };
  root.onscroll = look;
  const sizes = new ResizeObserver(look);
  for (const each of [root, root.firstElementChild]) sizes.observe(each);
  look();
  return () => sizes.disconnect();
}
