// Maps of governor × dependent of one text on one scale: two or so with source2token beside them, token × feature, or a
// grid of many.  Cells are [query, key, panel, place of the feature in the order of its panel].

const HEAD = 44, GUTTER = 26, SCALE = 66, BARS = 96, CAPTION = 20, STRIP = 12, WIDE = 900, OVERHANG = 34, LEGIBLE = 16;
const hintOf = () => [": another governor up and down, another dependent left and right. Hatched: a mask leaves the pair out."];
const LOOKS = { query: "governor ↓", key: "dependent →" };

function unpack(payload) {
  const open = (packed) => (packed ? floats(packed) : null);
  const panels = payload.panels.map((block) => ({
    ...block, grid: bytes(block.levels), weight: floats(block.weights), exact: floats(block.values), score: open(block.scores),
    even: open(block.even), out: block.masked ? bytes(block.masked) : null, mean: open(block.mean), strip: block.mean_levels && bytes(block.mean_levels),
    meanWeight: open(block.mean_weights ?? block.mean), meanScore: open(block.mean_scores), sourceWeight: open(block.source_weights ?? block.source), sourceScore: open(block.source_scores),
    source: open(block.source), features: block.source_levels && bytes(block.source_levels),
  }));
  return { ...payload, panels, wide: panels[0].order?.length ?? 0 };
}

const strongest = () => "The largest, against an even share of what the mask leaves";

/** Pairs of all maps by their weight over an even share of their row. */
function ranked(data) {
  const n = data.axes.key.label.length, cells = n * n;
  const open = data.panels.map((panel) => Array.from({ length: n }, (_, q) => openKeys(data, panel, q)));
  const size = (i) => {
    const panel = data.panels[Math.floor(i / cells)], at = i % cells;
    return panel.out?.[at] ? NaN : panel.weight[at] * (panel.even ? 1 / panel.even[at] : open[Math.floor(i / cells)][Math.floor(at / n)]);
  };
  return cellsOf(largest(cells * data.panels.length, size), n, n);
}

const sizesOf = (data) => [data.axes.query.label.length, data.axes.key.label.length, data.panels.length, Math.max(data.wide, 1)];
const at = (data, [q, k]) => q * data.axes.key.label.length + k;
const inMask = (data, panel, cell) => Boolean(panel.out?.[at(data, cell)]);

// ---- layout -----------------------------------------------------------------------------------------------------

/** Where everything stands for a given width: maps in lines, then source2token on the rows of the tokens. */
function arrange(ctx, data, width, theme) {
  const { query, key } = data.axes, n = key.label.length, count = data.panels.length, many = !data.wide;
  const own = clamp(widest(ctx, query, theme), many ? 40 : 72, 110) + 14, stacked = !many && width < WIDE;
  const beside = many || stacked ? OVERHANG : own + BARS + clamp(width * 0.3, 200, 460) + GUTTER;
  let across = many ? Math.min(count, width < WIDE ? 2 : count < 7 ? 6 : 4) : Math.min(count, 3);
  const room = () => (width - own - beside - (across - 1) * GUTTER) / across;
  while (across > 1 && room() < 120) across--;
  const pitch = clamp(room() / n, 1, many ? 30 : Math.max(30, 200 / n)), step = clamp((many ? 190 : 280) / n, many ? 3 : 5, many ? 16 : 25);
  const columns = layoutAxis(key, pitch), rows = layoutAxis(query, step);
  const lean = leans(ctx, key, pitch, theme) ? clamp(widest(ctx, key, theme), 20, 96) * 0.71 + 20 : 26;
  const strip = many && data.panels[0].strip ? STRIP + 4 : 0, above = HEAD + lean + (many ? 0 : CAPTION);
  const short = HEAD - 14, lines = Math.ceil(count / across); // further lines of a grid repeat no labels
  const boxes = data.panels.map((block, i) => {
    const line = Math.floor(i / across), top = line && many ? short : above;
    return { block, index: i, x: Math.round(own + (i % across) * (columns.size + GUTTER)), y: Math.round(above + line * (rows.size + strip + 22 + (many ? short : above)) ), top, labelled: i % across === 0, named: !line || !many };
  });
  const end = boxes[count - 1].y + rows.size + strip;
  const layout = { width, rows, columns, own, above, boxes, strip, many, lean };
  if (!many) layout.source = placeSource(layout, data, { width, stacked, end, beside });
  const foot = Math.max(end, layout.source ? layout.source.y + rows.size : 0) + 26;
  return { ...layout, scales: { x: own, y: foot + 12 }, height: foot + SCALE + 14 };
}

function placeSource({ boxes, columns, own, above }, data, { width, stacked, end }) {
  const left = stacked ? 0 : boxes.at(-1).x + columns.size + GUTTER, y = stacked ? end + 92 : boxes[0].y;
  const bars = left + own, x = bars + BARS;
  return { left, bars, x, y, top: y - (stacked ? 58 : above - 16), cells: layoutAxis(featuresOf(data.panels[0]), clamp((width - x - 4) / data.wide, 0.5, 9)) };
}

const featuresOf = ({ order }) => ({ label: order.map((f) => String(f + 1)), text: order.map(() => ""), special: [], joined: [], flat: true });

