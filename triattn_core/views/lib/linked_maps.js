// Maps that share their tokens, with the facts of the chosen cell below: one crosshair in all of
// them.  Values arrive exactly (float32); levels only colour the cells.

import { describeMaps, make, setLanguage } from "./elements.js";
import { MapFigure } from "./map_figure.js";
import { walkButtons } from "./walk.js";

/**
 * A figure has, besides what MapFigure asks for: keyHelp(), what its keys do, [keys] among words;
 * walkTitle(), what n and p go through; fillBelow(box); and where its payload has `above`
 * fillAbove(box).  What MapFigure asks for is delegated to `static parts`.
 */
export class LinkedMaps extends MapFigure {
  /** The functions of a figure: unpack, cellSizes, rankCells, layout, hit, paint and describe. */
  static parts = {};

  get parts() {
    return this.constructor.parts;
  }

  unpack(payload) {
    return this.parts.unpack(payload);
  }

  cellSizes() {
    return this.parts.cellSizes(this.data);
  }

  rankCells() {
    return this.parts.rankCells(this.data);
  }

  layout(ctx, width) {
    return this.parts.layout(ctx, this.data, width, this.theme);
  }

  hit(x, y) {
    return this.parts.hit(this.place, this.state.cell, x, y);
  }

  paint(ctx, place, state) {
    this.parts.paint(ctx, this.data, place, this.theme, state);
  }

  describe(cell) {
    return this.parts.describe(this.data, cell);
  }

  build() {
    const canvas = make("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "maps",
      "aria-label": describeMaps(this.payload),
    });
    setLanguage(canvas, Object.values(this.payload.texts).join(" "));
    const tip = make("div", { class: "tip", hidden: "" });
    const frame = make("div", { class: "frame" }, canvas, tip);
    const above = this.payload.above ? [make("div", { class: "above" })] : [];
    const below = make("div", { class: "below" });
    const heard = make("div", { class: "heard", "aria-live": "polite" });
    const { notes } = this.payload;
    const footnote = notes ? [make("p", { class: "sentence notes" }, notes)] : [];
    const outer = make(
      "div",
      { class: "side maps" },
      ...above,
      frame,
      below,
      ...footnote,
      this.hint(),
    );
    outer.append(heard);
    this.root.replaceChildren(outer);
    return { outer, frame, canvas, tip, above: above[0], below, heard };
  }

  hint() {
    const title = ` ${this.walkTitle()}: `;
    const help = ["Click a cell, or step with ", ["←", "→", "↑", "↓"], ...this.keyHelp(), title];
    const parts = help.flatMap((part) =>
      Array.isArray(part) ? part.map((key) => make("kbd", {}, key)) : [part],
    );
    return make("p", { class: "hint" }, ...parts, ...walkButtons((by) => this.walk(by)));
  }

  firstCell() {
    return this.inside(this.kept.cell ?? this.payload.cell);
  }

  choose(cell) {
    super.choose(cell);
    this.heard.textContent = this.describe(this.state.cell).join(", ");
  }

  showCell() {
    if (this.above) this.fillAbove(this.above);
    this.fillBelow(this.below);
  }

  /** What is below may stand under the columns of the maps. */
  afterLayout() {
    this.fillBelow(this.below);
  }

  hover(spot, event) {
    super.hover(spot, event);
    this.canvas.style.cursor = spot ? "pointer" : "default";
  }

  /** Before anything was chosen here the page says where to stand: a link names its cell. */
  receive() {
    const answer = window.triattnExact?.[this.host.key];
    if (answer?.blocks) {
      this.data.answer = answer;
      this.showCell();
      this.requestPaint();
    }
    if (answer?.cell && this.kept.cell === null) this.moveTo(answer.cell);
  }
}
