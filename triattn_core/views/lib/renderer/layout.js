// Where the panels of a figure stand for a width, and which cell is under a point.

import { clamp, sum } from "../arrays.js";
import { cellAt, countGaps, layoutAxis } from "../axis.js";
import { barEnd } from "../colour_bar.js";
import { columnLabelHeight, layoutRowLabels } from "../labels.js";
import { layoutCharts } from "./charts.js";
import { isGone, orderOf, shownCell } from "./description.js";
import { focusRows } from "./focus.js";
import { aheadOf, placeGroups, placeSmall } from "./groups.js";
import { headingWidth, wrapWords } from "./heading.js";
import { hitSlice, layoutSlices } from "./slices.js";
import { layoutThumbs, mapsIn } from "./thumbs.js";

const NARROW = 900; // pixels of a figure
const TITLED = 44; // of a heading: a title; with an answer or lines below it; a line of it
const ANSWERED = 90;
const AXIS_TITLE = 20;
const OVERHANG = 34; // of leaning labels beyond the last column
const THINNEST = 1; // pixel of a column
const GAP = 4; // between texts on an axis
const BETWEEN = 22; // lines of panels
const PROFILE = 102; // of bars below a map, with their caption
export const STRIP = 12;
const SCALE = 66; // of a colour bar with its ticks and its line of words
const BAR = 300;

export const markOf = (panel, kind, side) =>
  panel.marks.find((mark) => mark.mark === kind && (!side || mark.side === side));

const belowSize = (panel) =>
  (markOf(panel, "profile") ? PROFILE : 0) + (markOf(panel, "strip") ? STRIP + 4 : 0);

/** The room of what stands right of a panel. */
const rightSize = (panel) =>
  sum(panel.marks.map((mark) => (mark.side === "right" || mark.mark === "lines" ? mark.size : 0)));

/** How many of the panels stand in a line, and how wide each one may be. */
function layoutLine(data, line, keys, width, { own, between }, aside, limits = {}) {
  const { grid } = data;
  const { group } = line[0];
  const { ahead = 0, most = Infinity, finest = grid.finest } = limits;
  const one = line.filter((panel) => panel.group === group); // all, where there are no groups
  const last = Math.max(rightSize(one.at(-1)), OVERHANG);
  const inner = Math.max(0, ...one.slice(0, -1).map(rightSize));
  const room = (k) =>
    (width -
      ahead -
      own -
      (aside || (line.length % k ? OVERHANG : last)) -
      (k - 1) * (between + inner)) /
    k;
  let across = Math.min(most, one.length, grid.across[width < NARROW ? 0 : 1]);
  const least = Math.max(grid.least, keys * Math.max(finest, THINNEST));
  // A group stands in one line or below each other; lines that share names hold about as many maps.
  while (across > 1 && room(across) < least) across = group ? 1 : across - 1;
  if (!grid.repeats) across = Math.ceil(one.length / Math.ceil(one.length / across));
  return { across, wide: Math.min(room(across), grid.widest), apart: between + inner };
}

/** Where everything stands for a given width. */
export function layoutFigure(ctx, data, width, theme) {
  if (data.sliced) return layoutSlices(ctx, data, width, theme);
  const small = isThumbs(data.panels[0]);
  const layout = (small ? layoutThumbs : layoutMaps)(ctx, data, width, theme);
  const scales = data.strip
    ? { bars: [], words: {}, height: layout.foot }
    : placeScales(layout, data, (bar) => barEnd(ctx, bar, data.scales[bar.name], theme));
  Object.assign(layout, scales);
  if (layout.after) placeAfter(layout, data);
  if (data.charts) layoutCharts(ctx, layout, data, theme);
  return layout;
}

/** A panel that follows a group stands below the scales, and its own scale below it. */
function placeAfter(layout, data) {
  const { panel, step } = layout.after;
  const place = { step, stacked: true, end: layout.height - 112 + 50, above: 0 };
  const box = { ...placeFollower(layout, data, panel, place), top: 42, left: undefined };
  const y = box.y + box.rows.size + 26;
  const wide = clamp(box.columns.size, Math.min(200, layout.width - box.x), 260);
  layout.boxes.push(box);
  layout.bars.push({ name: panel.cells.scale, x: box.x, y, wide });
  layout.height = y + 48;
}

