// Where everything of COIN's blocks stands.  Wide: a block is a line, its self-alignments left of its maps.  Narrow: its maps
// stand below each other where a line has no room for them, and the self-alignments below all blocks.

const HEAD = 52, GUTTER = 28, GATE = 176, WIDE = 900, LEAST = 150, BETWEEN = 16, TITLE = 24;
const PITCH = 12.5; // the least height of a row: each has its label and its number
const FINEST = 10; // pixels of a column, below which a narrow page stacks its maps
const CHART = 104, LINE = 21, LEGEND = 88;

function arrange(ctx, data, width, theme) {
  const { query, key } = data.axes, count = data.blocks.length, maps = kinds(data), has = data.has;
  const letters = widest(ctx, query, theme), small = clamp(width * 0.086, 70, 112);
  const sidesOf = (narrow) => ({
    own: clamp(letters, narrow ? 20 : 34, narrow ? 80 : 110) + 14,
    gate: has.gate ? (narrow ? 104 : GATE) : 34,
    gutter: narrow ? 30 : 48 + (has.own ? 2 * small + 24 : 0),
  });
  const roomIn = ({ own, gate, gutter }, across) => (width - gutter - own - gate - across * GUTTER) / across;
  const narrow = width < WIDE || roomIn(sidesOf(false), maps.length) < LEAST, sides = sidesOf(narrow), { own, gate } = sides;
  const room = roomIn(sides, maps.length), stacked = room < LEAST || (narrow && room / key.label.length < FINEST);
  const across = stacked ? 1 : maps.length, x = own + (stacked ? 0 : sides.gutter), gutter = narrow ? 30 : 48;
  const columns = layoutAxis(key, clamp((width - x - gate - across * GUTTER) / across / key.label.length, 1, Math.max(34, 200 / key.label.length)));
  const rows = layoutAxis(query, clamp(330 / (count * query.label.length), PITCH, 20));
  const lean = leans(ctx, key, columns.pitch, theme) ? clamp(widest(ctx, key, theme), 20, 96) * 0.71 + 20 : 26 + STEP * (linesOf(ctx, key, columns.pitch, theme) - 1);
  const layout = { width, narrow, stacked, rows, columns, own, gutter, lean, maps, x, gate, bars: has.gate ? x + across * (columns.size + GUTTER) : 0 };
  let foot = (stacked ? placeStacked : placeLines)(layout, data);
  layout.selves = has.own ? placeSelves(layout, data, small, foot) : [];
  if (narrow && has.own) foot = layout.selves.at(-1).y + layout.selves.at(-1).down.size + BETWEEN + 8;
  foot = placeLegends(layout, foot + 20);
  if (narrow && has.gate) foot = placeGateNote(ctx, layout, foot, theme);
  if (data.blocks.some((block) => block?.features)) foot = (layout.features = placeFeatures(data, width, stacked ? own : own + gutter, foot, query)).foot;
  layout.height = placeCharts(ctx, layout, data, theme, foot + 28);
  return layout;
}

/** A block a line, its maps side by side under one head. */
function placeLines(layout, data) {
  const { rows, columns, maps, lean, x, narrow } = layout, top = HEAD + lean, step = Math.max(rows.size, narrow ? 34 : 62) + BETWEEN;
  layout.lines = data.blocks.map((block, index) => ({ block, index, y: Math.round(top + index * step) }));
  layout.boxes = layout.lines.flatMap((line) => maps.map((map, m) => ({ ...line, map, x: Math.round(x + m * (columns.size + GUTTER)) })));
  layout.heads = maps.map((map, m) => ({ map, x: layout.boxes[m].x, y: 16, room: columns.size + 14 }));
  layout.labels = layout.heads.map((head) => ({ x: head.x, y: top }));
  return top + data.blocks.length * step;
}

/** The maps of a block below each other, the columns named above the first. */
function placeStacked(layout, data) {
  const { rows, maps, lean, x } = layout, step = rows.size + TITLE + 8, whole = TITLE + 14 + lean + maps.length * step + BETWEEN;
  layout.lines = data.blocks.map((block, index) => ({ block, index, y: Math.round(index * whole + 2 * TITLE + 8 + lean) }));
  layout.boxes = layout.lines.flatMap((line) => maps.map((map, m) => ({ ...line, map, x: Math.round(x), y: Math.round(line.y + m * step) })));
  layout.heads = layout.boxes.map(({ map, y }, i) => ({ map, x, y: y - (i % maps.length ? 9 : lean + 6), room: layout.columns.size + GUTTER - 10 }));
  layout.labels = layout.lines.map(({ y }) => ({ x, y }));
  return data.blocks.length * whole - BETWEEN;
}

