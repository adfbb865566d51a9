// Any figure that is described by marks (figure.py), drawn and made to answer: their one script.

import { make } from "../elements.js";
import { LinkedMaps } from "../linked_maps.js";
import { describeCell, unpack } from "./description.js";
import { hitCell, layoutFigure } from "./layout.js";
import { paintFigure } from "./paint.js";
import { fillAbove, fillBlocks } from "./reading.js";
import { fillReadout } from "./readout.js";
import { cellForKey, followCell } from "./steps.js";

/* global THEMES */ // the colours, which figure.py writes before this script: no payload has them

const CHANGE = 150; // milliseconds

class DescribedFigure extends LinkedMaps {
  static parts = {
    unpack,
    cellSizes: (data) => data.coordinates.map(([, size]) => size),
    rankCells: (data) => data.walk,
    layout: layoutFigure,
    paint: paintFigure,
    describe: describeCell,
  };

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

  hit(x, y) {
    return hitCell(this.data, this.place, this.state.cell, x, y);
  }

  follow(cell) {
    return followCell(this.data, this.state.cell, cell);
  }

  cellForKey(event) {
    return cellForKey(this.data, this.state.cell, event) ?? super.cellForKey(event);
  }

  keyHelp() {
    return [this.data.keys].flat();
  }

  walkTitle() {
    return this.data.walks;
  }

  fillBelow(box) {
    if (this.payload.strip) box.remove();
    else if (this.payload.blocks) fillBlocks(box, this.data, this.state.cell, this.place);
    else fillReadout(box, this.data, this.state.cell, this.theme);
  }

  fillAbove(box) {
    fillAbove(box, this.data, this.state.cell);
  }

  // ---- a strip shows what is chosen elsewhere on the page --------------------------------------

  build() {
    const parts = super.build();
    if (this.payload.strip) parts.outer.className = "strip maps";
    return parts;
  }

  hint() {
    return this.payload.strip ? make("p") : super.hint();
  }

  /** The chosen cell of a page is that of its figure: a strip names a place of its own. */
  nameCell() {
    if (!this.payload.strip) return super.nameCell();
    this.canvas.dataset.head = this.state.unchosen ? "" : this.state.cell.join(".");
  }

  /** Below zero nothing is framed: the figure shows the mean of all. */
  receive() {
    if (!this.payload.strip) return super.receive();
    const answer = window.triattnExact?.[this.host.key];
    if (!answer) return;
    this.state.unchosen = answer.cell.at(-1) < 0;
    this.kept.cell = null;
    this.moveTo(answer.cell);
  }

  choose(cell) {
    this.state.unchosen = false;
    super.choose(cell);
  }
}

export const mount = (root, payload, host) => DescribedFigure.mount(root, payload, host);