export const isThumbs = ({ cells }) => cells.mark === "thumbs";

/** The rows of all maps: their height, and where each stands. */
function layoutRows({ grid, axes }, down) {
  const [least, most, tall] = grid.row;
  const count = axes[down].label.length;
  const step = clamp(tall / count, least, most);
  const focused = count > 2 * (grid.focus?.[0] ?? count);
  return {
    step,
    rows: focused ? focusRows(count, step, grid.focus) : layoutAxis(axes[down], step),
  };
}

function layoutMaps(ctx, data, width, theme) {
  const { grid } = data;
  const line = data.panels.filter((panel) => !panel.follows && !panel.small);
  const grouped = Boolean(line[0].group);
  const follower = data.panels.find((panel) => panel.follows);
  const [{ rows: down, columns: right }] = line;
  const keys = data.axes[right].label.length;
  const { step, rows } = layoutRows(data, down);
  const labels = layoutRowLabels(ctx, data, data.axes[down], step, width, theme);
  const { own } = labels;
  const stacked = Boolean(follower) && (grouped || width < NARROW);
  const lead = follower ? (markOf(follower, "bars", "left")?.size ?? 0) : 0;
  const aside = follower && !stacked ? own + lead + clamp(width * 0.3, 200, 460) + grid.gutter : 0;
  const ahead = aheadOf(data, line, width, (limits) =>
    layoutLine(data, line, keys, width, labels, aside, limits),
  );
  const { across, wide, apart } = ahead.line;
  const [largest, whole] = grid.cell;
  const pitch = clamp(
    (wide - GAP * countGaps(data.axes[right])) / keys,
    THINNEST,
    Math.max(largest, whole / keys),
  );
  const columns = layoutAxis(data.axes[right], pitch, GAP);
  const answered = line.some((panel) => panel.answer || panel.lines);
  const titles = line.map((panel) => headingWidth(ctx, panel, theme));
  const span = answered ? wide : Math.max(columns.size, Math.min(wide, Math.max(...titles)));
  const { words, further } = wrapWords(ctx, line, span, theme);
  const head = answered ? ANSWERED + further : TITLED + (data.axes[right].title ? AXIS_TITLE : 0);
  const lean = columnLabelHeight(ctx, data.axes[right], pitch, theme);
  const each = hasScalesBelow(data, line);
  const below = Math.max(...line.map(belowSize)) + (each ? SCALE : 0);
  const short = TITLED - 14; // a further line that names no columns
  const above = Math.round(head + lean);
  const start = own + ahead.room;
  const between = rows.size + below + BETWEEN + (grid.repeats ? above : short);
  const boxes = line.map((panel, i) => {
    const [column, named] = [i % across, i < across || grid.repeats];
    return {
      ...{ panel, rows, columns, named, span, words: words[i] },
      x: Math.round(start + column * (span + apart)),
      y: Math.round(above + Math.floor(i / across) * between),
      top: named ? above : short,
      labelled: labels.repeats || column === 0,
    };
  });
  const layout = { width, own, start, lean, below, boxes, lead, each, ahead };
  if (grouped) {
    const foot = placeSmall(layout, data, placeGroups(layout, across, above));
    if (follower) layout.after = { panel: follower, step };
    return Object.assign(layout, { foot: foot + 8 });
  }
  const end = boxes.at(-1).y + rows.size + below;
  if (follower) boxes.push(placeFollower(layout, data, follower, { step, stacked, end, above }));
  const free = each || line.some((panel) => markOf(panel, "profile")) ? 4 : 26;
  layout.foot = Math.max(end, ...boxes.map((box) => box.y + box.rows.size)) + free;
  return layout;
}

/** A panel that follows another stands beside the line, or below it, on rows of the same height. */
function placeFollower({ boxes, own, width, lead }, data, panel, { step, stacked, end, above }) {
  const last = boxes.at(-1);
  const left = stacked ? 0 : last.x + last.span + data.grid.gutter;
  const x = left + own + lead;
  const count = data.sizes[panel.columns];
  const numbers = Array.from({ length: count }, (_, i) => String(i + 1));
  const empty = numbers.map(() => "");
  const tokens = { label: numbers, text: empty, special: [], joined: [], kind: "flat" };
  const columns = layoutAxis(tokens, clamp((width - x - 4) / count, 0.5, 9));
  const y = stacked ? end + 112 : boxes[0].y;
  const top = stacked ? 78 : above;
  const rows = layoutAxis(data.axes[panel.rows], step);
  const span = x + columns.size - left;
  return { panel, rows, columns, x, y, top, left, labelled: true, named: false, span, tokens };
}

