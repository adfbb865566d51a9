// Maps of passage × question words of several similarity functions, and where each reader lets the
// answer start and end.

import { LinkedMaps } from "../lib/linked_maps.js";
import { hitCell as hit, layoutMaps as layout } from "./layout.js";
import { cellSizes, describeCell as describe, rankCells, unpack } from "./model.js";
import { paintMaps as paint } from "./paint.js";
import { fillPassage } from "./passage.js";
import { fillTerms } from "./terms.js";

class SimilarityFigure extends LinkedMaps {
  static parts = { unpack, cellSizes, rankCells, layout, hit, paint, describe };

  static hasAbove = true;

  keyHelp() {
    return [
      ": another passage word up and down, another question word left and right. A click in a map chooses its function.",
    ];
  }

  walkTitle() {
    return "The highest of all functions, each on its scale";
  }

  fillBelow(box) {
    fillTerms(box, this.data, this.state.cell, this.place);
  }

  fillAbove(box) {
    fillPassage(box, this.data, this.state.cell);
  }
}

export const mount = (root, payload, host) => SimilarityFigure.mount(root, payload, host);
