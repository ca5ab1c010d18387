// The flame graph's application, part 4 of 5: drawing the frames and the details of one.

// ---- Drawing ----
const shapes = new Map();  // node -> {group, rect, text}; static ones first, others as needed
for (const group of framesGroup.querySelectorAll("g[data-i]")) {
  shapes.set(Number(group.getAttribute("data-i")),
             {group, rect: group.querySelector("rect"), text: group.querySelector("text")});
}
let drawn = new Map();  // node -> {x, width, y}
let rowsOfDrawn = [];   // depth -> nodes from left to right
let focused = 0;
let tallest = 0;        // pixels that the frames have taken so far
let isAtBottom = true;  // where a graph with its root at the bottom begins, and stays when it can
let hits = null;        // Uint8Array by node while a search is on

function visibleNodes(width) {
  const nodes = [], zoom = state.zoom;
  for (let node = parentOf[zoom]; node >= 0; node = parentOf[node]) {
    nodes.push({node, x: 0, width, isAncestor: true});
  }
  nodes.reverse();
  const scale = width / valueOf[zoom];
  for (let node = zoom; node < endOf[zoom];) {
    const size = valueOf[node] * scale;
    if (size < SMALLEST_FRAME) {
      node = endOf[node];
    } else {
      nodes.push({node, x: (startOf[node] - startOf[zoom]) * scale, width: size,
                  isAncestor: false});
      ++node;
    }
  }
  return nodes;
}

function shapeOf(node) {
  let shape = shapes.get(node);
  if (!shape) {
    const rect = svg("rect", {class: colourOf(node)});
    shape = {group: svg("g", {"data-i": node}, rect), rect, text: null};
    shapes.set(node, shape);
  }
  return shape;
}

function drawLabel(shape, box, rowHeight) {
  const name = nameOf(box.node);
  const label = box.width < SMALLEST_LABEL ? "" : fitLabel(name, box.width - 2 * LABEL_MARGIN);
  if (!label) {
    if (shape.text) shape.text.remove();
    shape.text = null;
    return;
  }
  if (!shape.text) shape.text = shape.group.appendChild(svg("text", {}));
  shape.text.setAttribute("x", (box.x + LABEL_MARGIN).toFixed(2));
  shape.text.setAttribute("y", box.y + rowHeight / 2 + 4);
  shape.text.textContent = label;
  if (label !== name || kindOf(box.node) !== 0 || !field(box.node, 2)) return;
  const place = placeOf(box.node, true);
  if (widthOf(name) + widthOf(place) + 4 * LABEL_MARGIN <= box.width) {
    shape.text.append(svg("tspan", {class: "w", dx: 8}, place));
  }
}

function drawFrame(box, rowHeight) {
  const shape = shapeOf(box.node);
  // A hairline between neighbours, unless it would eat the frame.
  const gap = box.width > 3 ? 0.6 : 0;
  shape.rect.setAttribute("x", box.x.toFixed(2));
  shape.rect.setAttribute("y", box.y);
  shape.rect.setAttribute("width", (box.width - gap).toFixed(2));
  shape.rect.setAttribute("height", rowHeight - 1);
  shape.group.setAttribute("class", (box.isAncestor ? "anc" : "") +
                                    (hits && hits[box.node] ? " hit" : ""));
  drawLabel(shape, box, rowHeight);
  return shape.group;
}

// Draws the view at a width; returns the number of rows.
function draw(width, rowHeight) {
  const boxes = total ? visibleNodes(width) : [];
  const deepest = boxes.reduce((depth, box) => Math.max(depth, depthOf[box.node]), 0);
  const last = drawn;
  const added = document.createDocumentFragment();
  drawn = new Map();
  rowsOfDrawn = [];
  for (const box of boxes) {
    const depth = depthOf[box.node];
    box.y = (state.isInverted ? depth : deepest - depth) * rowHeight;
    drawn.set(box.node, box);
    (rowsOfDrawn[depth] ||= []).push(box.node);
    const group = drawFrame(box, rowHeight);
    if (group.parentNode !== framesGroup) added.append(group);
    last.delete(box.node);
  }
  for (const node of last.keys()) shapes.get(node).group.remove();
  framesGroup.append(added);
  return deepest + 1;
}

// Only one frame is in the tab order; the arrow keys move on from it.
function makeFocusable(node) {
  const group = shapeOf(node).group;
  group.setAttribute("role", "treeitem");
  group.setAttribute("aria-level", depthOf[node] + 1);
  group.setAttribute("aria-label", hoverText(node));
  group.setAttribute("tabindex", "0");
}

