// The base of every figure of maps on a canvas: theme, layout, painting, the chosen cell by pointer
// and keys, what the page is told and tells, saving.

import { clamp } from "./arrays.js";
import { drawText } from "./text_drawing.js";
import { fitCanvas } from "./fit_canvas.js";
import { onExport, saveFigure } from "./save.js";
import { applyTheme, colourTable, themeFor } from "./theme.js";
import { unpack } from "./renderer/description.js";
import { hitCell, layoutFigure } from "./renderer/layout.js";
import { paintFigure } from "./renderer/paint.js";
import { cellForKey, followCell } from "./renderer/steps.js";
import { showTip } from "./tip.js";
import { WALK_STEPS, nextInWalk } from "./walk.js";

const SETTLE = 160; // milliseconds without a step before the page is told
const LEAST_WIDTH = 50; // pixels: a narrower figure is not drawn
const CAPTION = 22; // pixels below a saved figure

const focusable = (root) => [...root.querySelectorAll("[tabindex], button")];

/**
 * A figure in an element `root`.  `kept` outlives it there: the chosen cell, as the page knows it,
 * and whether the page has yet to be told.
 * A figure has: build(), its elements {outer, frame, canvas, tip}; firstCell(); pageCell(cell), as
 * the page knows it; describe(cell), lines of text; showCell(), all that stands beside the canvas;
 * afterLayout(); receive(), the page's word.
 */
export class MapFigure {
  /**
   * Draws into `root`, in place of what was mounted there; returns what stops it.
   * host.send(name, value): the page's ear.  host.key: the figure's name on the page.
   */
  static mount(root, payload, host = {}) {
    const kept = (root.triattn ??= { cell: null });
    const focused = focusable(root).indexOf(root.getRootNode().activeElement);
    kept.stop?.();
    const figure = new this(root, payload, host, kept);
    kept.stop = () => figure.stop();
    figure.start();
    if (kept.unsent) figure.tell();
    focusable(root)[focused]?.focus({ preventScroll: true });
    return kept.stop;
  }

  constructor(root, payload, host, kept) {
    Object.assign(this, { root, payload, host, kept });
    Object.assign(this, { place: null, theme: null, paintAsked: 0, timer: 0 });
    this.off = new AbortController();
    this.data = unpack(payload);
    Object.assign(this, this.build());
    this.state = { cell: this.firstCell(), hover: null, tables: null };
  }

  start() {
    this.listen();
    this.dress();
    this.showCell();
    this.receive();
    this.paintNow();
  }

