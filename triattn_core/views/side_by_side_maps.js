// Several maps of query × key on one colour scale, the difference of two of them, and the divergence of their rows:
// where they stand and how they are painted.

const HEAD = 90, ROW_BARS = 76, SCALE = 70, GUTTER = 20, DIVERGENCE = 160, SHARED = 34, NARROW = 150, BETWEEN = 22, OVERHANG = 44, GAP = 4;

const hintOf = () => [": the same cell is chosen in all maps. Numbers in bits and ranks are taken from weights."];

function unpack(payload) {
  const open = (block) => ({ ...block, grid: bytes(block.levels), exact: floats(block.values), within: block.within && bytes(block.within) });
  const panel = (block) => ({ ...open(block), weight: floats(block.weights), rank: bytes(block.ranks) });
  return { ...payload, panels: payload.panels.map(panel), gap: payload.gap && open(payload.gap) };
}

const strongest = ({ gap }) => (gap ? "Where the two differ most" : "The largest weights");

/** Cells by the size of the difference, those that seeds do not explain first; without it by their largest weight. */
function ranked({ gap, panels, axes }) {
  const rows = axes.query.label.length, columns = axes.key.label.length;
  const size = gap ? (i) => Math.abs(gap.exact[i]) + (gap.within?.[i] ? 0 : 1e3) : (i) => Math.max(...panels.map((panel) => panel.weight[i]));
  return cellsOf(largest(rows * columns, size), rows, columns).map(([q, k]) => [q, k]);
}

const sizesOf = (data) => ["query", "key"].map((axis) => data.axes[axis].label.length);

// ---- layout -----------------------------------------------------------------------------------------------------

/** Where everything stands for a given width: blocks are the maps and, last, the difference. */
function arrange(ctx, data, width, theme) {
  const { query, key } = data.axes, blocks = [...data.panels, ...(data.gap ? [data.gap] : [])];
  const step = clamp(312 / query.label.length, 7, 26), letters = widest(ctx, query, theme) * 1.08 + 14;
  const own = Math.min(letters + STEP * (linesOf(ctx, query, step, theme) - 1), Math.max(96, width * 0.08));
  const repeats = letters <= 34, side = data.gap ? DIVERGENCE : 0, n = blocks.length;
  // The divergence stands beside the difference: it takes room from the maps only where that ends a full line;
  // elsewhere the leaning labels of the last column need some.
  const room = (k) => (width - own - (n % k ? OVERHANG : side) - (k - 1) * (repeats ? own + 8 : GUTTER)) / k;
  const finest = width < 1000 ? 3.8 : 5; // pixels a cell
  let across = n;
  while (across > 1 && (room(across) < NARROW || room(across) / key.label.length < finest)) across--;
  const wide = Math.min(room(across), 360), rows = layoutAxis(query, step);
  const columns = layoutAxis(key, clamp((wide - GAP * gapsOf(key)) / key.label.length, 1, Math.max(64, 220 / key.label.length)), GAP);
  const lean = leans(ctx, key, columns.pitch, theme);
  const above = (lean ? Math.min(widest(ctx, key, theme), 96) * 0.71 + 22 : 26) + STEP * (linesOf(ctx, key, columns.pitch, theme) - 1);
  const tall = HEAD + above + rows.size + ROW_BARS + 26, lines = Math.ceil(n / across);
  const boxes = blocks.map((block, i) => ({
    block,
    x: Math.round(own + (i % across) * (wide + (repeats ? own + 8 : GUTTER))),
    y: Math.round(Math.floor(i / across) * (tall + BETWEEN)),
    labelled: repeats || i % across === 0,
  }));
  const end = lines * (tall + BETWEEN) - BETWEEN, last = boxes[n - 1];
  // The scales stand below the maps, or beside the last one where it is alone in its line.
  const free = last.x + wide + side + 2 * GUTTER, beside = lines > 1 && width - free > 200;
  const scales = beside ? { x: free, y: last.y + 24, room: width - free, stacked: true } : { x: own, y: end + 16, room: width - own, stacked: false };
  scales.gapX = Math.max(last.x, own + wide + GUTTER);
  scales.under = !beside && (data.gap ? scales.gapX : width) - own - Math.min(wide, 260) - 2 * GUTTER < 150; // no room between them
  return { width, wide, rows, columns, above, own, boxes, top: Math.round(HEAD + above), scales, height: beside ? end : end + SCALE + (scales.under ? 22 : 0) };
}

