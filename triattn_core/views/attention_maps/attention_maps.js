// Maps of governor × dependent of one text on one scale: two or so with source2token beside them,
// token × feature, or a grid of many.

import { LinkedMaps } from "../lib/linked_maps.js";
import { describeCell as describe, fillFacts } from "./facts.js";
import { hitCell as hit, layoutMaps as layout } from "./layout.js";
import { cellSizes, rankCells, unpack } from "./model.js";
import { paintMaps as paint } from "./paint.js";

class HeadsFigure extends LinkedMaps {
  static parts = { unpack, cellSizes, rankCells, layout, hit, paint, describe };

  keyHelp() {
    const [query, key] = this.data.roles;
    return [
      `: another ${query} up and down, another ${key} left and right. Hatched: a mask leaves the pair out.`,
    ];
  }

  walkTitle() {
    return "The largest, against an even share of what the mask leaves";
  }

  fillBelow(box) {
    fillFacts(box, this.data, this.state.cell);
  }
}

export const mount = (root, payload, host) => HeadsFigure.mount(root, payload, host);
