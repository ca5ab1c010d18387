// The flame graph's application: takes the static shapes over, lays all frames out to the width of
// the window and adds zoom, search, details and the keyboard. Names reach the page as text nodes
// and attribute values alone, never as markup.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const XHTML = "http://www.w3.org/1999/xhtml";
  const KINDS = ["Python", "native", "kernel", "JIT", "unknown", "truncated"];
  const LETTERS = "pnkjut";
  const LABEL_MARGIN = 4;
  const SMALLEST_LABEL = 22;  // narrower frames have no label
  const SMALLEST_FRAME = 0.5;  // pixels; narrower frames are not drawn
  const STATIC_WIDTH = 1200, STATIC_MARGIN = 10, STATIC_HEADER = 84, STATIC_FOOTER = 30;
  const STATIC_ROW = 18;

  const picture = document.querySelector("svg.lumbre");
  const framesGroup = picture.querySelector(".frames");
  const data = JSON.parse(document.querySelector("script.data").textContent);

  // ---- The data: see output/svg_data.h. Nodes are in depth-first order. ----
  const count = data.depth.length;
  const depthOf = new Int32Array(count), parentOf = new Int32Array(count).fill(-1);
  const endOf = new Int32Array(count);  // the node behind the last descendant
  const valueOf = new Float64Array(count), startOf = new Float64Array(count);
  const placesOf = new Map();  // node -> [how many places, percent at the named one]

  function decode() {
    const path = [];
    for (let i = 0; i < count; ++i) {
      depthOf[i] = (i ? depthOf[i - 1] : 0) + data.depth[i];
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

  const field = (node, which) => data.strings[data.frames[data.frame[node] * 5 + which]];
  const nameOf = (node) => field(node, 0);
  const attributes = (node) => data.frames[data.frame[node] * 5 + 4];
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
    const file = field(node, 2), module = field(node, 3), line = data.line[node];
    if (!file) return isShort ? lastOfPath(module) : module;
    return (isShort ? lastOfPath(file) : file) + (line ? ":" + line : "");
  }

  function placeSentence(node) {
    let text = placeOf(node, false);
    const places = placesOf.get(node);
    if (places && text) {
      const others = places[0] - 1;
      text += ` (${places[1]}% of it; ${humanCount(others)} other ${others > 1 ? "places" : "place"})`;
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
  function partStarts(name) {
    const starts = [];
    for (let i = name.length - 1, depth = 0; i > 0; --i) {
      if (">)]}".includes(name[i])) ++depth;
      if ("<([{".includes(name[i])) --depth;
      if (depth === 0 && name[i] === ":" && name[i - 1] === ":" && i + 1 < name.length) {
        starts.push(i + 1);
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

  // ---- Building blocks ----
  function make(namespace, tag, properties, children) {
    const element = document.createElementNS(namespace, tag);
    for (const [key, value] of Object.entries(properties || {})) element.setAttribute(key, value);
    element.append(...(children || []));
    return element;
  }
  const html = (tag, properties, ...children) => make(XHTML, tag, properties, children);
  const svg = (tag, properties, ...children) => make(SVG, tag, properties, children);

  // ---- State: what a link holds ----
  const initial = {zoom: 0, search: "", isRegex: false, isInverted: data.inverted};
  const state = {...initial};

  // A node's number and name: the name finds it again in a newer recording of the same program.
  function findNode(text) {
    const comma = text.indexOf(",");
    const number = Number(text.slice(0, comma)), name = text.slice(comma + 1);
    if (comma < 0 || text === "") return 0;
    if (Number.isInteger(number) && number >= 0 && number < count && nameOf(number) === name) {
      return number;
    }
    let heaviest = 0;
    for (let i = 1; i < count; ++i) {
      const isBetter = heaviest === 0 || valueOf[i] > valueOf[heaviest];
      if (isBetter && nameOf(i) === name) heaviest = i;
    }
    return heaviest;
  }

  function readLink() {
    const link = new URLSearchParams(location.hash.slice(1));
    state.zoom = findNode(link.get("zoom") || "");
    state.search = link.get("search") || "";
    state.isRegex = link.get("regex") === "1";
    state.isInverted = link.has("inverted") ? link.get("inverted") === "1" : initial.isInverted;
  }

  function writeLink(isNewPage) {
    const link = new URLSearchParams();
    if (state.zoom) link.set("zoom", state.zoom + "," + nameOf(state.zoom));
    if (state.search) link.set("search", state.search);
    if (state.isRegex) link.set("regex", "1");
    if (state.isInverted !== initial.isInverted) link.set("inverted", state.isInverted ? "1" : "0");
    const hash = "#" + link;
    if (hash === (location.hash || "#")) return;
    try {
      if (isNewPage) {
        history.pushState(null, "", hash);
      } else {
        history.replaceState(null, "", hash);
      }
    } catch {
      // A page without an address of its own (a sandboxed frame) has no link to keep.
    }
  }

  // ---- The page ----
  const ui = {};

  function buildLegend() {
    const items = [];
    const add = (colour, text) => items.push(
        html("li", {}, svg("svg", {"aria-hidden": "true"},
                           svg("rect", {class: colour, width: 12, height: 12, rx: 2})), text));
    if (data.differential) {
      for (const [colour, text] of [["d0", "gone"], ["d3", "less of the total"],
                                    ["d5", "same share"], ["d7", "more of the total"],
                                    ["d10", "new"]]) add(colour, text);
    } else {
      const self = new Float64Array(KINDS.length);
      for (let i = 1; i < count; ++i) self[kindOf(i)] += data.self[i];
      KINDS.forEach((name, kind) => add(
          LETTERS[kind] + 2, self[kind] ? name + " " + humanShare(self[kind], total) : name));
    }
    return html("ul", {class: "legend", title: data.differential ? "Change of share" :
        "Colours by kind of frame; how much of the total ends in a frame of that kind"}, ...items);
  }

  function buildBar() {
    ui.search = html("input", {type: "search", id: "search", placeholder: "Search functions",
                               "aria-label": "Search functions", autocomplete: "off",
                               spellcheck: "false", title: "/ or Ctrl-F; Enter: next match"});
    ui.regex = html("button", {type: "button", "aria-pressed": "false",
                               title: "Search for a regular expression"}, ".*");
    ui.reset = html("button", {type: "button", id: "unzoom", title: "Esc"}, "Reset zoom");
    ui.flip = html("button", {type: "button", title: "Root at the top or at the bottom"}, "Flip");
    ui.help = html("button", {type: "button", "aria-pressed": "false", title: "Keys"}, "?");
    ui.matched = html("output", {class: "matched", id: "matched", for: "search"});
    return html("div", {class: "bar", role: "search"}, ui.search, ui.regex, ui.reset, ui.flip,
                ui.help, ui.matched);
  }

  function buildApplication() {
    ui.svg = svg("svg", {role: "tree", "aria-label": "Flame graph: " + data.title});
    ui.graph = html("div", {class: "graph"}, ui.svg);
    ui.details = html("section", {class: "details", id: "details", "aria-live": "polite"});
    ui.app = html(
        "div", {class: "app"},
        html("div", {class: "top"}, html("h1", {}, data.title),
             html("div", {class: "total"}, total ? data.total_text : ""),
             html("p", {class: "subtitle"}, data.subtitle)),
        buildBar(), buildLegend(), ui.graph, ui.details,
        html("div", {class: "foot"}, data.footer));
    if (total === 0) {
      ui.graph.replaceChildren(html("div", {class: "message"},
          html("b", {}, "There are no samples to show."), data.empty_hint));
      ui.graph.style.display = "flex";
    }
  }

  // In an SVG file the application lives inside of the picture, in a page beside it.
  const isSvgFile = document.documentElement === picture;
  const staticParts = [...picture.querySelectorAll(".static")];

  function enterApplication() {
    if (isSvgFile) {
      picture.removeAttribute("viewBox");
      picture.setAttribute("width", "100%");
      picture.setAttribute("height", "100%");
      if (!ui.holder) ui.holder = svg("foreignObject", {width: "100%", height: "100%"}, ui.app);
      picture.append(ui.holder);
    } else {
      picture.style.display = "none";
      document.body.append(ui.app);
    }
    for (const part of staticParts) part.style.display = "none";
    framesGroup.removeAttribute("transform");
    ui.svg.append(framesGroup);
  }

  // For printing: the current view goes back into the static picture.
  function leaveApplication() {
    for (const part of staticParts) part.style.display = "";
    picture.style.display = "";
    picture.insertBefore(framesGroup, staticParts[1]);
    framesGroup.setAttribute("transform", `translate(${STATIC_MARGIN} ${STATIC_HEADER})`);
    if (isSvgFile) ui.holder.remove(); else ui.app.remove();
    const rows = draw(STATIC_WIDTH - 2 * STATIC_MARGIN, STATIC_ROW);
    const height = STATIC_HEADER + rows * STATIC_ROW + STATIC_FOOTER;
    staticParts[1].setAttribute("transform", `translate(0 ${height - STATIC_FOOTER})`);
    picture.setAttribute("viewBox", `0 0 ${STATIC_WIDTH} ${height}`);
  }

  // ---- Drawing ----
  const elements = new Map();  // node -> its <g>; static ones first, others as they are needed
  for (const group of framesGroup.querySelectorAll("g[data-i]")) {
    elements.set(Number(group.getAttribute("data-i")), group);
  }
  let drawn = new Map();  // node -> {x, width, y}
  let rowsOfDrawn = [];   // depth -> nodes from left to right
  let focused = 0;
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

  function elementOf(node) {
    let group = elements.get(node);
    if (!group) {
      group = svg("g", {"data-i": node}, svg("rect", {class: colourOf(node)}));
      elements.set(node, group);
    }
    if (!group.hasAttribute("role")) {
      group.setAttribute("role", "treeitem");
      group.setAttribute("aria-level", depthOf[node] + 1);
      group.setAttribute("tabindex", "-1");
    }
    return group;
  }

  function drawLabel(group, box, rowHeight) {
    let text = group.querySelector("text");
    const name = nameOf(box.node);
    const label = box.width < SMALLEST_LABEL ? "" : fitLabel(name, box.width - 2 * LABEL_MARGIN);
    if (!label) {
      if (text) text.remove();
      return;
    }
    if (!text) text = group.appendChild(svg("text", {}));
    text.setAttribute("x", (box.x + LABEL_MARGIN).toFixed(2));
    text.setAttribute("y", box.y + rowHeight / 2 + 4);
    text.textContent = label;
    if (label !== name || kindOf(box.node) !== 0 || !field(box.node, 2)) return;
    const place = placeOf(box.node, true);
    if (widthOf(name) + widthOf(place) + 4 * LABEL_MARGIN <= box.width) {
      text.append(svg("tspan", {class: "w", dx: 8}, place));
    }
  }

  function drawFrame(box, rowHeight) {
    const group = elementOf(box.node);
    // A hairline between neighbours, unless it would eat the frame.
    const gap = box.width > 3 ? 0.6 : 0;
    const rect = group.querySelector("rect");
    rect.setAttribute("x", box.x.toFixed(2));
    rect.setAttribute("y", box.y);
    rect.setAttribute("width", (box.width - gap).toFixed(2));
    rect.setAttribute("height", rowHeight - 1);
    group.setAttribute("class", (box.isAncestor ? "anc" : "") +
                                (hits && hits[box.node] ? " hit" : ""));
    drawLabel(group, box, rowHeight);
    return group;
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
    for (const node of last.keys()) elements.get(node).remove();
    framesGroup.append(added);
    return deepest + 1;
  }

  const rowHeight = () => matchMedia("(pointer: coarse)").matches ? 24 : 18;

  function redraw() {
    if (total === 0) return;
    const width = ui.graph.clientWidth, height = rowHeight();
    const rows = draw(width, height);
    ui.svg.setAttribute("height", rows * height);
    ui.svg.setAttribute("viewBox", `0 0 ${width} ${rows * height}`);
    ui.graph.classList.toggle("anchored", !state.isInverted);
    framesGroup.classList.toggle("searching", hits !== null);
    ui.reset.disabled = state.zoom === 0;
    if (!drawn.has(focused)) focused = state.zoom;
    elements.get(focused).setAttribute("tabindex", "0");
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
    const factor = base > 0 ? `, \u00d7${shortNumber(now / base)}` : ", new";
    const text = `${points < 0 ? "\u2212" : "+"}${shortNumber(Math.abs(points))} points${factor}`;
    return [html("span", {}, `base ${humanShare(base, 1)} (${human(base * data.base_total)})`),
            html("span", {class: points < 0 ? "down" : "up"}, text)];
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

  // ---- Search ----
  function matcher() {
    if (!state.search) return null;
    if (state.isRegex) {
      const expression = new RegExp(state.search, "iu");
      return (name) => expression.test(name);
    }
    const wanted = state.search.toLowerCase();
    return (name) => name.toLowerCase().includes(wanted);
  }

  // By display name; by whole name where no display name matches.
  function findHits(matches) {
    for (const which of [0, 1]) {
      const isHit = data.strings.map((text) => matches(text));
      const found = new Uint8Array(count);
      let hasAny = false;
      for (let i = 1; i < count; ++i) {
        const text = data.frames[data.frame[i] * 5 + which];
        if (text !== 0 && isHit[text]) found[i] = hasAny = 1;
      }
      if (hasAny || which === 1) return found;
    }
    return null;
  }

  // What the matching frames hold below `top`; a match inside of a match counts once.
  function valueOfHits(top) {
    let value = 0;
    for (let i = top; i < endOf[top];) {
      value += hits[i] ? valueOf[i] : 0;
      i = hits[i] ? endOf[i] : i + 1;
    }
    return value;
  }

  function isUnderHit(node) {
    for (; node >= 0; node = parentOf[node]) if (hits[node]) return true;
    return false;
  }

  function describeHits() {
    const frames = hits.reduce((sum, hit) => sum + hit, 0);
    if (!frames) return "No match";
    const value = valueOfHits(0);
    let text = `${humanShare(value, total)} matched: ${humanOf(value)} in ${humanCount(frames)} ` +
        (frames === 1 ? "frame" : "frames");
    if (state.zoom) {
      const inView = isUnderHit(state.zoom) ? valueOf[state.zoom] : valueOfHits(state.zoom);
      text += `; ${humanShare(inView, valueOf[state.zoom])} of this view`;
    }
    return text;
  }

  function search() {
    let message = "";
    hits = null;
    try {
      const matches = matcher();
      if (matches) hits = findHits(matches);
      if (hits) message = describeHits();
    } catch {
      message = "Not a valid regular expression";
    }
    ui.search.setAttribute("aria-invalid", message.startsWith("Not"));
    ui.regex.setAttribute("aria-pressed", state.isRegex);
    ui.matched.textContent = message;
  }

  function goToNextHit(step) {
    if (!hits) return;
    const isRunning = framesGroup.contains(document.activeElement) || goToNextHit.hasStarted;
    goToNextHit.hasStarted = true;
    let node = isRunning ? focused : 0;
    for (let tried = 0; tried < count; ++tried) {
      node = (node + step + count) % count;
      if (hits[node]) break;
    }
    if (!hits[node]) return;
    if (!drawn.has(node)) zoomTo(node);
    moveTo(node, false);
  }

  // ---- Actions ----
  function apply() {
    search();
    redraw();
    showCurrent();
  }

  function zoomTo(node) {
    const wasFocused = framesGroup.contains(document.activeElement);
    state.zoom = node;
    writeLink(true);
    moveFocus(node);
    apply();
    if (wasFocused) elements.get(node).focus({preventScroll: true});
    scrollTo(node);
  }

  function setSearch(text, isRegex) {
    state.search = text;
    state.isRegex = isRegex;
    goToNextHit.hasStarted = false;
    writeLink(false);
    apply();
  }

  function moveFocus(node) {
    const last = elements.get(focused);
    if (last) last.setAttribute("tabindex", "-1");
    focused = node;
    if (elements.has(node)) elements.get(node).setAttribute("tabindex", "0");
  }

  function moveTo(node, takesFocus) {
    moveFocus(node);
    if (takesFocus) elements.get(node).focus({preventScroll: true});
    scrollTo(node);
    showDetails(node);
  }

  function heaviestChild(node) {
    let best = -1;
    for (let child = node + 1; child < endOf[node]; child = endOf[child]) {
      if (drawn.has(child) && (best < 0 || valueOf[child] > valueOf[best])) best = child;
    }
    return best;
  }

  // The drawn child on the way to the zoomed frame: ancestors are as wide as the window.
  function drawnChild(node) {
    for (let child = state.zoom; child > node; child = parentOf[child]) {
      if (parentOf[child] === node) return child;
    }
    return heaviestChild(node);
  }

  function neighbour(key) {
    const towardsLeaf = state.isInverted ? "ArrowDown" : "ArrowUp";
    if (key === "ArrowUp" || key === "ArrowDown") {
      return key === towardsLeaf ? drawnChild(focused) : parentOf[focused];
    }
    const row = rowsOfDrawn[depthOf[focused]];
    const next = row[row.indexOf(focused) + (key === "ArrowLeft" ? -1 : 1)];
    return next === undefined ? -1 : next;
  }

  function escape() {
    if (ui.help.getAttribute("aria-pressed") === "true") {
      toggleHelp();
    } else if (state.zoom) {
      zoomTo(0);
    } else if (state.search) {
      ui.search.value = "";
      setSearch("", state.isRegex);
    }
  }

  function toggleHelp() {
    ui.help.setAttribute("aria-pressed", ui.help.getAttribute("aria-pressed") !== "true");
    showCurrent();
  }

  // ---- Events ----
  const nodeAt = (target) => {
    const group = target.closest ? target.closest("g[data-i]") : null;
    return group ? Number(group.getAttribute("data-i")) : -1;
  };

  function onKeyInGraph(event) {
    if (event.key.startsWith("Arrow")) {
      const next = framesGroup.contains(document.activeElement) ? neighbour(event.key) : focused;
      if (next >= 0) moveTo(next, true);
    } else if (event.key === "Enter" || event.key === " ") {
      zoomTo(focused);
    } else {
      return;
    }
    event.preventDefault();
  }

  function onKey(event) {
    const isTyping = document.activeElement === ui.search;
    const isFind = (event.ctrlKey || event.metaKey) && event.key === "f";
    if ((isFind || (event.key === "/" && !isTyping)) && !(isFind && isTyping)) {
      ui.search.focus();
      ui.search.select();
      event.preventDefault();
    } else if (event.key === "Escape" && !isTyping) {
      escape();
    } else if (!event.ctrlKey && !event.metaKey && !event.altKey && total > 0 &&
               !ui.app.querySelector(".bar").contains(document.activeElement)) {
      onKeyInGraph(event);
    }
  }

  function onKeyInSearch(event) {
    if (event.key === "Enter") {
      goToNextHit(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      ui.search.value = "";
      setSearch("", state.isRegex);
      ui.search.blur();
      event.preventDefault();
    }
  }

  function listenToBar() {
    ui.search.addEventListener("input", () => setSearch(ui.search.value, state.isRegex));
    ui.search.addEventListener("keydown", onKeyInSearch);
    ui.regex.addEventListener("click", () => setSearch(state.search, !state.isRegex));
    ui.reset.addEventListener("click", () => zoomTo(0));
    ui.help.addEventListener("click", toggleHelp);
    ui.flip.addEventListener("click", () => {
      state.isInverted = !state.isInverted;
      writeLink(false);
      apply();
      ui.graph.scrollTop = state.isInverted ? 0 : ui.graph.scrollHeight;
    });
  }

  function listenToGraph() {
    framesGroup.addEventListener("click", (event) => {
      const node = nodeAt(event.target);
      if (node >= 0) zoomTo(node);
    });
    framesGroup.addEventListener("mouseover", (event) => {
      const node = nodeAt(event.target);
      if (node < 0) return;
      const group = elements.get(node);
      if (!group.querySelector("title")) group.prepend(svg("title", {}, hoverText(node)));
      showDetails(node);
    });
    framesGroup.addEventListener("mouseout", showCurrent);
    framesGroup.addEventListener("focusin", (event) => {
      const node = nodeAt(event.target);
      if (node < 0) return;
      elements.get(node).setAttribute("aria-label", hoverText(node));
      moveFocus(node);
      showDetails(node);
    });
  }

  function restore() {
    readLink();
    ui.search.value = state.search;
    moveFocus(state.zoom);
    apply();
    scrollTo(state.zoom);
  }

  function start() {
    buildApplication();
    enterApplication();
    prepareMeasuring(framesGroup.querySelector("text") || ui.svg);
    for (const node of elements.keys()) drawn.set(node, null);
    listenToBar();
    listenToGraph();
    document.addEventListener("keydown", onKey);
    addEventListener("popstate", restore);
    addEventListener("hashchange", restore);
    addEventListener("resize", () => requestAnimationFrame(redraw));
    addEventListener("beforeprint", leaveApplication);
    addEventListener("afterprint", () => {
      enterApplication();
      redraw();
    });
    restore();
    if (!state.isInverted && !state.zoom) ui.graph.scrollTop = ui.graph.scrollHeight;
  }
  start();
})();