/** The block and cell under a point, or null.  Above and beside a map its labels count as cells of the chosen row. */
function hit(layout, state, x, y) {
  for (const box of layout.boxes) {
    const dx = x - box.x, dy = y - box.y - layout.top;
    if (dx < -layout.own || dx > layout.columns.size || dy < -layout.above || dy > layout.rows.size + ROW_BARS) continue;
    const q = cellAt(layout.rows, dy), k = cellAt(layout.columns, dx);
    if (q >= 0 && k >= 0) return [q, k];
    if (q >= 0 && dx < 0 && box.labelled) return [q, state.cell[1]];
    if (k >= 0 && q < 0) return [state.cell[0], k];
  }
  return null;
}

// ---- painting ---------------------------------------------------------------------------------------------------

/** The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables} */
function paintAll(ctx, data, layout, theme, state) {
  layout.boxes.forEach((box, i) => {
    const isGap = box.block === data.gap;
    (isGap ? gapHead : panelHead)(ctx, box, layout.wide, data, theme);
    paintMap(ctx, box, layout, data, theme, state, state.tables[isGap ? "signed" : data.scale.kind]);
    paintRow(ctx, box, layout, data, theme, state, i);
    if (isGap) paintDivergence(ctx, box, layout, data, theme, state);
  });
  paintScales(ctx, layout, data, theme, state);
}

/** A line above, the name with its colour, the verdict with its probability, the score on the test set. */
function panelHead(ctx, { block, x, y }, wide, data, theme) {
  const colour = theme[block.mechanism] ?? theme.bar, tight = wide < 220;
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y, wide, 1);
  // In a narrow panel the verdict takes the note's place, so that the label is never cut.
  const chip = block.right === null ? 0 : verdictChip(ctx, block.right, x + wide, y + (tight ? 11 : 36), theme);
  const room = wide - 19 - (tight ? chip : 0);
  ctx.fillStyle = colour;
  ctx.fillRect(x, y + 14, 11, 11);
  const end = 27 + title(ctx, block.title, x + 19, y + 25, theme, room);
  if (!tight && wide - end > 60) text(ctx, block.note, x + end, y + 25, theme.muted, { theme, room: wide - end });
  const right = x + wide - (tight ? 0 : chip), share = text(ctx, block.share, right, y + 50, theme.text, { size: 14, align: "right", theme });
  text(ctx, block.label, x, y + 50, theme.text, { size: 14, weight: 650, theme, room: right - x - share - 8 });
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y + 58, wide, 6);
  ctx.fillStyle = colour;
  ctx.fillRect(x, y + 58, wide * clamp(block.probability, 0, 1), 6);
  text(ctx, block.score, x, y + 82, theme.muted, { theme, room: wide });
}

/** A heading: smaller before it is cut. */
function title(ctx, words, x, y, theme, room) {
  ctx.font = font(theme, 17, 650);
  return text(ctx, words, x, y, theme.text, { size: ctx.measureText(words).width > room ? 14 : 17, weight: 650, theme, room });
}

/** "right" is outlined, "wrong" is filled: told apart without colour.  Returns the room it takes. */
function verdictChip(ctx, right, end, y, theme) {
  ctx.font = font(theme, 13, right ? 650 : 400);
  const label = right ? "right" : "wrong", wide = ctx.measureText(label).width + 14;
  ctx.fillStyle = theme.faint;
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 1;
  right ? ctx.strokeRect(end - wide + 0.5, y + 0.5, wide - 1, 18) : ctx.fillRect(end - wide, y, wide, 19);
  text(ctx, label, end - wide / 2, y + 14, right ? theme.text : theme.muted, { weight: right ? 650 : 400, align: "center", theme });
  return wide + 8;
}

