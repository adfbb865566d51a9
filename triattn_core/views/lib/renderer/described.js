// A figure that is described by marks (figure.py), drawn on a canvas and made to answer: theme,
// layout, painting, the chosen cell by pointer and keys, what the page is told, saving.

import { clamp } from "../arrays.js";
import { fitCanvas } from "../fit_canvas.js";
import { onExport, saveFigure } from "../save.js";
import { drawText } from "../text_drawing.js";
import { applyTheme, colourTable, themeFor } from "../theme.js";
import { nextInWalk } from "../walk.js";
import { buildAround } from "./around.js";
import { describeCell, unpack } from "./description.js";
import { listenToHand } from "./hand.js";
import { layoutFigure } from "./layout.js";
import { firstCell, pageCell, receive } from "./page.js";
import { paintFigure } from "./paint.js";
import { fillAbove, fillBlocks } from "./reading.js";
import { fillReadout } from "./readout.js";
import { describeSlice } from "./slices.js";
import { followCell } from "./steps.js";

/* global THEMES */ // the colours, which figure.py writes before this script: no payload has them

const SETTLE = 160; // milliseconds without a step before the page is told
const CHANGE = 150; // in which a new picture comes
const LEAST_WIDTH = 50; // pixels: a narrower figure is not drawn
const CAPTION = 22; // pixels below a saved figure
const ASIDE = 12; // between slices and the inspector beside them

const focusable = (root) => [...root.querySelectorAll("[tabindex], button")];

/**
 * Panels that share their coordinates: one crosshair in all of them, in an element `root`.  `kept`
 * outlives the figure there: the chosen cell, as the page knows it, and whether the page has yet to
 * be told.
 */
export class DescribedFigure {
  /**
   * Draws into `root`, in place of what was mounted there; returns what stops it.  What changes
   * comes in gently, where the user has nothing against motion.
   * host.send(name, value): the page's ear.  host.key: the figure's name on the page.
   */
  static mount(root, payload, host = {}) {
    const again = root.triattn !== undefined;
    const kept = (root.triattn ??= { cell: null });
    const focused = focusable(root).indexOf(root.getRootNode().activeElement);
    kept.stop?.();
    const figure = new DescribedFigure(root, payload, host, kept);
    kept.stop = () => figure.stop();
    figure.start();
    if (kept.unsent) figure.tell();
    focusable(root)[focused]?.focus({ preventScroll: true });
    if (again && !matchMedia("(prefers-reduced-motion: reduce)").matches)
      root.querySelector("canvas").animate({ opacity: [0.3, 1] }, CHANGE);
    return kept.stop;
  }

  constructor(root, payload, host, kept) {
    Object.assign(this, { root, payload, host, kept });
    Object.assign(this, { place: null, theme: null, paintAsked: 0, timer: 0 });
    this.off = new AbortController();
    this.data = unpack(payload);
    Object.assign(this, buildAround(this));
    this.state = { cell: this.inside(firstCell(this)), hover: null, tables: null };
  }

  start() {
    this.listen();
    this.dress();
    this.showCell();
    receive(this);
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
    listenToHand(this);
    for (const name of ["focus", "blur"])
      this.on(this.canvas, name, () => {
        this.state.focus = name === "focus";
        if (this.data.sliced) this.requestPaint();
      });
    this.on(window, "triattn-exact", () => receive(this));
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
    this.theme = themeFor(THEMES, this.root);
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
      if (this.data.blocks) this.showCell(); // they stand under their maps
    }
    this.paint(fitCanvas(this.canvas, width, this.place.height), this.state);
    this.nameCell();
  }

  width() {
    const isBeside = this.beside && this.beside.offsetTop <= this.frame.offsetTop;
    return Math.floor(this.frame.clientWidth) - (isBeside ? ASIDE : 0);
  }

  paint(ctx, state) {
    const { panel = 0 } = this.kept; // of slices the one that keys move in
    paintFigure(ctx, this.data, this.place, this.theme, { ...state, panel });
  }

  /**
   * On the canvas, for whoever reads the page; before its first picture it names none.  The chosen
   * cell of a page is that of its figure: a strip names a place of its own.
   */
  nameCell() {
    const { canvas, payload, place, state } = this;
    if (payload.strip) canvas.dataset.head = state.unchosen ? "" : state.cell.join(".");
    else if (place) canvas.dataset.cell = this.pageCell().join(".");
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

  pageCell() {
    return pageCell(this.data, this.state.cell);
  }

  /** All that stands beside the canvas. */
  showCell() {
    const { data, state, place, canvas } = this;
    if (this.inspect) {
      this.inspect(state.cell, (cell) => this.costs?.get(pageCell(data, cell).join()));
      const exact = "rank" in data.panels[0].arrays || data.told?.at === String(state.cell);
      canvas.dataset.exact = String(exact);
      return;
    }
    if (this.above) fillAbove(this.above, data, state.cell);
    if (data.blocks) fillBlocks(this.below, data, state.cell, place);
    else if (this.below) fillReadout(this.below, data, state.cell, this.theme);
  }

  /** A cell in lines of text. */
  describe(cell) {
    return (cell.spot ? describeSlice : describeCell)(this.data, cell);
  }

  /** A cell within the axes; what else it says of itself stays. */
  inside(cell) {
    const within = cell.map((i, axis) => clamp(i, 0, this.data.coordinates[axis][1] - 1));
    return Object.assign(within, { own: cell.own });
  }

  /** Chooses a cell here: draws at once, tells the page when the hand rests. */
  choose(cell) {
    this.state.unchosen = false;
    this.moveTo(cell);
    this.kept.cell = this.pageCell();
    if (this.heard) this.heard.textContent = this.describe(this.state.cell).join(", ");
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
}
