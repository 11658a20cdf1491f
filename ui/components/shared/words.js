// Small things that every component needs.

const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

function clock(seconds, tenths = true) {
  const whole = Math.max(0, tenths ? Math.floor(seconds * 10) / 10 : Math.round(seconds));
  const rest = whole % 60;
  return `${Math.floor(whole / 60)}:${rest < 10 ? "0" : ""}${tenths ? rest.toFixed(1) : rest}`;
}

// Text from files goes in as text, never as HTML.
function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Whether what an element shows stands on dark ground.
function isDark(element) {
  const [r, g, b] = (getComputedStyle(element).backgroundColor.match(/[\d.]+/g) || [255, 255, 255]).map(Number);
  return r * 0.3 + g * 0.59 + b * 0.11 < 128;
}

// A list of keys and what they do, below a picture.
function keyList(box, keys) {
  if (box.childElementCount) return;
  for (const [key, what] of keys) {
    const item = make("span");
    item.append(make("kbd", key), what);
    box.append(item);
  }
}

// One instance a mount, kept over Streamlit's reruns.
function mounting(Kind, selector) {
  const mounted = new WeakMap();
  return (component) => {
    const root = component.parentElement.querySelector(selector);
    let one = mounted.get(root);
    if (!one) mounted.set(root, (one = new Kind(root)));
    one.update(component.data, component);
    return () => {
      one.destroy();
      mounted.delete(root);
    };
  };
}