function gapHead(ctx, { block, x, y }, wide, data, theme) {
  const from = x + wide + 18, room = DIVERGENCE - 18;
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, y, wide, 1);
  ctx.fillRect(from, y, room, 1);
  title(ctx, block.title, x, y + 25, theme, wide);
  block.lines.forEach((line, i) => text(ctx, line, x, y + 48 + 18 * i, theme.muted, { theme, room: wide }));
  title(ctx, "Divergence", from, y + 25, theme, room);
  block.divergence_lines.forEach((line, i) => text(ctx, line, from, y + 48 + 18 * i, theme.muted, { theme, room: room - (i ? SHARED : 0) }));
  if (block.overlap) text(ctx, `top ${block.top}`, from + room, y + 66, theme.muted, { align: "right", theme });
}

function paintMap(ctx, box, layout, data, theme, state, colours) {
  const { rows, columns } = layout, { query, key } = data.axes, [q, k] = state.cell, [hq, hk] = state.hover ?? [-1, -1];
  const x = box.x, y = box.y + layout.top, keys = key.label.length;
  if (box.labelled) rowLabels(ctx, rows, query, x, y, theme, { chosen: q, hover: hq, colour: theme.query, room: layout.own - 10 });
  columnLabels(ctx, columns, key, x, y, theme, { chosen: k, hover: hk, colour: theme[data.across], room: 96 });
  paintCells(ctx, box, rows, columns, x, y, (r, c) => box.block.grid[r * keys + c], colours);
  paintGaps(ctx, box.block, rows, columns, x, y, theme);
  frame(ctx, columns, k, y - 3, y + rows.size + 2, x, theme[data.across], true);
  frame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  ring(ctx, rows, columns, q, k, x, y, theme);
}

/** What an input does not have is hatched; a difference that is no greater than between seeds is grey. */
function paintGaps(ctx, block, rows, columns, x, y, theme) {
  const of = (r, c) => r * columns.at.length + c;
  if (block.exact.some(Number.isNaN)) hatch(ctx, rows, columns, x, y, (r, c) => Number.isNaN(block.exact[of(r, c)]), theme);
  if (!block.within) return;
  ctx.fillStyle = theme.hairline;
  rows.at.forEach((top, r) => columns.at.forEach((left, c) => {
    if (block.within[of(r, c)]) ctx.fillRect(x + left, y + top, columns.pitch - columns.line, rows.pitch - rows.line);
  }));
}

/** The cells, painted once for a layout: a step of the crosshair only lays the picture down again. */
function paintCells(ctx, box, rows, columns, x, y, level, colours) {
  if (!ctx.drawImage) return cells(ctx, rows, columns, x, y, level, colours);
  if (!box.sheet) {
    box.sheet = document.createElement("canvas");
    cells(fitCanvas(box.sheet, Math.ceil(columns.size), Math.ceil(rows.size), ctx.getTransform().a), rows, columns, 0, 0, level, colours);
  }
  ctx.drawImage(box.sheet, x, y, Math.ceil(columns.size), Math.ceil(rows.size));
}

/** The chosen row as bars below its own columns, on one scale for all maps; the difference has its own. */
function paintRow(ctx, box, layout, data, theme, state, index) {
  const { columns } = layout, [q, k] = state.cell, isGap = box.block === data.gap, keys = data.axes.key.label.length;
  const rowOf = (block) => Array.from(block.exact.subarray(q * keys, (q + 1) * keys), (v) => (Number.isFinite(v) ? v : 0));
  const values = rowOf(box.block), like = (isGap ? [data.gap] : data.panels).flatMap(rowOf);
  const top = Math.max(0, ...like), bottom = Math.min(0, ...like), span = top - bottom || 1;
  const colour = isGap ? null : theme[box.block.mechanism] ?? theme.bar, { signed } = state.tables;
  const y = box.y + layout.top + layout.rows.size + 30, long = ROW_BARS - 32, zero = y + (top / span) * long;
  const thick = clamp(columns.pitch * 0.62, 1.5, 22), inset = (columns.pitch - columns.line - thick) / 2;
  values.forEach((value, i) => {
    const size = Math.max((Math.abs(value) / span) * long, 0.75), across = Math.max(thick, i === k ? 3 : 0);
    ctx.globalAlpha = i === k ? 1 : 0.55;
    ctx.fillStyle = colour ?? (box.block.within?.[q * keys + i] ? theme.bar : signed[value < 0 ? 48 : 206]);
    ctx.fillRect(box.x + columns.at[i] + inset - (across - thick) / 2, value < 0 ? zero : zero - size, across, size);
  });
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.muted;
  ctx.fillRect(box.x, zero - 0.5, columns.size, 1);
  const label = said(box.block.exact[q * keys + k], isGap), half = (ctx.font = font(theme, 13, 650), ctx.measureText(label).width / 2);
  const middle = clamp(box.x + columns.at[k] + columns.pitch / 2, box.x + half - 6, Math.max(box.x + layout.wide - half, box.x + half - 6));
  // The number stands above all bars that it is as wide as.
  const near = values.filter((_, i) => Math.abs(box.x + columns.at[i] + columns.pitch / 2 - middle) < half + columns.pitch / 2);
  const tip = zero - (Math.max(0, values[k], ...near) / span) * long - 6;
  text(ctx, label, middle, tip, theme.text, { weight: 650, align: "center", theme });
  const caption = isGap ? "change for " : index === 0 ? "what " : "", name = spoken(data.axes.query, q);
  if (caption) text(ctx, caption + name + (isGap ? "" : " attends to"), box.x, y + long + 18, theme.muted, { theme, room: layout.wide });
}

