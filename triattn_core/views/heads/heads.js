// Maps of governor × dependent of one text on one scale: two or so with source2token beside them,
// token × feature, or a grid of many.

import { LinkedMaps } from "../lib/linked_maps.js";
import { describeCell, fillFacts } from "./facts.js";
import { hitCell, layoutMaps } from "./layout.js";
import { cellSizes, rankCells, unpack } from "./model.js";
import { paintMaps } from "./paint.js";

class HeadsFigure extends LinkedMaps {
  unpack(payload) {
    return unpack(payload);
  }

  keyHelp() {
    const [query, key] = this.data.roles;
    return [
      `: another ${query} up and down, another ${key} left and right. Hatched: a mask leaves the pair out.`,
    ];
  }

  walkTitle() {
    return "The largest, against an even share of what the mask leaves";
  }

  cellSizes() {
    return cellSizes(this.data);
  }

  rankCells() {
    return rankCells(this.data);
  }

  layout(ctx, width) {
    return layoutMaps(ctx, this.data, width, this.theme);
  }

  hit(x, y) {
    return hitCell(this.place, this.state.cell, x, y);
  }

  paint(ctx, place, state) {
    paintMaps(ctx, this.data, place, this.theme, state);
  }

  describe(cell) {
    return describeCell(this.data, cell);
  }

  fillBelow(box) {
    fillFacts(box, this.data, this.state.cell);
  }
}

export const mount = (root, payload, host) => HeadsFigure.mount(root, payload, host);
