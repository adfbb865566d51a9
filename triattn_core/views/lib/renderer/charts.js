// What stands below all panels: a row of cells through several panels as lines, and shares as bars.

import { clamp } from "../arrays.js";
import { spokenLabel } from "../labels.js";
import { formatShort } from "../numbers.js";
import { drawText, wrapText } from "../text_drawing.js";
import { fillTemplate, rowOf, shownCell } from "./description.js";
import { paintTitleAndNote, paintLines, widthOf } from "./heading.js";

const WIDE = 900; // pixels of a figure with charts side by side
const LINES = [18, 36]; // of a heading
const HIGH = 104; // of lines
const LINE = 21; // of a bar
const MOST = 3; // columns beside the chosen one
const NAMES = 128; // of the names of bars, and of what stands behind them
const BEHIND = 118;
const TIGHT = 200; // of bars that have no room for their scale in one line

/** Where each chart stands below a figure. */
export function layoutCharts(ctx, layout, data, theme) {
  const { width } = layout;
  const wide = width >= WIDE;
  let [x, y, foot] = [0, layout.height + 28, 0];
  layout.charts = data.charts.map((chart) => {
    const room = wide ? width * (x ? 0.53 : 0.4) : width - (chart.mark === "course" ? 20 : 0);
    const note = fillTemplate(data, chart.note ?? "", data.panels[0], shownCell(data, data.cell));
    ctx.font = `650 15px ${theme.fonts}`;
    // The note is of the chosen word, so that it may grow: a third more than the first one.
    const behind =
      ctx.measureText(chart.title).width + 10 + widthOf(ctx, note, theme) * 1.33 < room;
    const place = {
      x,
      y,
      room,
      head: LINES[Number(!behind)],
      lines: wrapText(ctx, (chart.lines ?? []).join(" "), room, theme),
    };
    const tall = (chart.mark === "course" ? courseHeight : tallyHeight)(chart, place);
    foot = Math.max(foot, y + tall);
    if (wide) x = width * 0.47;
    else y += tall + 8;
    return { chart, place };
  });
  layout.height = foot;
}

const courseHeight = (chart, { head, lines }) => head + 18 * lines.length + 18 + HIGH + 30;
const isTight = ({ room }) => room - NAMES - BEHIND < TIGHT;
const tallyHeight = ({ names }, place) =>
  place.head + 16 + LINE * names.length + (isTight(place) ? 38 : 22) + 18 * place.lines.length + 8;

export function paintCharts(ctx, layout, data, theme, cell) {
  for (const { chart, place } of layout.charts ?? []) {
    const { x, y, room, head } = place;
    const note = fillTemplate(data, chart.note ?? "", data.panels[0], cell);
    const behind = head === LINES[0];
    paintTitleAndNote(ctx, chart.title, note, x, y + 12, room, theme, { behind, cut: true });
    (chart.mark === "course" ? paintCourse : paintTally)(ctx, chart, place, data, theme, cell);
  }
}

/** Which columns are followed: the chosen one, and those that are largest in some panel. */
function followed(rows, chosen) {
  const best = rows.flatMap((row) => (row ? [row.indexOf(Math.max(...row))] : []));
  return [...new Set([chosen, ...best])].slice(0, MOST + 1);
}

function paintCourse(ctx, chart, { x: left, y, room, head, lines }, data, theme, cell) {
  const panels = chart.panels.map((i) => data.panels[i]);
  const rowsOf = (name) =>
    panels.map((panel) => (panel.arrays[name] ? rowOf(data, panel, name, cell) : null));
  const [solid, dashed] = [rowsOf(chart.values), chart.dashed ? rowsOf(chart.dashed) : []];
  const [{ columns: axis }] = panels;
  const k = cell[data.axisOf[axis]];
  const keys = followed(solid, k);
  const all = [
    ...solid.flatMap((row) => (row ? keys.map((i) => row[i]) : [])),
    ...dashed.flatMap((row) => (row ? [row[k]] : [])),
  ];
  const most = Math.max(...all, 1e-9);
  const high = [0.1, 0.2, 0.5, 1].find((limit) => limit >= most) ?? 1;
  const top = y + head + 18 * lines.length + 16;
  const [x, long, last] = [left + 34, room - 134, panels.length - 1];
  const placeX = (i) => x + (last ? (i / last) * long : long / 2);
  const placeY = (value) => top + HIGH * (1 - value / high);
  paintLines(ctx, lines, left, y + head + 13, room, theme);
  paintCourseAxes(ctx, chart.names, { high, x, long, top, placeX, placeY }, theme);
  const draw = (rows, i, colour, dash, thick) => {
    const points = rows.flatMap((row, b) => (row ? [[placeX(b), placeY(row[i])]] : []));
    paintLine(ctx, points, colour, dash, thick, theme);
    return points.at(-1);
  };
  const ends = [...keys].reverse().flatMap((i) => {
    const chosen = i === k;
    const ink = chosen ? theme[data.axes[axis].ink] : theme.bar;
    const end = draw(solid, i, ink, [], chosen ? 2.5 : 1.5);
    return end ? [{ i, x: end[0], y: end[1] }] : [];
  });
  draw(dashed, k, theme[data.axes[axis].ink], [4, 3], 1.5);
  spreadLabels(ends, 15, top - 4, top + HIGH - 2).forEach(({ i, x: end, y: at }) => {
    const look = { weight: i === k ? 700 : 400, theme, room: 90 };
    const ink = i === k ? theme[data.axes[axis].ink] : theme.muted;
    drawText(ctx, spokenLabel(data.axes[axis], i), end + 10, at + 4, ink, look);
  });
}

