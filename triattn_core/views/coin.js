// COIN's blocks: each one a line of maps on one scale, with its context term, without it, and what that changed; beside
// them both sentences over themselves and the gate.  Below: one token through the blocks, and what is said
// with one thing switched off.
// Cells are [query, key, block, feature of the gate, what the query looks at in its own sentence, the same of the key].

const HEAD = 44, GUTTER = 28, SCALE = 66, GATE = 150, WIDE = 900, BETWEEN = 16, CHART = 104, LINE = 21, MOST = 3;
const HINT = ": another query up and down, another key left and right. A click in a self-alignment or on the gate chooses there.";
const AXIS = { query: 0, key: 1 };

function unpack(payload) {
  const open = (packed) => (packed ? floats(packed) : null);
  const parts = ["weight", "score", "plain", "plain_score", "changed", "gate", "features"];
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

const onMap = { weight: "scale", plain: "scale", changed: "gap" };

/** What the maps of a line are: with and without the term where there is one, else what the block uses. */
function kinds(data) {
  const term = data.blocks.some((block) => block?.plain), none = data.off === "context" ? "the context term is off" : "no context term";
  if (!term) return [{ name: "weight", title: "alignment", note: none }];
  return [
    { name: "weight", title: "with context", note: "what the block uses" },
    { name: "plain", title: "without", note: "the same states, term left out" },
    { name: "changed", title: "difference", note: "what context changed" },
  ];
}

// ---- layout -----------------------------------------------------------------------------------------------------

function arrange(ctx, data, width, theme) {
  const { query, key } = data.axes, count = data.blocks.length, maps = kinds(data), narrow = width < WIDE;
  const selves = data.blocks.some((block) => block?.own.length), gates = data.blocks.some((block) => block?.gate);
  const gutter = narrow ? 30 : 48, own = clamp(widest(ctx, query, theme), 34, 110) + 14, gate = gates ? (narrow ? 104 : GATE) : 34;
  const small = clamp(width * 0.086, 70, 112), before = gutter + (selves && !narrow ? 2 * small + 14 + 10 : 0);
  const room = (width - before - own - gate - maps.length * GUTTER) / maps.length;
  const columns = layoutAxis(key, clamp(room / key.label.length, 1, Math.max(34, 200 / key.label.length))), rows = layoutAxis(query, clamp(330 / (count * query.label.length), 8, 20));
  const lean = leans(ctx, key, columns.pitch, theme) ? clamp(widest(ctx, key, theme), 20, 96) * 0.71 + 20 : 26 + STEP * (linesOf(ctx, key, columns.pitch, theme) - 1);
  const top = HEAD + lean, x = before + own;
  const lines = data.blocks.map((block, i) => ({ block, index: i, y: Math.round(top + i * (rows.size + BETWEEN)) }));
  const boxes = lines.flatMap((line) => maps.map((map, m) => ({ ...line, map, x: Math.round(x + m * (columns.size + GUTTER)) })));
  const layout = { width, rows, columns, own, gutter, lean, lines, boxes, maps, x, narrow, top, bars: gates ? x + maps.length * (columns.size + GUTTER) : 0, gate };
  let foot = top + count * (rows.size + BETWEEN);
  layout.selves = selves ? placeSelves(layout, data, small, foot) : [];
  if (narrow && selves) foot = layout.selves.at(-1).y + layout.selves.at(-1).down.size + BETWEEN;
  layout.scales = { x, y: foot + 10, wide: Math.min(Math.max(columns.size, 150), 260), gap: boxes[maps.length - 1].x };
  foot += SCALE + 4;
  if (data.features) foot = (layout.features = placeFeatures(data, width, own + gutter, foot, query)).foot;
  layout.charts = { y: foot + 24, apart: !narrow, left: narrow ? width - 20 : width * 0.4, x: narrow ? 0 : width * 0.47 };
  const bars = 34 + LINE * data.answers.length + 22, left = CHART + 34 + 26;
  layout.charts.below = narrow ? left + 16 : 0;
  layout.height = layout.charts.y + (narrow ? layout.charts.below + bars : Math.max(left, bars));
  return layout;
}

/** Self-alignments: left of the maps on the lines of their blocks; on a narrow page below all of them. */
function placeSelves({ lines, rows, gutter, narrow, width }, data, small, foot) {
  const room = narrow ? clamp((width - 20) / (2 * lines.length) - 16, 50, 112) : small;
  return lines.flatMap(({ block, index, y }) => ["query", "key"].map((axis, s) => {
    const n = sizeOfAxis(data, axis), high = narrow ? room : Math.min(rows.size, small);
    const x = narrow ? (2 * index + s) * (room + 16) : gutter + s * (small + 14);
    return { block, index, axis, s, x: Math.round(x), y: narrow ? foot + 58 : y, down: layoutAxis(data.axes[axis], high / n, 0), across: layoutAxis(data.axes[axis], room / n, 0), room };
  }));
}

function placeFeatures(data, width, x, foot, query) {
  const label = Array.from({ length: data.wide }, (_, i) => String(i + 1)), y = foot + 66, rows = layoutAxis(query, clamp(200 / query.label.length, 6, 16));
  const zeros = label.map(() => 0), order = data.blocks.find((block) => block?.order)?.order ?? [];
  const tokens = { label, name: label, text: label.map(() => ""), special: zeros, joined: zeros, flat: true };
  return { x, y, rows, top: foot + 8, tokens, columns: layoutAxis(tokens, clamp((width - x - 4) / data.wide, 0.5, 9)), order, foot: y + rows.size + 10 };
}

/** The cell under a point, or null; `own`: the self-alignment that the point is in. */
function hit(layout, state, x, y) {
  const [q, k, block, f, a, b] = state.cell, { rows, columns, features } = layout;
  for (const { down, across, ...one } of layout.selves) {
    const r = cellAt(down, y - one.y), c = cellAt(across, x - one.x);
    if (r >= 0 && c >= 0) return Object.assign(one.s ? [q, r, one.index, f, a, c] : [r, k, one.index, f, c, b], { own: one.axis });
  }
  for (const { y: from, index } of layout.lines) {
    const r = cellAt(rows, y - from);
    if (r < 0 || x < layout.x - layout.own) continue;
    const box = layout.boxes.find((one) => one.index === index && cellAt(columns, x - one.x) >= 0);
    if (box) return [r, cellAt(columns, x - box.x), index, f, a, b];
    if (x < layout.x || (layout.bars && x >= layout.bars)) return [r, k, index, f, a, b];
  }
  if (y < layout.top && y > layout.top - layout.lean) {
    const box = layout.boxes.find((one) => cellAt(columns, x - one.x) >= 0);
    if (box) return [q, cellAt(columns, x - box.x), block, f, a, b];
  }
  if (!features) return null;
  const r = cellAt(features.rows, y - features.y), c = cellAt(features.columns, x - features.x);
  return r >= 0 && c >= 0 ? Object.assign([r, k, block, orderOf(features, state, c), a, b], { gate: true }) : null;
}

const orderOf = (features, state, place) => (state.orders?.[state.cell[2]] ?? features.order)[place];

// ---- painting ---------------------------------------------------------------------------------------------------

/** The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables} */
function paintAll(ctx, data, layout, theme, state) {
  state.orders = data.blocks.map((block) => block?.order);
  layout.lines.forEach((line) => paintLine(ctx, line, layout, data, theme, state));
  layout.maps.forEach((map, m) => {
    const { x } = layout.boxes[m], room = layout.columns.size + GUTTER - 10;
    head(ctx, map.title, map.note, x, 16, room, theme);
    columnLabels(ctx, layout.columns, data.axes.key, x, layout.top, theme, { chosen: state.cell[1], hover: state.hover?.[1] ?? -1, colour: theme.key, room: 96 });
  });
  layout.boxes.forEach((box) => box.block && paintMap(ctx, box, layout, data, theme, state));
  paintSelves(ctx, layout, data, theme, state);
  if (layout.bars) head(ctx, "Gate", layout.narrow ? "" : "0 takes in, 1 keeps", layout.bars, 16, layout.gate, theme);
  const { x, y, wide, gap } = layout.scales, chosen = data.blocks[state.cell[2]], i = at(data, state.cell);
  colourBar(ctx, x, y, wide, data.scale, state.tables.log, theme, { mark: `${data.folded ? "even share" : "uniform"}, 1/${sizeOfAxis(data, "key")}`, pointer: chosen?.weight[i] ?? null });
  if (layout.maps.length > 1) colourBar(ctx, gap, y, wide, data.gap, state.tables.signed, theme, { pointer: chosen?.changed?.[i] ?? null });
  paintChosen(ctx, layout, data, theme, state);
  if (layout.features) paintFeatures(ctx, layout.features, data, theme, state);
  paintThrough(ctx, layout.charts, data, theme, state);
  paintAnswers(ctx, layout, data, theme);
}

/** The exact numbers of the chosen cell, between the scales. */
function paintChosen(ctx, { scales, boxes, maps, columns }, data, theme, state) {
  const [q, k, chosen] = state.cell, block = data.blocks[chosen], x = maps.length > 1 ? boxes[1].x : scales.x + scales.wide + GUTTER, { y } = scales;
  const room = maps.length > 1 ? Math.max(columns.size + GUTTER - 8, 120) : 300, i = at(data, state.cell);
  ctx.font = font(theme, 13, 650);
  const from = text(ctx, spoken(data.axes.query, q), x, y, theme.query, { weight: 650, theme, room: room * 0.4 });
  const to = text(ctx, "→", x + from + 5, y, theme.muted, { theme });
  text(ctx, spoken(data.axes.key, k), x + from + to + 10, y, theme.key, { weight: 650, theme, room: room - from - to - 10 });
  if (!block) return text(ctx, `block ${chosen + 1} is switched off`, x, y + 19, theme.muted, { theme, room });
  maps.forEach(({ name, title }, m) => {
    const value = block[name]?.[i] ?? NaN, told = (name === "changed" && value > 0 ? "+" : "") + number(value);
    text(ctx, title, x, y + 19 * (m + 1), theme.muted, { theme, room: room - 60 });
    text(ctx, told, x + 150, y + 19 * (m + 1), theme.text, { weight: 650, align: "right", theme });
  });
}

/** A heading with what it means behind it, or below it where there is no room. */
function head(ctx, words, note, x, y, room, theme) {
  const wide = text(ctx, words, x, y, theme.text, { size: 15, weight: 650, theme, room });
  ctx.font = font(theme);
  const behind = room - wide - 10 >= ctx.measureText(note).width;
  text(ctx, note, behind ? x + wide + 10 : x, behind ? y : y + 18, theme.muted, { theme, room: behind ? room - wide - 10 : room });
}

function paintLine(ctx, { block, index, y }, layout, data, theme, state) {
  const { rows } = layout, [q, , chosen] = state.cell, middle = y + rows.size / 2;
  if (!layout.narrow) text(ctx, "block", 0, middle - 10, theme.muted, { theme });
  text(ctx, String(index + 1), 0, middle + (layout.narrow ? 8 : 16), index === chosen ? theme.text : theme.muted, { size: 24, weight: 650, theme });
  if (index === chosen && !layout.narrow) ctx.fillRect(0, middle + 22, 14, 2);
  if (!block) return text(ctx, `Block ${index + 1} is switched off: it hands on what it was given.`, layout.x, middle + 4, theme.muted, { size: 14, theme });
  rowLabels(ctx, rows, data.axes.query, layout.x, y, theme, { chosen: q, hover: state.hover?.[0] ?? -1, colour: theme.query, room: layout.own - 12 });
  if (!block.gate) return;
  const long = layout.gate - 58, thick = clamp(rows.pitch * 0.5, 2, 9), shown = thinned(rows, 12.5, [q, state.hover?.[0] ?? -1]);
  block.gate.forEach((value, i) => {
    const from = y + rows.at[i] + (rows.pitch - rows.line - thick) / 2;
    ctx.fillStyle = theme.faint;
    ctx.fillRect(layout.bars, from, long, thick);
    ctx.fillStyle = theme.coin;
    ctx.globalAlpha = i === q ? 1 : 0.55;
    ctx.fillRect(layout.bars, from, long * clamp(value, 0, 1), thick);
    ctx.globalAlpha = 1;
    if (shown.has(i)) text(ctx, value.toFixed(2), layout.bars + long + 8, from + thick / 2 + 4.5, i === q ? theme.text : theme.muted, { weight: i === q ? 700 : 400, theme });
  });
}

function paintMap(ctx, { block, map, x, y, index }, { rows, columns }, data, theme, state) {
  const [q, k, chosen] = state.cell, values = block[map.name], scale = data[onMap[map.name]], n = sizeOfAxis(data, "key");
  if (!values) return;
  cells(ctx, rows, columns, x, y, (r, c) => level(scale, values[r * n + c]), state.tables[scale.kind]);
  frame(ctx, columns, k, y - 3, y + rows.size + 2, x, theme.key, true);
  frame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  if (index === chosen) ring(ctx, rows, columns, q, k, x, y, theme);
}

function paintSelves(ctx, layout, data, theme, state) {
  const { selves, narrow } = layout, [q, k, chosen, , a, b] = state.cell;
  if (!selves.length) return;
  head(ctx, "Self-alignment", "each word over its own sentence", selves[0].x, narrow ? selves[0].y - 42 : 16, narrow ? layout.width : 2 * selves[0].room + 20, theme);
  for (const { block, index, axis, s, x, y, down, across } of selves) {
    const name = (narrow ? `block ${index + 1}, ` : "") + data.sides[s];
    if (narrow || !index) text(ctx, name, x, y - 8, theme[axis], { weight: 650, theme });
    if (!block?.own.length) continue;
    const n = sizeOfAxis(data, axis), [from, to] = s ? [k, b] : [q, a];
    cells(ctx, down, across, x, y, (r, c) => level(data.scale, block.own[s][r * n + c]), state.tables.log);
    frame(ctx, down, from, x - 2, x + across.size + 1, y, theme[axis]);
    if (index === chosen) ring(ctx, down, across, from, to, x, y, theme);
  }
}

/** The gate of the chosen block, token × feature. */
function paintFeatures(ctx, features, data, theme, state) {
  const { x, y, rows, columns, top, tokens } = features, [q, , chosen, f] = state.cell, block = data.blocks[chosen];
  head(ctx, `Gate of block ${chosen + 1}`, block?.features ? `token × feature, ${data.wide} features ordered by likeness: the share of itself that a token keeps` : "switched off", x, top + 14, columns.size - 270, theme);
  colourBar(ctx, x + columns.size - 240, top + 4, 240, data.gate, state.tables.log, theme, { pointer: block?.features?.[q * data.wide + f] ?? null });
  if (!block?.features) return;
  const place = block.order.indexOf(f), named = { ...tokens, label: block.order.map((i) => String(i + 1)) };
  rowLabels(ctx, rows, data.axes.query, x, y, theme, { chosen: q, hover: state.hover?.[0] ?? -1, colour: theme.query, room: 110 });
  text(ctx, `feature ${named.label[place]}`, clamp(x + columns.at[place] - 24, x, x + columns.size - 70), y - 7, theme.feature, { weight: 650, theme });
  cells(ctx, rows, columns, x, y, (r, c) => level(data.gate, block.features[r * data.wide + block.order[c]]), state.tables.log);
  frame(ctx, columns, place, y - 3, y + rows.size + 2, x, theme.feature, true);
  frame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  ring(ctx, rows, columns, q, place, x, y, theme);
}

/** Which keys are followed: the chosen one, and those that hold most of the query in some block. */
function followed(data, [q, k]) {
  const n = sizeOfAxis(data, "key"), best = data.blocks.flatMap((block) => (block ? [block.weight.subarray(q * n, (q + 1) * n).reduce((top, value, i, row) => (value > row[top] ? i : top), 0)] : []));
  return [...new Set([k, ...best])].slice(0, MOST + 1);
}

function paintThrough(ctx, { y, left }, data, theme, state) {
  const [q, k] = state.cell, { query, key } = data.axes, n = sizeOfAxis(data, "key"), last = data.blocks.length - 1;
  const x = 34, long = left - x - 100, top = y + 34, keys = followed(data, state.cell);
  const value = (block, name, i) => block?.[name]?.[q * n + i] ?? null;
  const every = data.blocks.flatMap((block) => keys.flatMap((i) => [value(block, "weight", i), value(block, "plain", k)])).filter((one) => one !== null);
  const most = Math.max(...every, 1e-9), high = [0.1, 0.2, 0.5, 1].find((one) => one >= most) ?? 1;
  const placeX = (i) => x + (last ? (i / last) * long : long / 2), placeY = (v) => top + CHART * (1 - v / high);
  const wide = text(ctx, "One token through the blocks", 0, y + 12, theme.text, { size: 15, weight: 650, theme });
  const dashed = data.blocks.some((block) => block?.plain) ? "; dashed: without context" : "", what = `what ${spoken(query, q)} aligns to`;
  const named = text(ctx, what, wide + 10, y + 12, theme.query, { theme, room: left - wide - 10 });
  text(ctx, dashed, wide + 10 + named, y + 12, theme.muted, { theme, room: Math.max(left - wide - 10 - named, 0) });
  for (const tick of [0, high / 2, high]) {
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(x, placeY(tick), long, 1);
    text(ctx, short(tick), x - 6, placeY(tick) + 4, theme.muted, { size: 12, align: "right", theme });
  }
  data.blocks.forEach((_, i) => text(ctx, `block ${i + 1}`, placeX(i), top + CHART + 18, theme.muted, { size: 12, align: "center", theme }));
  const ends = [], draw = (name, i, colour, dash, thick) => {
    const points = data.blocks.map((block, b) => [placeX(b), value(block, name, i)]).filter(([, v]) => v !== null).map(([px, v]) => [px, placeY(v)]);
    path(ctx, points, colour, dash, thick);
    return points.at(-1);
  };
  for (const i of [...keys].reverse()) {
    const end = draw("weight", i, i === k ? theme.key : theme.bar, [], i === k ? 2.5 : 1.5);
    if (end) ends.push({ i, y: end[1] });
  }
  draw("plain", k, theme.key, [4, 3], 1.5);
  spread(ends, 15, top - 4, top + CHART - 2).forEach(({ i, y: to }) => text(ctx, spoken(key, i), x + long + 10, to + 4, i === k ? theme.key : theme.muted, { weight: i === k ? 700 : 400, theme, room: 96 }));
}

function path(ctx, points, colour, dash, thick) {
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = thick;
  ctx.setLineDash(dash);
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
  ctx.setLineDash([]);
  if (!dash.length) for (const [x, y] of points) ctx.fillRect(x - 2.5, y - 2.5, 5, 5);
}

/** Labels moved apart to `need` pixels, in their order. */
function spread(labels, need, low, high) {
  const found = labels.sort((one, other) => one.y - other.y).map((one) => ({ ...one }));
  found.forEach((one, i) => { one.y = Math.max(one.y, i ? found[i - 1].y + need : low); });
  for (let i = found.length - 1; i >= 0; i--) found[i].y = Math.min(found[i].y, i + 1 < found.length ? found[i + 1].y - need : high);
  return found;
}

function paintAnswers(ctx, { charts, width }, data, theme) {
  const left = charts.x, y = charts.y + charts.below, from = left + 128, long = width - from - 118, threshold = from + long / 2;
  head(ctx, "With one thing switched off", `probability of “${data.label}”`, left, y + 12, width - left, theme);
  data.answers.forEach(({ off, name, probability, flips }, i) => {
    const top = y + 34 + i * LINE, chosen = off === data.off, weight = chosen ? 700 : 400, change = probability - data.answers[0].probability;
    text(ctx, name, from - 10, top + 12, chosen ? theme.text : theme.muted, { weight, align: "right", theme });
    ctx.fillStyle = theme.faint;
    ctx.fillRect(from, top + 3, long, 9);
    ctx.globalAlpha = chosen ? 1 : 0.6;
    ctx.fillStyle = theme.coin;
    ctx.fillRect(from, top + 3, long * clamp(probability, 0, 1), 9);
    ctx.globalAlpha = 1;
    text(ctx, probability.toFixed(3), from + long + 52, top + 12, theme.text, { weight, align: "right", theme });
    const said = flips ? "flips" : i ? (change < 0 ? "−" : "+") + Math.abs(change).toFixed(3) : "";
    text(ctx, said, width, top + 12, flips ? theme.text : theme.muted, { weight: flips ? 700 : 400, align: "right", theme });
  });
  const foot = y + 34 + data.answers.length * LINE;
  ctx.fillStyle = theme.muted;
  ctx.fillRect(threshold - 0.5, y + 33, 1, foot - y - 31);
  for (const [value, align] of [[0, "left"], [0.5, "center"], [1, "right"]]) text(ctx, value === 0.5 ? "0.5, the threshold" : String(value), from + value * long, foot + 14, theme.muted, { size: 12, align, theme });
}
