// The flame graph's application, part 5 of 5: search, zoom, keyboard, and the start.

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
      const text = data.frames[data.frame[i] * 6 + which];
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

let lastHit = 0;  // where "next match" goes on from; 0: a new search

function goToNextHit(step) {
  if (!hits) return;
  let node = lastHit;
  for (let tried = 0; tried < count; ++tried) {
    node = (node + step + count) % count;
    if (hits[node]) break;
  }
  if (!hits[node]) return;
  if (!drawn.has(node)) zoomTo(node);
  lastHit = node;
  moveTo(node, false);
}

// ---- Actions ----
function apply() {
  search();
  redraw();
  showCurrent();
}

function zoomTo(node) {
  state.zoom = node;
  writeLink(true);
  moveFocus(node);
  apply();
  // Not out of the search field, where "next match" can zoom.
  if (document.activeElement !== ui.search) shapeOf(node).group.focus({preventScroll: true});
  scrollTo(node);
}

function setSearch(text, isRegex) {
  state.search = text;
  state.isRegex = isRegex;
  lastHit = 0;
  writeLink(false);
  apply();
}

function moveFocus(node) {
  if (node !== focused) shapeOf(focused).group.removeAttribute("tabindex");
  focused = node;
  makeFocusable(node);
}

function moveTo(node, takesFocus) {
  moveFocus(node);
  if (takesFocus) shapeOf(node).group.focus({preventScroll: true});
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
    const group = shapeOf(node).group;
    if (!group.querySelector("title")) group.prepend(svg("title", {}, hoverText(node)));
    showDetails(node);
  });
  framesGroup.addEventListener("mouseout", showCurrent);
  ui.graph.addEventListener("scroll", () => {
    isAtBottom = ui.graph.scrollTop + ui.graph.clientHeight >= ui.graph.scrollHeight - 2;
  });
  framesGroup.addEventListener("focusin", (event) => {
    const node = nodeAt(event.target);
    if (node < 0) return;
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
  for (const node of shapes.keys()) drawn.set(node, null);
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
}
start();
