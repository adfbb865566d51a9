// Maps of passage × question words of several similarity functions, and where each reader lets the answer start and end.
// Cells are [passage word, question word, panel].  Rows around the chosen one can be read, the others are thin.

const HEAD = 70, GUTTER = 24, SCALE = 65, FOCUS = 17, TALL = 15, REST = 210, SIDE = 176, WIDE = 1000, LEAST = 120, OVERHANG = 40;
const hintOf = () => [": another passage word up and down, another question word left and right. A click in a map chooses its function."];

function unpack(payload) {
  const open = (packed) => (packed ? floats(packed) : null);
  const panels = payload.panels.map((one) => ({
    ...one, grid: bytes(one.levels), start: floats(one.start), end: floats(one.end), relevance: open(one.relevance), weight: open(one.weight),
  }));
  const top = Math.max(...panels.flatMap(({ start, end }) => [Math.max(...start), Math.max(...end)]), 1e-6);
  return { ...payload, panels, top, said: payload.facts.length ? { cell: payload.cell, facts: payload.facts } : null };
}

const strongest = () => "The highest of all functions, each on its scale";

/** Cells of all maps by their place on the scale of their map. */
function ranked(data) {
  const rows = data.axes.query.label.length, columns = data.axes.key.label.length, cells = rows * columns;
  return cellsOf(largest(cells * data.panels.length, (i) => data.panels[Math.floor(i / cells)].grid[i % cells]), rows, columns);
}

const sizesOf = (data) => [data.axes.query.label.length, data.axes.key.label.length, data.panels.length];
const at = (data, [q, k]) => q * data.axes.key.label.length + k;

/** A number of a cell: exact where it was sent, else what its level stands for. */
function valueAt(data, cell, index = cell[2]) {
  const panel = data.panels[index], exact = panel[data.quantity], i = at(data, cell);
  return exact ? [exact[i], ""] : [valueOf(panel.scale, panel.grid[i]), "≈ "];
}

// ---- layout -----------------------------------------------------------------------------------------------------

/** Where everything stands for a given width: maps in lines, start and end at the right of the first line. */
function arrange(ctx, data, width, theme) {
  const { query, key } = data.axes, m = query.label.length, n = key.label.length, count = data.panels.length;
  const own = Math.round(clamp(widest(ctx, query, theme), 88, data.notes ? 200 : 112)) + 14, side = width < WIDE ? 128 : SIDE;
  let across = count;
  const room = () => (width - own - side - OVERHANG - (across - 1) * GUTTER) / across;
  while (across > 1 && room() < LEAST) across = Math.ceil(across / 2);
  const wide = Math.floor(Math.min(room(), 420)), columns = layoutAxis({ ...key, text: key.text.map(() => "") }, clamp(wide / n, 0.3, Math.max(34, 180 / n)));
  const readable = m <= 2 * FOCUS, focus = readable ? m : FOCUS, thin = readable ? TALL : clamp(REST / (m - focus), 0.2, 5);
  const lean = leans(ctx, key, columns.pitch, theme) ? clamp(widest(ctx, key, theme), 20, 96) * 0.71 + 20 : 24;
  const high = focus * TALL + (m - focus) * thin + (readable ? 0 : 8), above = HEAD + lean, tall = above + high + SCALE;
  const boxes = data.panels.map((block, index) => ({
    block, index, x: own + (index % across) * (wide + GUTTER), y: Math.round(Math.floor(index / across) * (tall + 22) + above), labelled: index % across === 0,
  }));
  const lines = Math.ceil(count / across), ends = own + across * (wide + GUTTER) - GUTTER + OVERHANG;
  const layout = { width, columns, wide, own, above, lean, boxes, across, rows: { m, focus, thin, high, first: null }, side: { x: ends, y: boxes[0].y, width: Math.min(side, width - ends) }, height: lines * (tall + 22) - 14 };
  data.place = layout;
  return layout;
}

/** The rows as three stretches, of which the middle one holds row `q` and can be read. */
function stretches({ rows }, q) {
  const { m, focus, thin } = rows, last = m - focus, { first } = rows;
  if (first === null || q < first - 2 || q > first + focus + 1) rows.first = clamp(q - Math.floor(focus / 2), 0, last);
  else if (q < first) rows.first = q;
  else if (q >= first + focus) rows.first = q - focus + 1;
  const sizes = [rows.first, focus, last - rows.first], pitches = [thin, TALL, thin];
  let from = 0, y = 0;
  rows.parts = sizes.map((size, i) => {
    const part = { from, y, size, lay: plain(size, pitches[i]) };
    from += size;
    y += part.lay.size + (i < 2 && focus < m && size ? 4 : 0);
    return part;
  });
  rows.end = y;
  return rows.parts;
}