/** Self-alignments: left of the maps on the lines of their blocks; on a narrow page below all of them, as many as fit. */
function placeSelves({ lines, rows, gutter, narrow, width }, data, small, foot) {
  const size = narrow ? clamp(width / 4 - 18, 60, 112) : small, pairs = Math.max(1, Math.floor((width + 16) / (2 * (size + 16))));
  return lines.flatMap(({ block, index, y }) => ["query", "key"].map((axis, s) => {
    const n = sizeOfAxis(data, axis), high = narrow ? size : Math.min(rows.size, size);
    const x = narrow ? 4 + (2 * (index % pairs) + s) * (size + 16) : gutter + s * (size + 14);
    const at = narrow ? foot + 66 + Math.floor(index / pairs) * (size + 34) : y;
    return { block, index, axis, s, x: Math.round(x), y: at, down: layoutAxis(data.axes[axis], high / n, 0), across: layoutAxis(data.axes[axis], size / n, 0), room: size };
  }));
}

/** Both scales and between them the chosen numbers: below the maps, or as many in a line as fit. */
function placeLegends(layout, y) {
  const { columns, maps, boxes, stacked, x, width } = layout, wide = clamp(columns.size, 190, 260);
  const legends = maps.length > 1 ? ["scale", "chosen", "gap"] : ["scale", "chosen"];
  const under = !stacked && maps.length > 1 && columns.size + GUTTER >= 200;
  let left = stacked ? 0 : Math.min(x, width - wide), top = y;
  layout.legends = Object.fromEntries(legends.map((name, i) => {
    if (!under && i && left + wide > width) [left, top] = [stacked ? 0 : Math.min(x, width - wide), top + LEGEND];
    const place = { x: under ? boxes[i].x : left, y: top, wide: under ? Math.min(columns.size, 260) : wide };
    left += wide + GUTTER;
    return [name, place];
  }));
  return top + LEGEND;
}

/** On a narrow page the gates have no room for what they are: it is said below the scales. */
function placeGateNote(ctx, layout, y, theme) {
  layout.gateNote = { y: y + 4, lines: linesIn(ctx, `Gate: ${GATE_NOTES.join("; ")}`, layout.width, theme) };
  return y + 18 * layout.gateNote.lines.length + 8;
}

/** The gate token × feature, and its scale below it. */
function placeFeatures(data, width, x, foot, query) {
  const label = Array.from({ length: data.wide }, (_, i) => String(i + 1)), y = foot + 50, rows = layoutAxis(query, clamp(200 / query.label.length, PITCH, 16));
  const zeros = label.map(() => 0), tokens = { label, name: label, text: label.map(() => ""), special: zeros, joined: zeros, flat: true };
  const columns = layoutAxis(tokens, clamp((width - x - 4) / data.wide, 0.5, 9));
  return { x, y, room: width - x, rows, top: foot + 8, tokens, columns, scale: y + rows.size + 26, foot: y + rows.size + 26 + 48 };
}

/** One token through the blocks, and beside it (narrow: below) what is said with one thing switched off. */
function placeCharts(ctx, layout, data, theme, y) {
  const { narrow, width, stacked } = layout, x = narrow ? 0 : width * 0.47, left = narrow ? width - 20 : width * 0.4, said = left < 440 ? 3 : 2;
  const chart = 18 * said + 18 + CHART + 30, through = { y, left, said }, below = narrow ? y + chart + 8 : y;
  const lines = linesIn(ctx, data.trained, width - x, theme), tight = width - x - 246 < 200, bars = below + (tight ? 50 : 34);
  Object.assign(layout, { through, answers: { x, y: below, bars, lines, tight } });
  const high = bars - below + LINE * data.answers.length + (tight ? 38 : 22) + 18 * lines.length + 8;
  return Math.max(y + chart, below + high);
}