/** One bar a query, on the rows of the difference map; numbers where there is room for them. */
function paintDivergence(ctx, box, layout, data, theme, state) {
  const { rows } = layout, { overlap } = data.gap, q = state.cell[0];
  const there = data.gap.divergence.filter((v) => v !== null), values = data.gap.divergence.map((v) => v ?? 0), most = Math.max(...values, 1e-9);
  const x = box.x + layout.wide + 18, y = box.y + layout.top, thick = clamp(rows.pitch * 0.36, 2, 10);
  const visible = thinned(rows, 15, [q, state.hover?.[0] ?? -1], values);
  values.forEach((value, i) => {
    if (data.gap.divergence[i] === null) return;
    const middle = y + rows.at[i] + rows.pitch / 2, size = Math.max((value / most) * (DIVERGENCE - 66 - SHARED), 1);
    ctx.fillStyle = i === q ? theme.query : theme.bar;
    ctx.fillRect(x, middle - thick / 2, size, thick);
    if (visible.has(i)) text(ctx, short(value), x + size + 6, middle + 4.5, i === q ? theme.query : theme.muted, { size: 12, weight: i === q ? 700 : 400, theme });
    if (visible.has(i) && overlap && overlap[i] !== null) text(ctx, String(overlap[i]), x + DIVERGENCE - 18, middle + 4.5, i === q ? theme.query : theme.muted, { size: 12, weight: i === q ? 700 : 400, align: "right", theme });
  });
  ctx.fillStyle = theme.muted;
  ctx.fillRect(x - 1, y, 1, rows.size);
  if (there.length) text(ctx, "mean " + number(mean(there)), x, y + rows.size + 20, theme.muted, { theme });
  const same = overlap?.filter((v) => v !== null) ?? [];
  if (same.length) text(ctx, mean(same).toFixed(1), x + DIVERGENCE - 18, y + rows.size + 20, theme.muted, { align: "right", theme });
}

function paintScales(ctx, layout, data, theme, state) {
  const { x, y, room, stacked, under, gapX } = layout.scales, wide = Math.min(layout.wide, 260, room), pointer = data.gap?.exact[at(data, state.cell)];
  const signs = data.scale.kind === "signed" ? signsOf(layout.rows, layout.columns, data.panels.flatMap((panel) => [...panel.exact])) : "";
  colourBar(ctx, x, y, wide, data.scale, state.tables[data.scale.kind], theme, { signs });
  const left = stacked || under ? x : x + wide + GUTTER, top = stacked || under ? y + 70 : y + 4;
  const lines = under ? [data.lines.join(" ")] : data.lines, fits = stacked || under ? room : (data.gap ? gapX : layout.width) - left - GUTTER;
  lines.forEach((line, i) => text(ctx, line, left, top + 18 * i, theme.muted, { theme, room: fits }));
  const below = top + 18 * data.lines.length + 22;
  if (data.gap) colourBar(ctx, stacked ? x : gapX, stacked ? below : y, wide, data.gap.scale, state.tables.signed, theme, { pointer, signs: signsOf(layout.rows, layout.columns, data.gap.exact) });
}
