// Files on their way to the uploader of the same container. Many of them are packed into one zip,
// without compression: MIDI files are small, and the uploader draws a line for each that it gets.

const UPLOADER = '[data-testid="stFileUploader"]';
const MUSIC = /\.(midi?|kar|rmi|smf)$/i, ZIP = /\.zip$/i;
const MOST_IN_ZIP = 65000; // a plain zip counts its entries in 16 bits

const count = (number) => number.toLocaleString("en-US");
const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0);

class Inlet {
  constructor(root) {
    this.root = root;
    this.isPassing = false;
    this.hear = (event) => this.heard(event);
    // On the window, before the page's own listeners.
    for (const kind of ["change", "drop"]) window.addEventListener(kind, this.hear, true);
    this.faults = new MutationObserver(() => this.reword());
    // The page's own document alone: components lie in shadows of it.
    this.faults.observe(document.body, { childList: true, subtree: true, characterData: true });
    root.dataset.hears = ""; // whoever drives the page by program waits for that
  }

  update({ mostFiles, mostMb, say, isEmpty }) {
    if (isEmpty && this.isEmpty === false) this.say(""); // of what was taken off the page
    Object.assign(this, { mostFiles, most: mostMb * 2 ** 20, mostMb, words: say, isEmpty });
  }

  heard(event) {
    const uploader = event.target.closest?.(UPLOADER);
    if (this.isPassing || !uploader) return;
    const input = uploader.querySelector("input[type=file]");
    const given = event.type === "drop" ? event.dataTransfer : event.target;
    if (!input?.multiple || !given?.files) return;
    this.say("");
    const folders = [...(given.items ?? [])].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory);
    const files = [...given.files];
    if (!folders.length && files.length <= this.mostFiles && files.every((file) => file.size <= this.most)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === "drop") event.target.dispatchEvent(new Event("dragleave", { bubbles: true }));
    const names = new Set(folders.map((folder) => folder.name));
    const plain = files.filter((file) => !names.has(file.name)).map((file) => ({ name: file.webkitRelativePath || file.name, file }));
    this.take(folders, plain, input).catch(() => this.say(this.words.unread));
  }

  async take(folders, found, input) {
    for (const folder of folders) await walk(folder, "", found);
    if (!found.length) return this.say(this.words.noMusic);
    const tooLarge = found.filter(({ file }) => file.size > this.most);
    const fit = found.filter(({ file }) => file.size <= this.most);
    const told = tooLarge.map(({ name, file }) => fill(this.words.tooLarge, { name, mb: megabytes(file.size), most: this.mostMb }));
    if (fit.length <= this.mostFiles) {
      this.say(told.join(" "));
      return this.pass(fit.map(({ file }) => file), input);
    }
    const zips = fit.filter(({ name }) => ZIP.test(name)), loose = fit.filter(({ name }) => !ZIP.test(name));
    const bytes = loose.reduce((sum, { file }) => sum + file.size, 0), files = count(loose.length);
    if (loose.length > MOST_IN_ZIP || bytes > 0.95 * this.most)
      return this.say(fill(this.words.tooMany, { files, mb: megabytes(bytes), most: this.mostMb }));
    this.say(fill(this.words.packing, { files }));
    const packed = new File([await zip(loose)], `${loose.length} files.zip`, { type: "application/zip" });
    this.say([fill(this.words.packed, { files }), ...told].join(" "));
    this.pass([packed, ...zips.map(({ file }) => file)], input);
  }

  // Hand files to the uploader as if they had been chosen there.
  pass(files, input) {
    if (!files.length) return;
    const carrier = new DataTransfer();
    for (const file of files) carrier.items.add(file);
    input.files = carrier.files;
    this.isPassing = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    this.isPassing = false;
  }

  // The uploader tells what its own library calls the fault: "AxiosError: … status code 413".
  reword() {
    for (const alert of document.querySelectorAll(`${UPLOADER} [role=alert]`)) {
      const texts = document.createTreeWalker(alert, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const found = texts.currentNode.data.match(/AxiosError: (?:.*status code (\d+)|.*)/);
        if (found) texts.currentNode.data = found[1] === "413" ? this.words.tooLargeThere : found[1] ? this.words.refused : this.words.unreached;
      }
    }
  }

  say(text) {
    this.root.textContent = text;
    this.root.hidden = !text;
  }

  destroy() {
    for (const kind of ["change", "drop"]) window.removeEventListener(kind, this.hear, true);
    this.faults.disconnect();
  }
}

// Add the music below a folder that was dropped; what else lies there is passed over.
async function walk(entry, path, found) {
  if (entry.isFile) {
    if (MUSIC.test(entry.name) || ZIP.test(entry.name))
      found.push({ name: path + entry.name, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const each of some) await walk(each, `${path}${entry.name}/`, found);
  }
}

// A zip of stored files; the format is PKWARE's APPNOTE, 4.3.
async function zip(files) {
  const parts = [], directory = [], taken = new Set();
  let offset = 0;
  for (const { name, file } of files) {
    const own = new TextEncoder().encode(unique(name, taken)), sum = crc(new Uint8Array(await file.arrayBuffer()));
    // Version 2.0, names in UTF-8, stored, of 1 January 1980.
    const facts = [[20, 2], [0x0800, 2], [0, 2], [0, 2], [0x21, 2], [sum, 4], [file.size, 4], [file.size, 4], [own.length, 2], [0, 2]];
    const head = bytes([[0x04034b50, 4], ...facts]);
    parts.push(head, own, file);
    directory.push(bytes([[0x02014b50, 4], [20, 2], ...facts, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]]), own);
    offset += head.length + own.length + file.size;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = bytes([[0x06054b50, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [size, 4], [offset, 4], [0, 2]]);
  return new Blob([...parts, ...directory, end]);
}

function unique(name, taken) {
  let own = name;
  for (let number = 2; taken.has(own); number++) own = name.replace(/(\.[^./]*)?$/, `-${number}$1`);
  taken.add(own);
  return own;
}

function bytes(fields) {
  const out = new Uint8Array(fields.reduce((sum, [, width]) => sum + width, 0));
  let at = 0;
  for (const [value, width] of fields)
    for (let place = 0; place < width; place++) out[at++] = (value >>> (8 * place)) & 255;
  return out;
}

const CRC = Uint32Array.from({ length: 256 }, (_, value) => {
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc(data) {
  let sum = 0xffffffff;
  for (const byte of data) sum = (sum >>> 8) ^ CRC[(sum ^ byte) & 255];
  return (sum ^ 0xffffffff) >>> 0;
}

export default mounting(Inlet, ".mg-inlet");