/** The cell under a point, or null.  Beside a map its labels count as cells of the chosen row or column. */
function hit(layout, state, x, y) {
  const [q, k, panel, f] = state.cell, { rows, columns, source } = layout;
  for (const box of layout.boxes) {
    const dx = x - box.x, dy = y - box.y, r = cellAt(rows, dy), c = cellAt(columns, dx);
    if (r >= 0 && c >= 0) return [r, c, box.index, f];
    if (r >= 0 && box.labelled && dx < 0 && dx > -layout.own) return [r, k, panel, f];
    if (c >= 0 && box.named && dy < 0 && dy > -layout.lean) return [q, c, box.index, f];
  }
  if (!source) return null;
  const r = cellAt(rows, y - source.y), c = cellAt(source.cells, x - source.x);
  if (r >= 0 && x >= source.left && x < source.x) return [q, r, panel, f];
  return r >= 0 && c >= 0 ? [q, r, panel, c] : null;
}

// ---- painting ---------------------------------------------------------------------------------------------------

/** The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables} */
function paintAll(ctx, data, layout, theme, state) {
  const colours = state.tables[data.scale.kind];
  for (const box of layout.boxes) {
    paintHead(ctx, box, layout, data, theme, state);
    paintMap(ctx, box, layout, data, theme, state, colours);
  }
  if (layout.source) paintSource(ctx, layout, data, theme, state, colours);
  const { x, y } = layout.scales, width = Math.min(300, layout.width - x), chosen = data.panels[state.cell[2]];
  const value = inMask(data, chosen, state.cell) ? null : chosen.exact[at(data, state.cell)];
  colourBar(ctx, x, y, width, data.scale, colours, theme, { mark: `${data.notes ? "even share" : "even, no mask"} 1/${data.axes.key.label.length}`, pointer: value });
}

function paintHead(ctx, { block, x, y, top, index }, layout, data, theme, state) {
  const from = y - top, chosen = index === state.cell[2] && data.panels.length > 1, room = layout.columns.size + (layout.many ? GUTTER - 8 : 0);
  const wide = text(ctx, block.title, x, from + 16, theme.text, { size: 15, weight: 650, theme, room: Math.max(room, 100) });
  if (chosen) ctx.fillRect(x, from + 21, wide, 2);
  if (room - wide > 60) text(ctx, block.note, x + wide + 10, from + 16, theme.muted, { theme, room: room - wide - 10 });
  if (!layout.many) text(ctx, LOOKS.key, x, from + 38, theme.key, { weight: 600, theme });
  if (!layout.many && !index) text(ctx, LOOKS.query, x - 8, y - 8, theme.query, { weight: 600, align: "right", theme });
}

function paintMap(ctx, box, layout, data, theme, state, colours) {
  const { rows, columns } = layout, { query, key } = data.axes, [q, k, panel] = state.cell, [hq, hk] = state.hover ?? [-1, -1];
  const { block, x, y } = box, own = panel === box.index, n = key.label.length;
  if (box.labelled) rowLabels(ctx, rows, query, x, y, theme, { chosen: q, hover: hq, colour: theme.query, room: layout.own - 12 });
  if (box.named) columnLabels(ctx, columns, key, x, y, theme, { chosen: k, hover: hk, colour: theme.key, room: 96 });
  cells(ctx, rows, columns, x, y, (r, c) => block.grid[r * n + c], colours);
  if (block.out) hatch(ctx, rows, columns, x, y, (r, c) => block.out[r * n + c], theme);
  ctx.globalAlpha = own ? 1 : 0.45;
  frame(ctx, columns, k, y - 3, y + rows.size + 2, x, theme.key, true);
  frame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  ctx.globalAlpha = 1;
  if (own) ring(ctx, rows, columns, q, k, x, y, theme);
  if (!layout.strip) return;
  const strip = { at: [0], pitch: STRIP, size: STRIP, line: 1 }, below = y + rows.size + 4;
  cells(ctx, strip, columns, x, below, (r, c) => block.strip[c], colours);
  if (box.labelled) text(ctx, "source", x - 8, below + 10, theme.muted, { size: 12, align: "right", theme });
}

/** Of the chosen head: a bar for each token, its mean over features; and token × feature. */
function paintSource(ctx, layout, data, theme, state, colours) {
  const { rows, source } = layout, { left, bars: from, x, y, top, cells: features } = source, [, k, panel, f] = state.cell;
  const block = data.panels[panel], key = data.axes.key, hover = state.hover ?? [-1, -1, -1, -1];
  const room = x + features.size - left, wide = text(ctx, "Source2token", left, top, theme.text, { size: 15, weight: 650, theme });
  text(ctx, `${block.title}: what a token has by itself, read down a column`, left + wide + 10, top, theme.muted, { theme, room: room - wide - 10 });
  rowLabels(ctx, rows, key, from, y, theme, { chosen: k, hover: hover[1], colour: theme.key, room: layout.own - 12 });
  bars(ctx, rows, from, y, theme, { values: [...block.mean], chosen: k, colour: theme.key, length: BARS - 52 });
  text(ctx, "mean", from, y - 8, theme.muted, { size: 12, theme });
  text(ctx, `token × feature, ${data.wide} features ordered by likeness`, x, top + 22, theme.muted, { theme, room: features.size });
  columnLabels(ctx, features, featuresOf(block), x, y, theme, { chosen: f, hover: hover[3], colour: theme.feature, room: 96 });
  cells(ctx, rows, features, x, y, (r, c) => block.features[r * data.wide + c], colours);
  // In thin rows its lines would strike through the token's own label and number: both are in its colour already.
  frame(ctx, rows, k, rows.pitch < LEGIBLE ? x - 3 : left + 2, x + features.size + 3, y, theme.key);
  frame(ctx, features, f, y - 3, y + rows.size + 3, x, theme.feature, true);
  ring(ctx, rows, features, k, f, x, y, theme);
}