/** Three lines with their numbers, and the names of the panels below. */
function paintCourseAxes(ctx, names, { high, x, long, top, placeX, placeY }, theme) {
  const small = { size: 12, theme };
  for (const tick of [0, high / 2, high]) {
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(x, placeY(tick), long, 1);
    const look = { ...small, align: "right" };
    drawText(ctx, formatShort(tick), x - 6, placeY(tick) + 4, theme.muted, look);
  }
  names.forEach((name, i) =>
    drawText(ctx, name, placeX(i), top + HIGH + 18, theme.muted, { ...small, align: "center" }),
  );
}

/** A line through points; of a dashed one they are hollow. */
function paintLine(ctx, points, colour, dash, thick, theme) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = thick;
  ctx.setLineDash(dash);
  ctx.beginPath();
  points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
  ctx.setLineDash([]);
  for (const [x, y] of points) {
    ctx.fillStyle = dash.length ? theme.page : colour;
    ctx.fillRect(x - 2.5, y - 2.5, 5, 5);
    if (dash.length) ctx.strokeRect(x - 2.5, y - 2.5, 5, 5);
  }
}

/** Labels moved apart to `need` pixels, in their order. */
function spreadLabels(labels, need, low, high) {
  const spaced = labels.sort((a, b) => a.y - b.y).map((label) => ({ ...label }));
  spaced.forEach((label, i) => {
    label.y = Math.max(label.y, i ? spaced[i - 1].y + need : low);
  });
  for (let i = spaced.length - 1; i >= 0; i--)
    spaced[i].y = Math.min(spaced[i].y, i + 1 < spaced.length ? spaced[i + 1].y - need : high);
  return spaced;
}

function paintTally(ctx, chart, place, data, theme) {
  const { x, y, room, head, lines } = place;
  const tight = isTight(place);
  const [from, long, bars] = [x + NAMES, room - NAMES - BEHIND, y + head + 16];
  chart.names.forEach((name, i) => {
    const top = bars + i * LINE;
    const chosen = i === chart.chosen;
    const look = { weight: chosen ? 700 : 400, align: "right", theme };
    drawText(ctx, name, from - 10, top + 12, chosen ? theme.text : theme.muted, look);
    ctx.fillStyle = theme.faint;
    ctx.fillRect(from, top + 3, long, 9);
    ctx.globalAlpha = chosen ? 1 : 0.6;
    ctx.fillStyle = theme[chart.ink] ?? theme.bar;
    ctx.fillRect(from, top + 3, long * clamp(chart.shares[i], 0, 1), 9);
    ctx.globalAlpha = 1;
    drawText(ctx, chart.shares[i].toFixed(3), from + long + 52, top + 12, theme.text, look);
    const bold = chart.bold?.includes(i);
    const ink = bold ? theme.text : theme.muted;
    drawText(ctx, chart.said[i], x + room, top + 12, ink, { ...look, weight: bold ? 700 : 400 });
  });
  paintHalf(ctx, { from, long, bars, foot: bars + chart.names.length * LINE, tight }, chart, theme);
  const foot = bars + chart.names.length * LINE + (tight ? 52 : 38);
  paintLines(ctx, lines, x, foot, room, theme);
}

/** The line at one half through the bars, and the scale below them. */
function paintHalf(ctx, { from, long, bars, foot, tight }, { halfway }, theme) {
  const middle = from + long / 2;
  const look = { size: 12, theme };
  const centred = { ...look, align: "center" };
  ctx.fillStyle = theme.muted;
  ctx.fillRect(middle - 0.5, bars - 1, 1, foot - bars + 3);
  drawText(ctx, "0", from, foot + 14, theme.muted, look);
  drawText(ctx, tight ? "0.5" : `0.5, ${halfway}`, middle, foot + 14, theme.muted, centred);
  drawText(ctx, "1", from + long, foot + 14, theme.muted, { ...look, align: "right" });
  if (tight) drawText(ctx, halfway, middle, foot + 29, theme.muted, centred);
}