const plain = (size, pitch) => ({ at: Array.from({ length: size }, (_, i) => i * pitch), pitch, size: size * pitch, line: pitch >= 7 ? 1 : 0 });

function rowAt({ rows }, y) {
  for (const { from, y: top, size, lay } of rows.parts ?? []) if (size && y >= top && y < top + lay.size) return from + Math.min(size - 1, Math.floor((y - top) / lay.pitch));
  return -1;
}

const partOf = ({ rows }, q) => rows.parts.find(({ from, size }) => q >= from && q < from + size);

/** The cell under a point, or null.  Labels count as cells of the chosen row or column, start and end as rows. */
function hit(layout, state, x, y) {
  const [q, k, panel] = state.cell, { columns, side } = layout;
  for (const box of layout.boxes) {
    const dx = x - box.x, dy = y - box.y, r = rowAt(layout, dy), c = cellAt(columns, dx);
    if (r >= 0 && c >= 0) return [r, c, box.index];
    if (r >= 0 && box.labelled && dx < 0 && dx > -layout.own) return [r, k, panel];
    if (c >= 0 && dy < 0 && dy > -layout.lean) return [q, c, box.index];
    if (dx >= 0 && dx < layout.wide && dy < -layout.lean && dy > -layout.above) return [q, k, box.index];
  }
  const r = rowAt(layout, y - side.y);
  return r >= 0 && x >= side.x && x < side.x + side.width ? [r, k, panel] : null;
}

// ---- painting ---------------------------------------------------------------------------------------------------

/** The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  state: {cell, hover, tables} */
function paintAll(ctx, data, layout, theme, state) {
  const parts = stretches(layout, state.cell[0]);
  for (const box of layout.boxes) {
    paintHead(ctx, box, layout, data, theme, state);
    if (box.labelled) paintLabels(ctx, box, layout, data, theme, state, parts);
    paintMap(ctx, box, layout, data, theme, state, parts);
  }
  paintSide(ctx, layout, data, theme, state, parts);
}

function paintHead(ctx, { block, x, y, index }, layout, data, theme, state) {
  const top = y - layout.above, { wide } = layout, chosen = index === state.cell[2], [best, next] = block.spans, many = data.panels.length > 1;
  ctx.fillStyle = chosen && many ? theme.text : theme.hairline;
  ctx.fillRect(x, top, wide, chosen && many ? 2 : 1);
  const right = (words, down, look = {}) => text(ctx, words, x + wide, top + down, look.colour ?? theme.muted, { align: "right", theme, ...look });
  const share = right(best ? probability(best[2]) : "", 21, { colour: theme.text });
  text(ctx, block.title, x, top + 21, theme.text, { size: 15, weight: 650, theme, room: wide - share - 8 });
  const verdict = block.right === null ? 0 : right(block.right ? "right" : "wrong", 40, block.right ? { weight: 650, colour: theme.text } : {});
  text(ctx, best ? cut(data, best) : "", x, top + 40, chosen ? theme.text : theme.muted, { size: 14, weight: chosen ? 650 : 400, theme, room: wide - verdict - 8 });
  const also = right(next ? probability(next[2]) : "", 58), said = block.elsewhere ? `in part ${block.elsewhere}` : next ? `next ${cut(data, next)}` : "";
  text(ctx, said, x, top + 58, theme.muted, { theme, room: wide - also - 8 });
}

const probability = (p) => (p >= 0.9995 && p < 1 ? "> 0.999" : p > 0 && p < 0.0005 ? "< 0.001" : p.toFixed(3));
const lettersOf = (data) => (data.letters ??= [...data.texts.passage]);
const cut = (data, [start, end]) => lettersOf(data).slice(start, end).join("").replace(/\s+/g, " ");
const inSpan = (data, q, span) => Boolean(span) && data.axes.query.start[q] < span[1] && data.axes.query.end[q] > span[0];
const some = (tokens, from, size) => Object.fromEntries(Object.entries(tokens).map(([name, list]) => [name, Array.isArray(list) ? list.slice(from, from + size) : list]));