/** Whether each of several panels has a scale of its own, which stands below it. */
const hasScalesBelow = ({ scales }, line) =>
  line.length > 1 && !line[0].group && line.length === Object.keys(scales).length;

/** The colour bars side by side, and what is said of them beside or below. */
function placeScales({ own, start: left = own, width, boxes, foot, each, after }, data, end) {
  if (each) {
    const below = ({ panel, rows, columns, x, y, labelled }) => {
      const place = { x, y: y + rows.size + 3, wide: columns.size };
      return { ...place, name: panel.cells.scale, aside: labelled ? own - 8 : 0 };
    };
    return { bars: boxes.map(below), words: { x: own, y: foot, room: width - own }, height: foot };
  }
  const bars = [];
  let x = left;
  let y = foot + 12;
  for (const name of Object.keys(data.scales)) {
    if (name === after?.panel.cells.scale) continue;
    const users = boxes.filter((box) => box.panel.cells.scale === name);
    const wide = Math.min(BAR, width - left, Math.max(users[0]?.span ?? BAR, 200));
    const wished = Math.max(x, Math.min(users[0]?.x ?? x, width - wide));
    if (bars.length && wished + wide > width) {
      y += SCALE + 10;
      x = left;
    } else x = bars.length ? wished : left;
    bars.push({ name, x, y, wide });
    x += wide + data.grid.gutter;
  }
  const free = (bars[1]?.y === bars[0].y ? bars[1].x : width) - end(bars[0]) - 40;
  const [beside, told] = [free > 150, data.scale_lines.length];
  const words = beside
    ? { x: end(bars[0]) + 20, y: bars[0].y + 4, room: free }
    : { x: left, y: y + SCALE + 20, room: width - left };
  const height = y + SCALE + 4 + (told && !beside ? 18 * told + 14 : 0);
  return { bars, words, height };
}

/**
 * The cell under a point, or null.  Beside a map its labels count as cells of the chosen row or
 * column.
 */
export function hitCell(data, layout, cell, x, y) {
  if (data.sliced) return hitSlice(data, layout, cell, x, y);
  const moved = (panel, r, c, chosen = c >= 0) => {
    const hasOwnTip = panel.small || panel.cells.order; // something else is said at the pointer
    const next = Object.assign([...cell], hasOwnTip && { own: panel.columns });
    const order = c >= 0 && orderOf(data, panel, shownCell(data, cell));
    if (r >= 0) next[data.axisOf[panel.rows]] = r;
    if (c >= 0) next[data.axisOf[panel.columns]] = order ? order[c] : c;
    if (panel.chooses && chosen) next[data.axisOf[panel.chooses[0]]] = panel.chooses[1];
    return next;
  };
  for (const box of layout.boxes) {
    const { panel, rows, columns } = box;
    if (isGone(panel)) continue;
    const grouped = Boolean(panel.group);
    const [dx, dy] = [x - box.x, y - box.y];
    const r = cellAt(rows, dy);
    const c = cellAt(columns, dx);
    const before = box.left === undefined ? layout.own : box.x - box.left;
    if (isThumbs(panel))
      return r >= 0 && c >= 0 && c < mapsIn(panel, r) ? moved(panel, r, c) : null;
    if (r >= 0 && c >= 0) return moved(panel, r, c);
    if (r >= 0 && box.labelled && dx < 0 && dx > -before) return moved(panel, r, -1, grouped);
    if (r >= 0 && dx > columns.size && dx < box.span + rightSize(panel))
      return moved(panel, r, -1, grouped);
    const label = box.named && dy < 0 && dy > -layout.lean;
    const heading = dx >= 0 && dx < box.span && dy <= -layout.lean && dy > -box.top;
    if (heading && panel.chooses && !grouped) return moved(panel, -1, -1, true);
    if (c >= 0 && (label || (dy > rows.size && dy < rows.size + belowSize(panel) - 26)))
      return moved(panel, -1, c, !grouped);
  }
  return null;
}