const rowHeight = () => matchMedia("(pointer: coarse)").matches ? 24 : 18;

function redraw() {
  if (total === 0) return;
  const width = ui.graph.clientWidth, height = rowHeight();
  const rows = draw(width, height);
  tallest = Math.max(tallest, rows * height);
  ui.graph.style.flexBasis = tallest + 2 + "px";  // with its borders; a zoom does not move the rest
  ui.svg.setAttribute("height", rows * height);
  ui.svg.setAttribute("viewBox", `0 0 ${width} ${rows * height}`);
  ui.graph.classList.toggle("anchored", !state.isInverted);
  framesGroup.classList.toggle("searching", hits !== null);
  ui.reset.disabled = state.zoom === 0;
  if (isAtBottom && !state.isInverted) ui.graph.scrollTop = ui.graph.scrollHeight;
  if (!drawn.has(focused)) focused = state.zoom;
  makeFocusable(focused);
  // A scrollbar that has come or gone changes the width.
  if (ui.graph.clientWidth !== width && !redraw.isAgain) {
    redraw.isAgain = true;
    redraw();
    redraw.isAgain = false;
  }
}

function scrollTo(node) {
  const box = drawn.get(node);
  if (!box) return;
  const top = box.y + ui.svg.getBoundingClientRect().top - ui.graph.getBoundingClientRect().top;
  if (top < 0) ui.graph.scrollTop += top;
  const below = top + rowHeight() - ui.graph.clientHeight;
  if (below > 0) ui.graph.scrollTop += below;
}

// ---- Details ----
function differenceOf(node) {
  const now = shareOf(node), base = baseShare(node), points = 100 * (now - base);
  const before = html("span", {}, `base ${humanShare(base, 1)} (${human(base * data.base_total)})`);
  if (Math.abs(points) < 0.005) return [before, html("span", {}, "unchanged")];
  const factor = base > 0 ? `, \u00d7${shortNumber(now / base)}` : ", new";
  const text = `${points < 0 ? "\u2212" : "+"}${shortNumber(Math.abs(points))} points${factor}`;
  return [before, html("span", {class: points < 0 ? "down" : "up"}, text)];
}

function figuresOf(node) {
  const value = valueOf[node], self = data.self[node], parent = parentOf[node];
  const figures = [html("span", {}, html("b", {}, humanOf(value))),
                   html("span", {}, humanShare(value, total) + " of the total")];
  if (data.differential) figures.push(...differenceOf(node));
  if (parent > 0) {
    figures.push(html("span", {}, humanShare(value, valueOf[parent]) + " of its caller"));
  }
  if (state.zoom && node > state.zoom && node < endOf[state.zoom]) {
    figures.push(html("span", {}, humanShare(value, valueOf[state.zoom]) + " of this view"));
  }
  figures.push(html("span", {}, self ? `self ${humanOf(self)} (${humanShare(self, total)})` :
                                       "self 0"));
  return figures;
}

const HINT = "Click a frame to zoom in; hover or use the arrow keys for details; / searches.";

function showDetails(node) {
  if (total === 0) return;
  const kind = node === 0 ? "" : KINDS[kindOf(node)] + (isInlined(node) ? ", inlined" : "");
  const parts = [
    html("div", {class: "name"}, nameOf(node), html("span", {class: "kind"}, kind)),
    html("div", {class: "figures"}, ...figuresOf(node))
  ];
  const place = placeSentence(node), whole = field(node, 1);
  if (place) parts.push(html("div", {class: "place"}, place));
  if (whole) parts.push(html("div", {class: "whole"}, whole));
  if (node === 0) parts.push(html("div", {class: "place"}, HINT));
  ui.details.replaceChildren(...parts);
  ui.details.scrollTop = 0;
}

const KEYS = [["click, Enter", "zoom in"], ["Esc", "reset zoom, then search"],
              ["arrows", "move between frames"], ["/, Ctrl-F", "search"],
              ["Enter in search", "next match"], ["Back", "the zoom before"]];

function showHelp() {
  const parts = KEYS.map(([key, effect]) => html("span", {}, html("kbd", {}, key), " " + effect));
  ui.details.replaceChildren(html("div", {class: "figures"}, ...parts));
}

function showCurrent() {
  if (ui.help.getAttribute("aria-pressed") === "true") {
    showHelp();
  } else {
    showDetails(framesGroup.contains(document.activeElement) ? focused : state.zoom);
  }
}
