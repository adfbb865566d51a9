// The hands of maps that share their tokens: one crosshair in all of them, by pointer and keys.  Values arrive exactly
// (float32); levels only colour the cells.  Before this file stands one that says what is drawn: unpack, sizesOf, hintOf,
// arrange, hit, paintAll, fillBelow, words, ranked and strongest; fillAbove, where something stands above the maps;
// follow, where a step takes more along than it says; and keyed, where there are more keys.

const SETTLE = 160; // milliseconds without a step before the page is told
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function build(root, hints, says, notes, step) {
  const canvas = make("canvas", { tabindex: 0, role: "application", "aria-roledescription": "maps" }), tip = make("div", { class: "tip", hidden: "" });
  const below = make("div", { class: "below" }), heard = make("div", { class: "heard", "aria-live": "polite" });
  const help = ["Click a cell, or step with ", ["←", "→", "↑", "↓"], ...hints, ` ${says}: `];
  const hint = make("p", { class: "hint" }, ...help.flatMap((part) => (Array.isArray(part) ? part.map((key) => make("kbd", {}, key)) : [part])), ...walkers(step));
  const above = typeof fillAbove === "undefined" ? null : make("div", { class: "above" });
  const side = make("div", { class: "side" }, ...(above ? [above] : []), make("div", { class: "frame" }, canvas, tip), below, ...(notes ? [make("p", { class: "said notes" }, notes)] : []), hint, heard);
  root.replaceChildren(side);
  return { side, canvas, tip, above, below, heard };
}

/** host.send(name, value): the page's ear.  host.key: under it the page may say, as `triattn-exact`, which cell to show. */
function mount(root, payload, host = {}) {
  const kept = (root.triattn ??= { cell: null });
  kept.stop?.();
  const data = unpack(payload), { side, canvas, tip, above, below, heard } = build(root, hintOf(data), strongest(data), payload.notes, walk), sizes = sizesOf(data);
  const inside = (cell) => Object.assign(cell.map((i, axis) => clamp(i, 0, sizes[axis] - 1)), { own: cell.own });
  const state = { cell: inside(kept.cell ?? payload.cell), hover: null, tables: null };
  let layout, theme, timer, asked = 0;
  tongue(canvas, Object.values(payload.texts).join(" ")).setAttribute("aria-label", heardOf(payload));

  function dress() {
    theme = themeFor(payload.themes, root);
    state.tables = { log: colourTable(theme, "log"), signed: colourTable(theme, "signed") };
    wearTheme(side, theme);
    layout = null;
    ask();
  }
  function paint() {
    asked = 0;
    const width = Math.floor(canvas.parentElement.clientWidth);
    if (width < 50) return;
    if (layout?.width !== width) {
      layout = arrange(canvas.getContext("2d"), data, width, theme);
      fillBelow(below, data, state.cell, theme); // it stands under the columns of the maps
    }
    paintAll(fitCanvas(canvas, width, layout.height), data, layout, theme, state);
    canvas.dataset.cell = state.cell.join(".");
  }
  const ask = () => { asked ||= requestAnimationFrame(paint); };
  const tell = () => { if (above) fillAbove(above, data, state.cell); fillBelow(below, data, state.cell, theme); ask(); };

  function choose(cell, quiet = false) {
    state.cell = inside(cell);
    if (layout) canvas.dataset.cell = state.cell.join("."); // before its first picture it names none
    tell();
    clearTimeout(timer);
    if (quiet) return; // what nobody chose is the page's to choose anew for another figure
    kept.cell = state.cell;
    heard.textContent = words(data, state.cell).join(", ");
    if (host.send) timer = setTimeout(() => host.send("cell", state.cell), SETTLE);
  }
  /** To the next or the previous of the strongest cells. */
  function walk(by) {
    const next = walked((data.ranked ??= ranked(data)), state.cell, by);
    if (next) step(next);
  }
  const step = (cell) => choose(taken(inside(cell)));
  const taken = (cell) => (cell && typeof follow !== "undefined" ? follow(data, state.cell, cell) : cell);
  /** Before anything was chosen here the page says where to stand: a link names its cell. */
  const receive = () => {
    const said = window.triattnExact?.[host.key];
    if (said?.facts) { data.said = said; tell(); }
    if (said?.cell && kept.cell === null) choose(said.cell, true);
  };
  const under = (event) => {
    const edge = canvas.getBoundingClientRect();
    return layout && taken(hit(layout, state, event.clientX - edge.left, event.clientY - edge.top));
  };
  function hoverAt(found, event) {
    const same = String(found) === String(state.hover);
    state.hover = found;
    tip.hidden = !found;
    canvas.style.cursor = found ? "pointer" : "default";
    if (!same) ask();
    if (!found) return;
    if (!same) tip.replaceChildren(...words(data, found).map((line) => make("div", {}, line)));
    const edge = side.getBoundingClientRect(), x = event.clientX - edge.left, left = x + 14 + tip.offsetWidth > edge.width ? x - tip.offsetWidth - 12 : x + 14;
    Object.assign(tip.style, { left: Math.max(0, left) + "px", top: event.clientY - edge.top + 14 + "px" });
  }
  canvas.addEventListener("pointerdown", (event) => { const found = under(event); if (found) choose(found); });
  canvas.addEventListener("pointermove", (event) => {
    const found = under(event);
    if (found && event.buttons === 1 && String(found) !== String(state.cell)) choose(found);
    hoverAt(found, event);
  });
  canvas.addEventListener("pointerleave", () => hoverAt(null));
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = STEPS[event.key], other = typeof keyed === "undefined" ? null : keyed(data, state.cell, event);
    if (!(by || other || WALK[event.key])) return;
    event.preventDefault();
    event.stopPropagation();
    if (WALK[event.key]) walk(WALK[event.key]);
    else step(other ?? state.cell.map((i, axis) => i + (by[axis] ?? 0)));
  });
  const observer = new ResizeObserver(ask), wish = matchMedia("(prefers-color-scheme: dark)");
  observer.observe(canvas.parentElement);
  wish.addEventListener("change", dress);
  window.addEventListener("triattn-exact", receive);
  document.fonts?.ready.then(() => { layout = null; ask(); });
  const stopExport = onExport(host.key, (format, name) => saveFigure(format, name, layout.width, layout.height + 22, theme.page, (ctx) => {
    const fresh = { ...layout, boxes: layout.boxes.map((box) => ({ ...box, sheet: null })) }; // sharper than the screen's
    paintAll(ctx, data, fresh, theme, { ...state, hover: null });
    text(ctx, data.caption, 0, layout.height + 14, theme.muted, { size: 12, theme, room: layout.width });
  }));
  kept.stop = () => {
    clearTimeout(timer);
    cancelAnimationFrame(asked);
    observer.disconnect();
    wish.removeEventListener("change", dress);
    window.removeEventListener("triattn-exact", receive);
    stopExport();
  };
  dress();
  tell();
  receive();
  paint();
  return kept.stop;
}
