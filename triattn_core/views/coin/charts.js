// One token through the blocks.

import { CHART } from "./sizes.js";
import { drawText } from "../lib/text_drawing.js";
import { spokenLabel } from "../lib/label_text.js";
import { axisSize } from "../lib/map_data.js";
import { formatShort } from "../lib/numbers.js";

const MOST_KEYS = 3; // keys beside the chosen one

/** Which keys are followed: the chosen one, and those that hold most of the query in some block. */
function followedKeys(data, [q, k]) {
  const n = axisSize(data, "key");
  const best = data.blocks.flatMap((block) =>
    block
      ? [
          block.weight
            .subarray(q * n, (q + 1) * n)
            .reduce((top, value, i, row) => (value > row[top] ? i : top), 0),
        ]
      : [],
  );
  return [...new Set([k, ...best])].slice(0, MOST_KEYS + 1);
}

/** What the lines are, as far as they are drawn. */
function describeLines(data, keys) {
  const plain = data.blocks.filter((block) => block?.plain).length;
  const without = plain ? [plain > 1 ? "dashed: without context" : "hollow: without context"] : [];
  return [...without, ...(keys.length > 1 ? ["grey: the largest of a block"] : [])].join("; ");
}

/** Where the chart's lines go: its keys, the values by block, and their place in pixels. */
function layoutChart({ y, left, headingLines }, data, state) {
  const [q, k] = state.cell;
  const n = axisSize(data, "key");
  const keys = followedKeys(data, state.cell);
  const value = (block, name, i) => block?.[name]?.[q * n + i] ?? null;
  const values = data.blocks
    .flatMap((block) => keys.flatMap((i) => [value(block, "weight", i), value(block, "plain", k)]))
    .filter((weight) => weight !== null);
  const most = Math.max(...values, 1e-9);
  const high = [0.1, 0.2, 0.5, 1].find((limit) => limit >= most) ?? 1;
  const last = data.blocks.length - 1;
  const x = 34;
  const long = left - x - 100;
  const top = y + 18 * headingLines + 16;
  const placeX = (i) => x + (last ? (i / last) * long : long / 2);
  const placeY = (v) => top + CHART * (1 - v / high);
  return { keys, value, high, x, long, top, placeX, placeY };
}

function paintChartHeading(ctx, { y, left, headingLines }, data, theme, keys, q) {
  const wide = drawText(ctx, "One token through the blocks", 0, y + 12, theme.text, {
    size: 15,
    weight: 650,
    theme,
  });
  const [from, down] = headingLines > 2 ? [0, 31] : [wide + 10, 12];
  const query = spokenLabel(data.axes.query, q);
  drawText(ctx, `what “${query}” aligns to`, from, y + down, theme.query, {
    theme,
    room: left - from,
  });
  drawText(ctx, describeLines(data, keys), 0, y + 18 * headingLines - 5, theme.muted, {
    theme,
    room: left,
  });
}

/** The lines of three weights, and the blocks' names below. */
function paintChartAxes(ctx, { high, x, long, top, placeX, placeY }, blocks, theme) {
  const small = { size: 12, theme };
  for (const tick of [0, high / 2, high]) {
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(x, placeY(tick), long, 1);
    const label = formatShort(tick);
    drawText(ctx, label, x - 6, placeY(tick) + 4, theme.muted, { ...small, align: "right" });
  }
  blocks.forEach((block, i) => {
    const name = `block ${i + 1}${block ? "" : " ablated"}`;
    const look = { ...small, align: "center" };
    drawText(ctx, name, placeX(i), top + CHART + 18, theme.muted, look);
  });
}

export function paintTokenChart(ctx, place, data, theme, state) {
  const [q, k] = state.cell;
  const chart = layoutChart(place, data, state);
  const { keys, value, top, placeX, placeY } = chart;
  paintChartHeading(ctx, place, data, theme, keys, q);
  paintChartAxes(ctx, chart, data.blocks, theme);
  const ends = [];
  const draw = (name, i, colour, dash, thick) => {
    const points = data.blocks
      .map((block, b) => [placeX(b), value(block, name, i)])
      .filter(([, v]) => v !== null)
      .map(([px, v]) => [px, placeY(v)]);
    paintLine(ctx, points, colour, dash, thick, theme);
    return points.at(-1);
  };
  for (const i of [...keys].reverse()) {
    const end = draw("weight", i, i === k ? theme.key : theme.bar, [], i === k ? 2.5 : 1.5);
    if (end) ends.push({ i, x: end[0], y: end[1] });
  }
  draw("plain", k, theme.key, [4, 3], 1.5);
  spreadLabels(ends, 15, top - 4, top + CHART - 2).forEach(({ i, x: end, y: at }) => {
    const label = spokenLabel(data.axes.key, i);
    drawText(ctx, label, end + 10, at + 4, i === k ? theme.key : theme.muted, {
      weight: i === k ? 700 : 400,
      theme,
      room: 90,
    });
  });
}

/** A line through points; of a dashed one they are hollow. */
function paintLine(ctx, points, colour, dash, thick, theme) {
  ctx.strokeStyle = ctx.fillStyle = colour;
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
  const spacedLabels = labels.sort((a, b) => a.y - b.y).map((label) => ({ ...label }));
  spacedLabels.forEach((label, i) => {
    label.y = Math.max(label.y, i ? spacedLabels[i - 1].y + need : low);
  });
  for (let i = spacedLabels.length - 1; i >= 0; i--)
    spacedLabels[i].y = Math.min(
      spacedLabels[i].y,
      i + 1 < spacedLabels.length ? spacedLabels[i + 1].y - need : high,
    );
  return spacedLabels;
}
