// The flame graph's application, part 3 of 5: what a link holds, and the page around the frames.

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
    for (const [colour, text] of [["d0", "much less"], ["d3", "less"],
                                  ["d5", "same share of the total"], ["d7", "more"],
                                  ["d10", "much more or new"]]) add(colour, text);
  } else {
    const self = new Float64Array(KINDS.length);
    for (let i = 1; i < count; ++i) self[kindOf(i)] += data.self[i];
    KINDS.forEach((name, kind) => (kind < FIRST_STATE || self[kind]) && add(
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
  ui.reset = html("button", {type: "button", id: "unzoom", title: "Reset the zoom (Esc)"}, "Reset");
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
