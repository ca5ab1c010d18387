// The flame graph's application, part 1 of 5: the data. It takes the static shapes over, lays all
// frames out to the width of the window and adds zoom, search, details and the keyboard. The parts
// are joined into one script with one scope (embed.cmake). Names reach the page as text nodes and
// attribute values alone, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const XHTML = "http://www.w3.org/1999/xhtml";
const KINDS = ["Python", "native", "kernel", "JIT", "unknown", "truncated", "blocked",
               "runnable"];
const LETTERS = "pnkjutwq";
const FIRST_STATE = 6;  // in the legend only where there are such frames
const LABEL_MARGIN = 4;
const SMALLEST_LABEL = 22;  // narrower frames have no label
const SMALLEST_FRAME = 0.5;  // pixels; narrower frames are not drawn
const STATIC_WIDTH = 1200, STATIC_MARGIN = 10, STATIC_HEADER = 84, STATIC_FOOTER = 30;
const STATIC_ROW = 18;

const picture = document.querySelector("svg.lumbre");
const framesGroup = picture.querySelector(".frames");
const data = JSON.parse(document.querySelector("script.data").textContent);

// ---- The data: see output/svg_data.h. Nodes are in depth-first order. ----
const numbersOf = (text) => text.split(",").map((digits) => digits ? parseInt(digits, 36) : 0);
for (const list of ["frames", "up", "frame", "self", "base"]) {
  if (list in data) data[list] = numbersOf(data[list]);
}
data.places = data.places ? numbersOf(data.places) : [];
const count = data.up.length;
const depthOf = new Int32Array(count), parentOf = new Int32Array(count).fill(-1);
const endOf = new Int32Array(count);  // the node behind the last descendant
const valueOf = new Float64Array(count), startOf = new Float64Array(count);
const placesOf = new Map();  // node -> [how many places, percent at the named one]

function decode() {
  const path = [];
  for (let i = 0; i < count; ++i) {
    depthOf[i] = (i ? depthOf[i - 1] + 1 : 0) - data.up[i];
    path[depthOf[i]] = i;
    if (i) parentOf[i] = path[depthOf[i] - 1];
    valueOf[i] = data.self[i];
    endOf[i] = i + 1;
  }
  for (let i = count - 1; i > 0; --i) {
    valueOf[parentOf[i]] += valueOf[i];
    endOf[parentOf[i]] = Math.max(endOf[parentOf[i]], endOf[i]);
  }
  const nextStart = new Float64Array(count);
  for (let i = 1; i < count; ++i) {
    startOf[i] = nextStart[parentOf[i]];
    nextStart[parentOf[i]] += valueOf[i];
    nextStart[i] = startOf[i];
  }
  for (let i = 0, node = 0; i < data.places.length; i += 3) {
    node += data.places[i];
    placesOf.set(node, [data.places[i + 1], data.places[i + 2]]);
  }
}
decode();
const total = valueOf[0];

const field = (node, which) => data.strings[data.frames[data.frame[node] * 6 + which]];
const nameOf = (node) => field(node, 0);
const attributes = (node) => data.frames[data.frame[node] * 6 + 4];
const lineOf = (node) => data.frames[data.frame[node] * 6 + 5];
const kindOf = (node) => attributes(node) & 7;
const isInlined = (node) => (attributes(node) & 8) !== 0;
const baseShare = (node) => data.base[node] / 1e7;
const shareOf = (node) => valueOf[node] / total;

function colourOf(node) {
  if (!data.differential) {
    return node === 0 ? "r" : LETTERS[kindOf(node)] + (attributes(node) >> 4);
  }
  const now = shareOf(node), base = baseShare(node);
  const change = (now - base) / Math.max(now, base, 1e-12);
  return "d" + (5 + Math.round(5 * change * Math.min(1, Math.abs(now - base) / 0.002)));
}
