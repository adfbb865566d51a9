// The cube's hands: pointer, keys, hover, the exact numbers when they arrive, and saving.

const KEY_HELP = [["←", "→", "↑", "↓"], " in a panel, ", ["[", "]"], " through its depth. Strongest: "];
const SETTLE = 160; // milliseconds without a step before the page is told

/** The panel and cell under a point; labels count as part of the row or column they name. */
function pointed(place, x, y) {
  for (const [name, box] of Object.entries(place.boxes)) {
    const r = cellAt(box.rows, y - box.y), c = cellAt(box.cols, x - box.x);
    const besideRow = x > box.x - (name === "qc" ? 4 : place.labelQ) && x < box.x + box.cols.size + 56;
    const overColumn = y > box.y - (name === "kc" ? 4 : 60) && y < box.y + box.rows.size + (name === "kc" ? 44 : 4);
    if (r >= 0 && c >= 0) return { name, r, c };
    if (r >= 0 && besideRow) return { name, r };
    if (c >= 0 && overColumn) return { name, c };
  }
  return null;
}

function moved(cube, cell, hit) {
  const [row, col] = cube.panels[hit.name], next = [...cell];
  if (hit.r !== undefined) next[AXIS[row]] = hit.r;
  if (hit.c !== undefined) next[AXIS[col]] = hit.c;
  return next;
}

/** The next cell for a key, or null where the key is not ours. */
function stepped(cube, state, key) {
  const [row, col, depth] = cube.panels[state.panel], found = cube.payload.triples.cells;
  const steps = { ArrowUp: [row, -1], ArrowDown: [row, 1], ArrowLeft: [col, -1], ArrowRight: [col, 1], "[": [depth, -1], "]": [depth, 1] };
  if (WALK[key]) return walked(found, state.cell, WALK[key]);
  if (!steps[key]) return null;
  const [axis, by] = steps[key], next = [...state.cell];
  next[AXIS[axis]] = clamp(next[AXIS[axis]] + by, 0, cube.sizes[AXIS[axis]] - 1);
  return next;
}

const toTrace = (cube, cell) => cell.map((i, a) => cube.axes[a].position[i]);
function fromTrace(cube, cell) {
  const found = cell.map((p, a) => cube.axes[a].position.indexOf(p));
  return found.every((i) => i >= 0) ? found : null;
}

function buildRoom(root, payload, step) {
  const canvas = make("canvas", { tabindex: "0", role: "application", "aria-roledescription": "linked slices of a cube", "aria-label": heardOf(payload) });
  const tip = make("div", { class: "tip", hidden: "" }), hint = make("p", { class: "hint" }, "Click a cell, or ");
  for (const part of KEY_HELP) hint.append(...(Array.isArray(part) ? part.map((k) => make("kbd", {}, k)) : [part]));
  hint.append(...walkers(step));
  const inside = payload.over.includes(payload.order[2]), joined = payload.quantity === "weight" ? "sums" : "log-sum-exp";
  hint.append(inside ? ` Bars: ${joined} along the drawn slice${joined === "sums" ? "" : ", centred"}.` : " Bars: means over features; under them the chosen pair.");
  const figure = make("div", { class: "figure" }, canvas, tip, hint), inspector = make("section", { class: "inspector", "aria-label": "The chosen cell" });
  tongue(canvas, Object.values(payload.texts).join(" "));
  root.replaceChildren(make("div", { class: "triattn" }, make("div", { class: "room" }, figure, inspector)));
  return { outer: root.firstChild, figure, canvas, tip, inspector };
}

/** One explorer on one root.  `kept` outlives it when the same root gets new data: the chosen cell, as trace positions. */
class Explorer {
  constructor(root, payload, host, kept) {
    Object.assign(this, { root, payload, host, kept, cube: readCube(payload), off: new AbortController(), place: null, frame: 0, timer: 0, awaited: null });
    Object.assign(this, buildRoom(root, payload, (by) => this.walk(by)));
    const wanted = kept.cell ?? payload.cell, first = payload.triples.cells[0] ?? [0, 0, 0];
    this.state = { cell: (wanted && fromTrace(this.cube, wanted)) ?? first, panel: kept.panel, hover: null, focus: false };
    this.inspect = buildInspector(this.inspector, payload, (cell) => this.choose(cell), this.cube.open);
  }

  start() {
    this.listen();
    this.dress();
    this.tell();
    this.receive();
    this.paint();
  }

