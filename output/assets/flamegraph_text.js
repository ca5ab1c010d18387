// The flame graph's application, part 2 of 5: human units, places and labels; as in svg_text.cc.

// ---- Text ----
function shortNumber(number) {
  const size = Math.abs(number);
  return number.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function inLargestUnit(value, steps) {
  const step = steps.find(([size]) => value >= size * 0.9995) || steps[steps.length - 1];
  return shortNumber(value / step[0]) + " " + step[1];
}

function humanNanoseconds(value) {
  if (value >= 3.6e12) return shortNumber(value / 3.6e12) + " h";
  if (value >= 6e11) return shortNumber(value / 6e10) + " min";
  return inLargestUnit(value, [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]]);
}

function humanBytes(value) {
  if (value < 1023.5) return Math.round(value) + " B";
  return inLargestUnit(value, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"],
                               [1024, "KiB"]]);
}

const NANOSECONDS = {nanoseconds: 1, ns: 1, microseconds: 1e3, us: 1e3, milliseconds: 1e6,
                     ms: 1e6, seconds: 1e9, s: 1e9};
const BYTES = {bytes: 1, B: 1, kilobytes: 1024, kb: 1024};

const humanCount = (number) => Math.round(number).toLocaleString("en-US");

function human(value) {
  if (Object.hasOwn(NANOSECONDS, data.unit)) {
    return humanNanoseconds(value * NANOSECONDS[data.unit]);
  }
  if (Object.hasOwn(BYTES, data.unit)) return humanBytes(value * BYTES[data.unit]);
  return humanCount(value) + (data.unit && data.unit !== "count" ? " " + data.unit : "");
}
const humanOf = (value) => human(value * data.divisor);

function humanShare(part, whole) {
  if (!(whole > 0) || !(part > 0)) return "0%";
  if (part === whole) return "100%";
  const percent = 100 * part / whole;
  return percent < 0.01 ? "<0.01%" : shortNumber(Math.min(percent, 99.9)) + "%";
}

const lastOfPath = (path) => path.slice(path.lastIndexOf("/") + 1);

function placeOf(node, isShort) {
  const file = field(node, 2), module = field(node, 3), line = lineOf(node);
  if (!file) return isShort ? lastOfPath(module) : module;
  return (isShort ? lastOfPath(file) : file) + (line ? ":" + line : "");
}

function placeSentence(node) {
  let text = placeOf(node, false);
  const places = placesOf.get(node);
  if (places && text) {
    const others = humanCount(places[0] - 1) + (places[0] > 2 ? " other places" : " other place");
    text += ` (${places[1]}% of it; ${others})`;
  }
  return field(node, 2) && field(node, 3) ? text + " in " + field(node, 3) : text;
}

function hoverText(node) {
  const place = placeOf(node, false);
  return nameOf(node) + (place ? "\n" + place : "") + "\n" + humanOf(valueOf[node]) + ", " +
      humanShare(valueOf[node], total) +
      (data.differential ? ` (base: ${humanShare(baseShare(node), 1)})` : "");
}

// ---- Labels: measured once per character, then added up ----
let characterWidths = new Map();
const measuring = document.createElementNS(XHTML, "canvas").getContext("2d");

function prepareMeasuring(element) {
  const style = getComputedStyle(element);
  characterWidths = new Map();
  if (measuring) measuring.font = `${style.fontSize} ${style.fontFamily}`;
}

function widthOf(text) {
  let width = 0;
  for (const character of text) {
    let advance = characterWidths.get(character);
    if (advance === undefined) {
      advance = measuring ? measuring.measureText(character).width : 8;
      characterWidths.set(character, advance);
    }
    width += advance;
  }
  return width;
}

// Where the parts of a qualified name begin, the last first: behind each "::" outside brackets.
// "{lambda}" and the like say nothing without the part before them.
function partStarts(name) {
  const starts = [];
  for (let i = name.length - 1, depth = 0; i > 0; --i) {
    if (">)]}".includes(name[i])) ++depth;
    if ("<([{".includes(name[i])) --depth;
    if (depth === 0 && name[i] === ":" && name[i - 1] === ":" && i + 1 < name.length) {
      if (name[i + 1] !== "{") starts.push(i + 1);
      --i;
    }
  }
  return starts;
}

function cutLabel(text, width) {
  let used = widthOf("\u2026"), label = "", characters = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    label += character;
    ++characters;
  }
  return characters < 2 ? "" : label + "\u2026";
}

function fitLabel(name, width) {
  if (widthOf(name) <= width) return name;
  const starts = partStarts(name);
  let fitting = "";
  for (const start of starts) {
    const candidate = "\u2026" + name.slice(start);
    if (widthOf(candidate) > width) break;
    fitting = candidate;
  }
  return fitting || cutLabel(starts.length ? name.slice(starts[0]) : name, width);
}
