// Which cell a point or a key leads to.

import { clamp } from "../lib/arrays.js";
import { cellAt } from "../lib/axis.js";
import { axisSize } from "../lib/map_data.js";
import { ARROWS } from "../lib/map_figure.js";

/** The cell in the nearest block that is not ablated; null where all are. */
export function nearestLiveCell(data, cell) {
  const liveBlocks = data.blocks
    .flatMap((block, i) => (block ? [i] : []))
    .sort((a, b) => Math.abs(a - cell[2]) - Math.abs(b - cell[2]));
  return liveBlocks.length
    ? Object.assign(
        cell.map((one, axis) => (axis === 2 ? liveBlocks[0] : one)),
        { own: cell.own, gate: cell.gate },
      )
    : null;
}

/**
 * What a token of a cell looks at most in its own sentence; where nothing of that is drawn, in the
 * whole model.
 */
function mostAttended(data, cell, side) {
  const n = axisSize(data, side ? "key" : "query");
  const own = data.blocks[cell[2]]?.own[side]?.subarray(cell[side] * n, (cell[side] + 1) * n);
  return own ? own.indexOf(Math.max(...own)) : (data.looks[cell[2]]?.[side]?.[cell[side]] ?? 0);
}

/**
 * From one cell to another: what was chosen for a token stays while the token does; else it is what
 * that looks at most.
 */
export function followCell(data, from, to) {
  ["query", "key"].forEach((axis, s) => {
    const most = [mostAttended(data, from, s), data.looks[from[2]]?.[s]?.[from[s]]];
    const chosen = to[2] === from[2] || !most.includes(from[4 + s]);
    if (to.own !== axis && !(to[s] === from[s] && chosen)) to[4 + s] = mostAttended(data, to, s);
  });
  return to;
}

/**
 * Where the keys lead that not every figure has: blocks, what a token looks at in its own sentence,
 * features.
 */
export function cellForKey(data, cell, { key, shiftKey }) {
  const by = { "[": -1, "]": 1, ",": -1, ".": 1 }[key];
  const [step] = (shiftKey && ARROWS[key]?.filter(Boolean)) || [];
  const liveCell = nearestLiveCell(data, cell);
  const block = data.blocks[liveCell?.[2]];
  const moved = (axis, to, own) =>
    Object.assign(
      liveCell.map((one, a) => (a === axis ? to : one)),
      { own },
    );
  if (!block) return null;
  if (step && block.own.length)
    return key === "ArrowUp" || key === "ArrowDown"
      ? moved(4, liveCell[4] + step, "query")
      : moved(5, liveCell[5] + step, "key");
  if (key === "[" || key === "]") {
    let next = liveCell[2] + by;
    while (next in data.blocks && !data.blocks[next]) next += by;
    return moved(2, next in data.blocks ? next : liveCell[2]);
  }
  if (!by || !block.features) return null;
  return moved(3, block.order[clamp(block.order.indexOf(liveCell[3]) + by, 0, data.wide - 1)]);
}

/** The cell under a point, or null; `own`: the self-alignment that the point is in. */
export function hitCell(data, layout, cell, x, y) {
  const [q, k, block, f, a, b] = cell;
  const { rows, columns, features } = layout;
  for (const { down, across, ...one } of layout.selves) {
    const r = cellAt(down, y - one.y);
    const c = cellAt(across, x - one.x);
    if (one.block && r >= 0 && c >= 0)
      return Object.assign(one.s ? [q, r, one.index, f, a, c] : [r, k, one.index, f, c, b], {
        own: one.axis,
      });
  }
  for (const box of layout.boxes) {
    const r = cellAt(rows, y - box.y);
    const c = cellAt(columns, x - box.x);
    if (!box.block || r < 0) continue;
    if (c >= 0) return [r, c, box.index, f, a, b];
    if ((x < layout.x && x >= layout.x - layout.own) || (layout.bars && x >= layout.bars))
      return [r, k, box.index, f, a, b];
  }
  for (const { x: left, y: foot } of layout.labels) {
    const c = cellAt(columns, x - left);
    if (c >= 0 && y < foot && y > foot - layout.lean) return [q, c, block, f, a, b];
  }
  if (!features) return null;
  const r = cellAt(features.rows, y - features.y);
  const c = cellAt(features.columns, x - features.x);
  if (r < 0 || c < 0) return null;
  const { order } = data.blocks[nearestLiveCell(data, cell)[2]];
  return Object.assign([r, k, block, order[c], a, b], { gate: true });
}