  listen() {
    const on = (target, name, run) => target.addEventListener(name, run, { signal: this.off.signal });
    on(this.canvas, "pointerdown", (event) => this.press(event));
    on(this.canvas, "pointermove", (event) => this.hover(event));
    on(this.canvas, "pointerleave", () => this.hover(null));
    on(this.canvas, "keydown", (event) => this.key(event));
    for (const [name, focus] of [["focus", true], ["blur", false]]) on(this.canvas, name, () => { this.state.focus = focus; this.ask(); });
    on(window, "triattn-exact", () => this.receive());
    on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.dress());
    this.observer = new ResizeObserver(() => this.ask());
    this.observer.observe(this.figure);
    document.fonts?.ready.then(() => this.dress());
    this.stopExport = onExport(this.host.key, (format, name) => this.save(format, name));
  }

  stop() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.stopExport();
    this.off.abort();
  }

  /** Reads the theme anew and draws. */
  dress() {
    this.theme = themeFor(this.payload.themes, this.root);
    this.colours = colourTable(this.theme, this.payload.scale.kind);
    wearTheme(this.outer, this.theme);
    this.place = null;
    this.ask();
  }

  ask() {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.frame = 0;
    const beside = this.inspector.offsetTop <= this.figure.offsetTop, width = Math.floor(this.figure.clientWidth) - (beside ? 12 : 0);
    if (width < 50) return;
    if (this.place?.width !== width) this.place = arrange(this.canvas.getContext("2d"), this.cube, this.theme, width);
    const ctx = fitCanvas(this.canvas, this.place.width, this.place.height);
    paintCube(ctx, this.cube, this.place, this.state, this.theme, this.colours);
  }

  /** Chooses a cell here: draws at once, tells the page when the hand rests. */
  choose(cell) {
    this.state.cell = cell;
    this.kept.cell = toTrace(this.cube, cell);
    this.kept.panel = this.state.panel;
    this.ask();
    this.tell();
    clearTimeout(this.timer);
    if (!this.host.send) return;
    this.awaited = String(this.kept.cell);
    this.timer = setTimeout(() => this.host.send("cell", this.kept.cell), SETTLE);
  }

  /** The inspector with what is known here. */
  tell() {
    const { exact } = this.cube, known = exact || listed(this.cube, this.state.cell) !== undefined;
    this.show(numbersOf(this.cube, this.state.cell), !known, Boolean(exact));
  }

  /** approximate: whether the value is only that of its colour.  whole: whether all its numbers are here. */
  show(numbers, approximate, whole = true) {
    this.inspect(this.state.cell, numbers, approximate, this.cube.masked(this.state.cell));
    Object.assign(this.canvas.dataset, { cell: toTrace(this.cube, this.state.cell).join("."), exact: String(whole) });
  }

  /** The server's word: its cell holds, unless one was chosen here meanwhile; then its exact numbers. */
  receive() {
    const said = window.triattnExact?.[this.host.key];
    if (said?.stamp !== this.payload.stamp || (this.awaited && this.awaited !== String(said.cell))) return;
    const cell = fromTrace(this.cube, said.cell);
    if (!cell) return;
    this.awaited = null;
    this.state.cell = cell;
    this.show(said.numbers, false);
    this.ask();
  }

  /** To the next or the previous of the strongest triples. */
  walk(by) {
    const next = walked(this.payload.triples.cells, this.state.cell, by);
    if (next) this.choose(next);
  }

  under(event) {
    const edge = this.canvas.getBoundingClientRect();
    return this.place && pointed(this.place, event.clientX - edge.left, event.clientY - edge.top);
  }

  press(event) {
    const hit = this.under(event);
    if (!hit) return;
    this.state.panel = hit.name;
    this.choose(moved(this.cube, this.state.cell, hit));
  }

  key(event) {
    const next = !event.ctrlKey && !event.metaKey && !event.altKey && stepped(this.cube, this.state, event.key);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(next);
  }

  /** Names the cell under the pointer, and its row and column where labels are thinned; drags the crosshair. */
  hover(event) {
    const hit = event && this.under(event), cell = hit && moved(this.cube, this.state.cell, hit), before = String(this.state.hover);
    if (hit && event.buttons === 1 && hit.name === this.state.panel && String(cell) !== String(this.state.cell)) this.choose(cell);
    this.state.hover = cell;
    this.tip.hidden = !hit;
    if (hit) {
      const edge = this.figure.getBoundingClientRect();
      this.tip.textContent = this.named(hit, cell);
      this.tip.style.top = event.clientY - edge.top + 18 + "px";
      this.tip.style.left = clamp(event.clientX - edge.left + 14, 0, Math.max(0, edge.width - this.tip.offsetWidth - 4)) + "px";
    }
    if (before !== String(cell) && this.place?.thin) this.ask();
  }

  /** A cell with its value; beside the cells, the whole word of a row or column and its place. */
  named(hit, cell) {
    if (hit.r !== undefined && hit.c !== undefined) {
      const words = cell.map((i, a) => this.cube.axes[a].name[i]), value = numbersOf(this.cube, cell)[this.payload.quantity];
      return `${words.join(" × ")}   ${this.cube.exact ? "" : "≈ "}${number(value)}`;
    }
    const [row, column] = this.cube.panels[hit.name], axis = AXIS[hit.r !== undefined ? row : column], tokens = this.cube.axes[axis];
    return `${spoken(tokens, cell[axis])}   ${tokens.where[cell[axis]]}`;
  }

  save(format, name) {
    const { width, height } = this.place, { theme, payload } = this, state = { ...this.state, hover: null, focus: false };
    saveFigure(format, name, width, height + 24, theme.page, (ctx) => {
      paintCube(ctx, this.cube, this.place, state, theme, this.colours);
      ctx.font = font(theme, 12);
      ctx.fillStyle = theme.muted;
      ctx.textAlign = "left";
      ctx.textBaseline = "alphabetic";
      ctx.fillText(fitText(ctx, `${payload.caption}: ${Object.values(payload.texts).join(" / ")}`, width - 8), 4, height + 14);
    });
  }
}

/** host.send(name, value): the page's ear.  host.key: whose exact numbers, on `window.triattnExact`, are ours. */
function mount(root, payload, host) {
  const kept = (root.triattn ??= { cell: null, panel: "qk" });
  kept.stop?.();
  const explorer = new Explorer(root, payload, host, kept);
  kept.stop = () => explorer.stop();
  explorer.start();
  return kept.stop;
}
