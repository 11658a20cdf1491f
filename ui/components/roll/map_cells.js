// The cells of a large map as a picture of what is in view: no more of them than the screen shows,
// so that a frame stays short however many events there are.

const MOST_CELLS = 700; // a side; of more in view the coarse map is drawn, which the server made

// Into how many pixels a side, and which cell falls on which: equal runs.
function runs(first, end, most) {
  const count = Math.min(end - first, most), of = new Int32Array(end - first);
  for (let i = 0; i < of.length; i++) of[i] = Math.floor((i * count) / of.length);
  return { first, end, count, of };
}

// Each pixel shows the largest of its cells; where there are none but of the future, nothing.
function pooled({ side, levels }, down, across) {
  const out = new Uint16Array(down.count * across.count); // a level and one; 0 is the future
  for (let row = down.first; row < down.end; row++) {
    const into = down.of[row - down.first] * across.count, from = row * side, end = Math.min(across.end, row + 1);
    for (let column = across.first; column < end; column++) {
      const place = into + across.of[column - across.first], level = levels[from + column] + 1;
      if (level > out[place]) out[place] = level;
    }
  }
  return out;
}

class Cells {
  constructor() { this.canvas = document.createElement("canvas"); }

  // Draw what is in view into a square of `size` px at (left, 0).
  draw(g, data, { from, span, size, left, dark }) {
    const { side, coarse } = data, grid = span * side > MOST_CELLS ? coarse : data;
    const most = Math.ceil(size * (window.devicePixelRatio || 1));
    const [down, across] = from.map((at) => runs(Math.floor(at * grid.side + 1e-6), Math.min(grid.side, Math.ceil((at + span) * grid.side - 1e-6)), most));
    this.paint(data, grid, down, across, dark);
    const px = (cell, axis) => ((cell / grid.side - from[axis]) / span) * size;
    const [x, y] = [px(across.first, 1), px(down.first, 0)];
    g.save();
    g.beginPath();
    g.rect(left, 0, size, size);
    g.clip();
    g.imageSmoothingEnabled = false;
    g.drawImage(this.canvas, left + x, y, px(across.end, 1) - x, px(down.end, 0) - y);
    g.restore();
  }

  // The picture stays until something else is in view, or the page's colours are others.
  paint(data, grid, down, across, dark) {
    const key = [down.first, down.end, across.first, across.end, down.count, dark].join();
    if (this.data === data && this.key === key) return;
    Object.assign(this, { data, key });
    const colours = RAMPS[dark ? "dark" : "light"], levels = pooled(grid, down, across);
    const image = new ImageData(across.count, down.count), into = new Uint32Array(image.data.buffer);
    for (let i = 0; i < into.length; i++) if (levels[i]) into[i] = colours[levels[i] - 1];
    this.canvas.width = across.count;
    this.canvas.height = down.count;
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }
}
