// Several maps of query × key on one colour scale, the difference of two of them, and the
// divergence of their rows.

import { LinkedMaps } from "../lib/linked_maps.js";
import { describeCell as describe, fillFacts } from "./facts.js";
import { hitCell as hit, layoutPanels as layout } from "./layout.js";
import { cellSizes, rankCells, unpack } from "./model.js";
import { paintPanels as paint } from "./paint.js";

class SideBySideFigure extends LinkedMaps {
  static parts = { unpack, cellSizes, rankCells, layout, hit, paint, describe };

  keyHelp() {
    return [
      ": the same cell is chosen in all maps. Numbers in bits and ranks are taken from weights.",
    ];
  }

  walkTitle() {
    return this.data.gap ? "Where the two differ most" : "The largest weights";
  }

  fillBelow(box) {
    fillFacts(box, this.data, this.state.cell, this.theme);
  }
}

export const mount = (root, payload, host) => SideBySideFigure.mount(root, payload, host);