  stop() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.paintAsked);
    this.observer.disconnect();
    this.stopExport();
    this.off.abort();
  }

  listen() {
    this.on(this.canvas, "pointerdown", (event) => this.press(event));
    this.on(this.canvas, "pointermove", (event) => this.move(event));
    this.on(this.canvas, "pointerleave", () => this.hover(null));
    this.on(this.canvas, "keydown", (event) => this.key(event));
    for (const name of ["focus", "blur"])
      this.on(this.canvas, name, () => {
        this.state.focus = name === "focus";
        if (this.data.sliced) this.requestPaint();
      });
    this.on(window, "triattn-exact", () => this.receive());
    this.on(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.dress());
    this.observer = new ResizeObserver(
      () => this.width() !== this.place?.width && this.requestPaint(),
    );
    this.observer.observe(this.frame);
    this.on(document.fonts, "loadingdone", ({ fontfaces }) => this.refont(fontfaces));
    this.stopExport = onExport(this.host.key, (format, name) => this.save(format, name));
  }

  on(target, name, run) {
    target.addEventListener(name, run, { signal: this.off.signal });
  }

  // ---- drawing ----------------------------------------------------------------------------------

  /** Reads the page's theme anew and draws. */
  dress() {
    this.theme = themeFor(this.payload.themes, this.root);
    const kinds = Object.keys(this.theme.tables);
    this.state.tables = Object.fromEntries(kinds.map((one) => [one, colourTable(this.theme, one)]));
    applyTheme(this.outer, this.theme);
    this.place = null;
    this.requestPaint();
  }

  /** Labels are as wide as their font says: where one of ours came, all is laid out again. */
  refont(faces) {
    const names = faces.map(({ family }) => family.replaceAll('"', ""));
    if (names.some((name) => this.theme.fonts.includes(`"${name}"`))) this.dress();
  }

  requestPaint() {
    this.paintAsked ||= requestAnimationFrame(() => this.paintNow());
  }

  paintNow() {
    cancelAnimationFrame(this.paintAsked); // what was asked for meanwhile is in this picture
    this.paintAsked = 0;
    const width = this.width();
    if (width < LEAST_WIDTH) return;
    if (this.place?.width !== width) {
      this.place = layoutFigure(this.canvas.getContext("2d"), this.data, width, this.theme);
      this.afterLayout();
    }
    this.paint(fitCanvas(this.canvas, width, this.place.height), this.state);
    this.nameCell();
  }

  width() {
    return Math.floor(this.frame.clientWidth);
  }

  paint(ctx, state) {
    const { panel = 0 } = this.kept; // of slices the one that keys move in
    paintFigure(ctx, this.data, this.place, this.theme, { ...state, panel });
  }

  /** On the canvas, for whoever reads the page; before its first picture it names none. */
  nameCell() {
    if (this.place) this.canvas.dataset.cell = this.pageCell().join(".");
  }

  /** Saves the figure, its caption below it, as a file. */
  save(format, name) {
    const { width, height } = this.place;
    const { sliced, texts } = this.payload;
    const caption = this.payload.caption + (sliced ? `: ${Object.values(texts).join(" / ")}` : "");
    saveFigure(format, name, width, height + CAPTION, this.theme.page, (ctx) => {
      this.paint(ctx, { ...this.state, hover: null, focus: false });
      const look = { size: 12, theme: this.theme, room: width };
      drawText(ctx, caption, 0, height + 14, this.theme.muted, look);
    });
  }

  // ---- the chosen cell --------------------------------------------------------------------------

  /** A cell within the axes; what else it says of itself stays. */
  inside(cell) {
    const within = cell.map((i, axis) => clamp(i, 0, this.data.coordinates[axis][1] - 1));
    return Object.assign(within, { own: cell.own });
  }

  /** Chooses a cell here: draws at once, tells the page when the hand rests. */
  choose(cell) {
    this.moveTo(cell);
    this.kept.cell = this.pageCell();
    if (!this.host.send) return;
    this.kept.awaited = String(this.kept.cell); // until the page answers
    this.tell();
  }

  /** Tells the page of the chosen cell when the hand rests. */
  tell() {
    this.kept.unsent = true;
    this.timer = setTimeout(() => {
      this.kept.unsent = false;
      this.host.send("cell", this.kept.cell);
    }, SETTLE);
  }

  /** Shows a cell that nobody chose. */
  moveTo(cell) {
    clearTimeout(this.timer);
    this.state.cell = this.inside(cell);
    this.nameCell();
    this.showCell();
    this.requestPaint();
  }

  step(cell) {
    this.choose(followCell(this.data, this.state.cell, this.inside(cell)));
  }

  /** To the next (1) or the previous (-1) of the strongest cells. */
  walk(by) {
    const next = nextInWalk(this.data.walk, this.state.cell, by);
    if (next) this.step(next);
  }

  // ---- pointer and keys -------------------------------------------------------------------------

  under(event) {
    if (!this.place) return null;
    const edge = this.canvas.getBoundingClientRect();
    const at = [event.clientX - edge.left, event.clientY - edge.top];
    const spot = hitCell(this.data, this.place, this.state.cell, ...at);
    return spot && followCell(this.data, this.state.cell, spot);
  }

  press(event) {
    const spot = this.under(event);
    if (!spot) return;
    this.kept.panel = spot.spot?.panel;
    this.choose(spot);
  }

  move(event) {
    const spot = this.under(event);
    const fresh = spot && String(spot) !== String(this.state.cell);
    if (fresh && event.buttons === 1 && spot.spot?.panel === this.kept.panel) this.choose(spot);
    this.hover(spot, event);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = WALK_STEPS[event.key];
    const next = by ? null : cellForKey(this.data, this.state.cell, event, this.kept.panel);
    if (!by && !next) return;
    event.preventDefault();
    event.stopPropagation();
    if (by) this.walk(by);
    else this.step(next);
  }

  /** Says at the pointer what is under it. */
  hover(spot, event) {
    const same = String(spot) === String(this.state.hover);
    this.state.hover = spot;
    this.canvas.style.cursor = spot ? "pointer" : "default";
    const paints = !this.data.sliced || this.place?.thin; // the names of rows and columns
    if (!same && paints) this.requestPaint();
    if (spot) showTip(this.tip, this.frame, this.describe(spot), event);
    else this.tip.hidden = true;
  }
}
