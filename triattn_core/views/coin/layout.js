// Where COIN's blocks stand.  Wide: a block is a line, its self-alignments left of its maps.
// Narrow: its maps stand below each other where a line has no room for them, and the
// self-alignments below all blocks.

import { placeCharts, placeFeatures, placeGateNote, placeLegends } from "./layout_below.js";
import { mapKinds } from "./model.js";
import { BETWEEN, FINEST, GATE, GUTTER, HEAD, LEAST, PITCH, TITLE, WIDE } from "./sizes.js";
import { clamp } from "../lib/arrays.js";
import { layoutAxis } from "../lib/axis.js";
import { LINE_STEP, countLabelLines, labelsLean, widestLabel } from "../lib/label_text.js";
import { axisSize } from "../lib/map_data.js";

export function layoutBlocks(ctx, data, width, theme) {
  const { query, key } = data.axes;
  const count = data.blocks.length;
  const maps = mapKinds(data);
  const has = data.has;
  const letters = widestLabel(ctx, query, theme);
  const small = clamp(width * 0.086, 70, 112);
  const sidesOf = (narrow) => ({
    own: clamp(letters, narrow ? 20 : 34, narrow ? 80 : 110) + 14,
    gate: has.gate ? (narrow ? 104 : GATE) : 34,
    gutter: narrow ? 30 : 48 + (has.own ? 2 * small + 24 : 0),
  });
  const roomIn = ({ own, gate, gutter }, across) =>
    (width - gutter - own - gate - across * GUTTER) / across;
  const narrow = width < WIDE || roomIn(sidesOf(false), maps.length) < LEAST;
  const sides = sidesOf(narrow);
  const { own, gate } = sides;
  const room = roomIn(sides, maps.length);
  const stacked = room < LEAST || (narrow && room / key.label.length < FINEST);
  const across = stacked ? 1 : maps.length;
  const x = own + (stacked ? 0 : sides.gutter);
  const gutter = narrow ? 30 : 48;
  const columns = layoutAxis(
    key,
    clamp(
      (width - x - gate - across * GUTTER) / across / key.label.length,
      1,
      Math.max(34, 200 / key.label.length),
    ),
  );
  const rows = layoutAxis(query, clamp(330 / (count * query.label.length), PITCH, 20));
  const lean = labelsLean(ctx, key, columns.pitch, theme)
    ? clamp(widestLabel(ctx, key, theme), 20, 96) * 0.71 + 20
    : 26 + LINE_STEP * (countLabelLines(ctx, key, columns.pitch, theme) - 1);
  const layout = {
    width,
    narrow,
    stacked,
    rows,
    columns,
    own,
    gutter,
    lean,
    maps,
    x,
    gate,
    bars: has.gate ? x + across * (columns.size + GUTTER) : 0,
  };
  let foot = (stacked ? placeStacked : placeLines)(layout, data);
  layout.selves = has.own ? placeSelves(layout, data, small, foot) : [];
  if (narrow && has.own)
    foot = layout.selves.at(-1).y + layout.selves.at(-1).down.size + BETWEEN + 8;
  foot = placeLegends(layout, foot + 20);
  if (narrow && has.gate) foot = placeGateNote(ctx, layout, foot, theme);
  if (data.blocks.some((block) => block?.features))
    foot = (layout.features = placeFeatures(data, width, stacked ? own : own + gutter, foot, query))
      .foot;
  layout.height = placeCharts(ctx, layout, data, theme, foot + 28);
  return layout;
}

/** A block a line, its maps side by side under one head. */
function placeLines(layout, data) {
  const { rows, columns, maps, lean, x, narrow } = layout;
  const top = HEAD + lean;
  const step = Math.max(rows.size, narrow ? 34 : 62) + BETWEEN;
  layout.lines = data.blocks.map((block, index) => ({
    block,
    index,
    y: Math.round(top + index * step),
  }));
  layout.boxes = layout.lines.flatMap((line) =>
    maps.map((map, m) => ({ ...line, map, x: Math.round(x + m * (columns.size + GUTTER)) })),
  );
  layout.heads = maps.map((map, m) => ({
    map,
    x: layout.boxes[m].x,
    y: 16,
    room: columns.size + 14,
  }));
  layout.labels = layout.heads.map((head) => ({ x: head.x, y: top }));
  return top + data.blocks.length * step;
}

/** The maps of a block below each other, the columns named above the first. */
function placeStacked(layout, data) {
  const { rows, maps, lean, x } = layout;
  const step = rows.size + TITLE + 8;
  const whole = TITLE + 14 + lean + maps.length * step + BETWEEN;
  layout.lines = data.blocks.map((block, index) => ({
    block,
    index,
    y: Math.round(index * whole + 2 * TITLE + 8 + lean),
  }));
  layout.boxes = layout.lines.flatMap((line) =>
    maps.map((map, m) => ({ ...line, map, x: Math.round(x), y: Math.round(line.y + m * step) })),
  );
  layout.heads = layout.boxes.map(({ map, y }, i) => ({
    map,
    x,
    y: y - (i % maps.length ? 9 : lean + 6),
    room: layout.columns.size + GUTTER - 10,
  }));
  layout.labels = layout.lines.map(({ y }) => ({ x, y }));
  return data.blocks.length * whole - BETWEEN;
}

/**
 * Self-alignments: left of the maps on the lines of their blocks; on a narrow page below all of
 * them, as many as fit.
 */
function placeSelves({ lines, rows, gutter, narrow, width }, data, small, foot) {
  const size = narrow ? clamp(width / 4 - 18, 60, 112) : small;
  const pairs = Math.max(1, Math.floor((width + 16) / (2 * (size + 16))));
  return lines.flatMap(({ block, index, y }) =>
    ["query", "key"].map((axis, s) => {
      const n = axisSize(data, axis);
      const high = narrow ? size : Math.min(rows.size, size);
      const x = narrow ? 4 + (2 * (index % pairs) + s) * (size + 16) : gutter + s * (size + 14);
      const at = narrow ? foot + 66 + Math.floor(index / pairs) * (size + 34) : y;
      return {
        block,
        index,
        axis,
        s,
        x: Math.round(x),
        y: at,
        down: layoutAxis(data.axes[axis], high / n, 0),
        across: layoutAxis(data.axes[axis], size / n, 0),
        room: size,
      };
    }),
  );
}