/** Words of the rows that can be read, the answer's on a ground of their own; the others as a count. */
function paintLabels(ctx, { x, y }, layout, data, theme, state, parts) {
  const { query } = data.axes, [q, , panel] = state.cell, best = data.panels[panel].spans[0];
  parts.forEach(({ from, y: top, size, lay }, i) => {
    if (!size) return;
    for (let r = 0; r < size; r++) {
      if (!inSpan(data, from + r, best)) continue;
      ctx.globalAlpha = 0.3;
      ctx.fillStyle = theme.accent;
      ctx.fillRect(x - layout.own, y + top + lay.at[r], layout.own - 5, Math.max(lay.pitch - lay.line, 1));
      ctx.globalAlpha = 1;
    }
    if (i === 1) return rowLabels(ctx, lay, some(query, from, size), x, y + top, theme, { chosen: q - from, hover: (state.hover?.[0] ?? -9) - from, colour: theme.query, room: layout.own - 12 });
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(x - 8, y + top, 2, lay.size);
    const middle = y + top + lay.size / 2, look = { align: "right", theme, size: 12 };
    if (lay.size >= 30) [size > 1 ? "rows" : "row", size > 1 ? `${from + 1}–${from + size}` : from + 1].forEach((line, j) => text(ctx, line, x - 14, middle - 3 + 14 * j, theme.muted, look));
    else if (lay.size >= 11) text(ctx, size > 1 ? `${from + 1}–${from + size}` : from + 1, x - 14, middle + 4, theme.muted, look);
  });
}

function paintMap(ctx, { block, x, y, index }, layout, data, theme, state, parts) {
  const { columns } = layout, { key } = data.axes, [q, k, panel] = state.cell, hover = state.hover?.[1] ?? -1, n = key.label.length, own = panel === index;
  columnLabels(ctx, columns, { ...key, text: key.text.map(() => "") }, x, y, theme, { chosen: k, hover, colour: theme.key, room: 96 });
  const colours = state.tables[block.scale.kind];
  for (const { from, y: top, size, lay } of parts) if (size) cells(ctx, lay, columns, x, y + top, (r, c) => block.grid[(from + r) * n + c], colours);
  const part = partOf(layout, q), r = q - part.from;
  ctx.globalAlpha = own ? 1 : 0.5;
  frame(ctx, columns, k, y - 3, y + layout.rows.end + 2, x, theme.key, true);
  frame(ctx, part.lay, r, x - 3, x + columns.size + 2, y + part.y, theme.query);
  ctx.globalAlpha = 1;
  if (own) ring(ctx, part.lay, columns, r, k, x, y + part.y, theme);
  const [value] = valueAt(data, state.cell, index), below = y + layout.rows.high + 3;
  colourBar(ctx, x, below, columns.size, block.scale, colours, theme, { pointer: value });
  if (index % layout.across === 0) data.title.split(", ").forEach((line, i) => text(ctx, line, x - 14, below + 26 + 14 * i, theme.muted, { size: 12, align: "right", theme, room: layout.own - 14 }));
}

/** Bars on the rows: how likely the answer starts, and ends, at each word; the chosen function before the others. */
function paintSide(ctx, layout, data, theme, state, parts) {
  const { x, y, width } = layout.side, head = y - layout.above, wide = Math.floor((width - 70) / 2), panel = data.panels[state.cell[2]];
  ctx.fillStyle = theme.hairline;
  ctx.fillRect(x, head, width, 1);
  text(ctx, "Answer span", x, head + 21, theme.text, { size: 15, weight: 650, theme, room: width });
  text(ctx, "probability by word", x, head + 40, theme.muted, { theme, room: width });
  if (data.panels.length > 1) text(ctx, "grey: the others", x, head + 58, theme.muted, { theme, room: width });
  ["start", "end"].forEach((name, i) => {
    const left = x + i * (wide + 38), unit = wide / data.top, most = panel[name].indexOf(Math.max(...panel[name]));
    text(ctx, name, left, y - 8, theme.text, { size: 12, weight: 600, theme });
    ctx.fillStyle = theme.muted;
    ctx.fillRect(left - 1, y, 1, layout.rows.end);
    for (const { from, y: top, size, lay } of parts) {
      const inset = lay.line ? 3 : 0, thick = Math.max(lay.pitch - 2 * inset - lay.line, 1);
      for (let r = 0; r < size; r++) {
        const down = y + top + lay.at[r] + inset, bar = (value, colour, alpha) => {
          if (value < data.top / 300) return;
          ctx.globalAlpha = alpha;
          ctx.fillStyle = colour;
          ctx.fillRect(left, down, Math.max(value * unit, 1), thick);
          ctx.globalAlpha = 1;
        };
        for (const other of data.panels) if (other !== panel) bar(other[name][from + r], theme.bar, 0.4);
        bar(panel[name][from + r], theme.accent, 0.95);
        if (from + r === most) text(ctx, short(panel[name][most]), left + panel[name][most] * unit + 4, down + thick / 2 + 4, theme.text, { size: 12, weight: 650, theme });
      }
    }
    const foot = y + layout.rows.end + 16;
    text(ctx, "0", left, foot, theme.muted, { size: 12, align: "center", theme });
    text(ctx, short(data.top), left + wide, foot, theme.muted, { size: 12, align: "center", theme });
  });
}
