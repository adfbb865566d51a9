// Several maps of query × key on one colour scale, the difference of two of them, and the
// divergence of their rows.

import { LinkedMaps } from "../lib/linked_maps.js";
import { describeCell, fillFacts } from "./facts.js";
import { hitCell, layoutPanels } from "./layout.js";
import { cellSizes, rankCells, unpack } from "./model.js";
import { paintPanels } from "./paint.js";

class SideBySideFigure extends LinkedMaps {
  unpack(payload) {
    return unpack(payload);
  }

  keyHelp() {
    return [
      ": the same cell is chosen in all maps. Numbers in bits and ranks are taken from weights.",
    ];
  }

  walkTitle() {
    return this.data.gap ? "Where the two differ most" : "The largest weights";
  }

  cellSizes() {
    return cellSizes(this.data);
  }

  rankCells() {
    return rankCells(this.data);
  }

  layout(ctx, width) {
    return layoutPanels(ctx, this.data, width, this.theme);
  }

  hit(x, y) {
    return hitCell(this.place, this.state.cell, x, y);
  }

  paint(ctx, place, state) {
    paintPanels(ctx, this.data, place, this.theme, state);
  }

  describe(cell) {
    return describeCell(this.data, cell);
  }

  fillBelow(box) {
    fillFacts(box, this.data, this.state.cell, this.theme);
  }
}

export const mount = (root, payload, host) => SideBySideFigure.mount(root, payload, host);
