// COIN's blocks: each one a line of maps on one scale, with its context term, without it, and what
// that changed; beside them both sentences over themselves and the gate.  Below: one token through
// the blocks, and the predictions with one part ablated.

import { LinkedMaps } from "../lib/linked_maps.js";
import { cellForKey, followCell, hitCell } from "./cell_choice.js";
import { describeCell as describe, fillFacts } from "./facts.js";
import { layoutBlocks as layout } from "./layout.js";
import { cellSizes, hasContextTerm, rankCells, unpack } from "./model.js";
import { paintBlocks as paint } from "./paint.js";

class CoinFigure extends LinkedMaps {
  static parts = { unpack, cellSizes, rankCells, layout, paint, describe };

  /** What keys and clicks do; what is not drawn is not named. */
  keyHelp() {
    const { data } = this;
    return [
      ": another query up and down, another key left and right",
      ...(data.blocks.length > 1 ? ["; ", ["[", "]"], " another block"] : []),
      ...(data.blocks.some((block) => block?.own.length)
        ? [
            "; ",
            ["Shift"],
            " and an arrow: what the query, or the key, looks at in its own sentence",
          ]
        : []),
      ...(data.blocks.some((block) => block?.features)
        ? ["; ", [",", "."], " another feature of the gate"]
        : []),
      ". A click chooses in every map. ",
    ];
  }

  walkTitle() {
    return hasContextTerm(this.data) ? "What context changed most" : "The largest weights";
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

  fillBelow(box) {
    fillFacts(box, this.data, this.state.cell);
  }
}

export const mount = (root, payload, host) => CoinFigure.mount(root, payload, host);
