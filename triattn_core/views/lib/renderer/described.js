// A figure of maps that is described by marks (figure.py), drawn and made to answer.

import { describeMaps, make, setLanguage } from "../elements.js";
import { MapFigure } from "../map_figure.js";
import { walkButtons } from "../walk.js";
import { describeCell, unpack } from "./description.js";
import { hitCell, layoutFigure } from "./layout.js";
import { paintFigure } from "./paint.js";
import { fillAbove, fillBlocks } from "./reading.js";
import { fillReadout } from "./readout.js";
import { cellForKey, followCell } from "./steps.js";

/* global THEMES */ // the colours, which figure.py writes before this script: no payload has them

const CHANGE = 150; // milliseconds

/** Panels that share their coordinates: one crosshair in all of them, its numbers below. */
export class DescribedFigure extends MapFigure {
  /** What a new payload changes comes in gently, where the user has nothing against motion. */
  static mount(root, payload, host) {
    const again = root.triattn !== undefined;
    const stop = super.mount(root, payload, host);
    if (again && !matchMedia("(prefers-reduced-motion: reduce)").matches)
      root.querySelector("canvas").animate({ opacity: [0.3, 1] }, CHANGE);
    return stop;
  }

  constructor(root, payload, host, kept) {
    super(root, { ...payload, themes: THEMES }, host, kept);
  }

  unpack(payload) {
    return unpack(payload);
  }

  cellSizes() {
    return this.data.coordinates.map(([, size]) => size);
  }

  rankCells() {
    return this.data.walk;
  }

  layout(ctx, width) {
    return layoutFigure(ctx, this.data, width, this.theme);
  }

  paint(ctx, place, state) {
    paintFigure(ctx, this.data, place, this.theme, state);
  }

  describe(cell) {
    return describeCell(this.data, cell);
  }

  hit(x, y) {
    return hitCell(this.data, this.place, this.state.cell, x, y);
  }

  follow(cell) {
    return followCell(this.data, this.state.cell, cell);
  }

  cellForKey(event) {
    return cellForKey(this.data, this.state.cell, event);
  }

  // ---- what stands around the canvas -----------------------------------------------------------

  build() {
    const { alt, texts, strip, above, notes } = this.payload;
    const canvas = make("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "maps",
      "aria-label": describeMaps({ alt, texts }),
    });
    setLanguage(canvas, Object.values(texts).join(" "));
    const tip = make("div", { class: "tip", hidden: "" });
    const frame = make("div", { class: "frame" }, canvas, tip);
    const heard = make("div", { class: "heard", "aria-live": "polite" });
    const parts = {
      above: above && make("div", { class: "above" }),
      frame,
      below: !strip && make("div", { class: "below" }),
      notes: notes && make("p", { class: "sentence notes" }, notes),
      hint: strip ? make("p") : this.hint(),
      heard,
    };
    const outer = make("div", { class: strip ? "strip maps" : "side maps" });
    outer.append(...Object.values(parts).filter(Boolean));
    this.root.replaceChildren(outer);
    return { ...parts, outer, canvas, tip };
  }

  hint() {
    const { keys, walks } = this.data;
    const arrows = ["←", "→", "↑", "↓"];
    const help = ["Click a cell, or step with ", arrows, ...[keys].flat(), ` ${walks}: `];
    const parts = help.flatMap((part) =>
      Array.isArray(part) ? part.map((key) => make("kbd", {}, key)) : [part],
    );
    return make("p", { class: "hint" }, ...parts, ...walkButtons((by) => this.walk(by)));
  }

  firstCell() {
    return this.inside(this.kept.cell ?? this.payload.cell);
  }

  showCell() {
    const { data, state, place } = this;
    if (this.above) fillAbove(this.above, data, state.cell);
    if (data.blocks) fillBlocks(this.below, data, state.cell, place);
    else if (this.below) fillReadout(this.below, data, state.cell, this.theme);
  }

  /** Blocks stand under their maps. */
  afterLayout() {
    if (this.data.blocks) this.showCell();
  }

  hover(spot, event) {
    super.hover(spot, event);
    this.canvas.style.cursor = spot ? "pointer" : "default";
  }

  choose(cell) {
    this.state.unchosen = false;
    super.choose(cell);
    if (!this.payload.sliced) this.heard.textContent = this.describe(this.state.cell).join(", ");
  }

  // ---- the page's word; a strip shows what is chosen elsewhere there ---------------------------

  /** The chosen cell of a page is that of its figure: a strip names a place of its own. */
  nameCell() {
    if (!this.payload.strip) return super.nameCell();
    this.canvas.dataset.head = this.state.unchosen ? "" : this.state.cell.join(".");
  }

  /**
   * Before anything was chosen here the page says where to stand: a link names its cell.  In a
   * strip nothing is framed below zero: the figure shows the mean of all.
   */
  receive() {
    const answer = window.triattnExact?.[this.host.key];
    if (answer && this.payload.strip && !this.kept.unsent) {
      this.state.unchosen = answer.cell.at(-1) < 0;
      this.kept.cell = null;
    }
    if (answer?.blocks) {
      this.data.answer = answer;
      this.showCell();
      this.requestPaint();
    }
    if (answer?.cell && this.kept.cell === null) this.moveTo(answer.cell);
  }
}
