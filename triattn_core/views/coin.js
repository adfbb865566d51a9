// COIN's blocks: each one a line of maps on one scale, with its context term, without it, and what that changed; beside
// them both sentences over themselves and the gate.  Below: one token through the blocks, and what is said
// with one thing switched off.  This file has what is shown and what is chosen; coin_*.js draw it.
// Cells are [query, key, block, feature of the gate, what the query looks at in its own sentence, the same of the key].

const AXIS = { query: 0, key: 1 };

/** What keys and clicks do; what is not drawn is not named. */
const hintOf = (data) => [
  ": another query up and down, another key left and right",
  ...(data.blocks.length > 1 ? ["; ", ["[", "]"], " another block"] : []),
  ...(data.blocks.some((block) => block?.own.length) ? ["; ", ["Shift"], " and an arrow: what the query, or the key, looks at in its own sentence"] : []),
  ...(data.blocks.some((block) => block?.features) ? ["; ", [",", "."], " another feature of the gate"] : []),
  ". A click chooses in every map. ",
];

function unpack(payload) {
  const open = (packed) => (packed ? floats(packed) : null);
  const parts = ["weight", "score", "plain", "changed", "gate", "gate_low", "gate_high", "features"];
  const block = (one) => one && { ...one, ...Object.fromEntries(parts.map((name) => [name, open(one[name])])), own: one.own.map(floats) };
  return { ...payload, blocks: payload.blocks.map(block) };
}

const hasTerm = (data) => data.blocks.some((block) => block?.changed);
const strongest = (data) => (hasTerm(data) ? "What context changed most" : "The largest weights");

/** Pairs of all blocks by the size of what context changed; where there is no term, by their weight. */
function ranked(data) {
  const rows = sizeOfAxis(data, "query"), columns = sizeOfAxis(data, "key"), cells = rows * columns;
  const term = hasTerm(data);
  const size = (i) => { const block = data.blocks[Math.floor(i / cells)]; return block ? Math.abs((term ? block.changed : block.weight)?.[i % cells] ?? NaN) : NaN; };
  return cellsOf(largest(cells * data.blocks.length, size), rows, columns);
}

const sizeOfAxis = (data, axis) => data.axes[axis].label.length;
const sizesOf = (data) => [sizeOfAxis(data, "query"), sizeOfAxis(data, "key"), data.blocks.length, data.wide, sizeOfAxis(data, "query"), sizeOfAxis(data, "key")];
const at = (data, [q, k]) => q * sizeOfAxis(data, "key") + k;
const level = (scale, value) => Math.round(positionOf(scale, value) * (scale.steps - 1));
const onMap = { weight: "scale", plain: "scale", changed: "gap" };

/** The weight of a key where attention is even over the tokens, of which a folded key joins several: [its, of all]. */
const evenOf = (data, k) => [data.axes.key.cells[k], sum(data.axes.key.cells)];

/** What the maps of a line are, in places that stay when the context term is switched off; `empty`: why one has no cells. */
function kinds(data) {
  if (!data.has.plain) return [{ name: "weight", title: "alignment", note: "no context term" }];
  const off = data.blocks.some(Boolean) && !hasTerm(data);
  return [
    off ? { title: "with context", note: "", empty: "The context term is switched off." } : { name: "weight", title: "with context", note: "what the block uses" },
    off ? { name: "weight", title: "without", note: "what the block uses" } : { name: "plain", title: "without", note: "same states, term left out" },
    off ? { title: "difference", note: "", empty: "Nothing to compare with." } : { name: "changed", title: "difference", note: "what context changed" },
  ];
}

// ---- what is chosen ---------------------------------------------------------------------------------------------

/** The cell in the nearest block that is not switched off; null where all are. */
function lived(data, cell) {
  const there = data.blocks.flatMap((block, i) => (block ? [i] : [])).sort((a, b) => Math.abs(a - cell[2]) - Math.abs(b - cell[2]));
  return there.length ? Object.assign(cell.map((one, axis) => (axis === 2 ? there[0] : one)), { own: cell.own, gate: cell.gate }) : null;
}

/** What a token of a cell looks at most in its own sentence; where nothing of that is drawn, in the whole model. */
function looksAt(data, cell, side) {
  const n = sizeOfAxis(data, side ? "key" : "query"), own = data.blocks[cell[2]]?.own[side]?.subarray(cell[side] * n, (cell[side] + 1) * n);
  return own ? own.indexOf(Math.max(...own)) : data.looks[cell[2]]?.[side]?.[cell[side]] ?? 0;
}

/** From one cell to another: what was chosen for a token stays while the token does; else it is what that looks at most. */
function follow(data, from, to) {
  ["query", "key"].forEach((axis, s) => {
    const most = [looksAt(data, from, s), data.looks[from[2]]?.[s]?.[from[s]]], chosen = to[2] === from[2] || !most.includes(from[4 + s]);
    if (to.own !== axis && !(to[s] === from[s] && chosen)) to[4 + s] = looksAt(data, to, s);
  });
  return to;
}

/** Where the keys lead that not every figure has: blocks, what a token looks at in its own sentence, features. */
function keyed(data, cell, { key, shiftKey }) {
  const by = { "[": -1, "]": 1, ",": -1, ".": 1 }[key], [step] = (shiftKey && STEPS[key]?.filter(Boolean)) || [], here = lived(data, cell), block = data.blocks[here?.[2]];
  const moved = (axis, to, own) => Object.assign(here.map((one, a) => (a === axis ? to : one)), { own });
  if (!block) return null;
  if (step && block.own.length) return key === "ArrowUp" || key === "ArrowDown" ? moved(4, here[4] + step, "query") : moved(5, here[5] + step, "key");
  if (key === "[" || key === "]") {
    let next = here[2] + by;
    while (next in data.blocks && !data.blocks[next]) next += by;
    return moved(2, next in data.blocks ? next : here[2]);
  }
  if (!by || !block.features) return null;
  return moved(3, block.order[clamp(block.order.indexOf(here[3]) + by, 0, data.wide - 1)]);
}

/** The cell under a point, or null; `own`: the self-alignment that the point is in. */
function hit(layout, state, x, y) {
  const [q, k, block, f, a, b] = state.cell, { rows, columns, features } = layout;
  for (const { down, across, ...one } of layout.selves) {
    const r = cellAt(down, y - one.y), c = cellAt(across, x - one.x);
    if (one.block && r >= 0 && c >= 0) return Object.assign(one.s ? [q, r, one.index, f, a, c] : [r, k, one.index, f, c, b], { own: one.axis });
  }
  for (const box of layout.boxes) {
    const r = cellAt(rows, y - box.y), c = cellAt(columns, x - box.x);
    if (!box.block || r < 0) continue;
    if (c >= 0) return [r, c, box.index, f, a, b];
    if ((x < layout.x && x >= layout.x - layout.own) || (layout.bars && x >= layout.bars)) return [r, k, box.index, f, a, b];
  }
  for (const { x: left, y: foot } of layout.labels) {
    const c = cellAt(columns, x - left);
    if (c >= 0 && y < foot && y > foot - layout.lean) return [q, c, block, f, a, b];
  }
  if (!features) return null;
  const r = cellAt(features.rows, y - features.y), c = cellAt(features.columns, x - features.x);
  return r >= 0 && c >= 0 ? Object.assign([r, k, block, state.order[c], a, b], { gate: true }) : null;
}
