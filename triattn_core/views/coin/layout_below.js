// Where everything below COIN's blocks stands: scales, the gate token × feature, two charts.

import { wrapText } from "./paragraphs.js";
import { CHART, GATE_NOTES, GUTTER, LEGEND, LINE, PITCH } from "./sizes.js";
import { clamp } from "../lib/arrays.js";
import { layoutAxis } from "../lib/axis.js";

/** Both scales and between them the chosen numbers: below the maps, or as many in a line as fit. */
export function placeLegends(layout, y) {
  const { columns, maps, boxes, stacked, x, width } = layout;
  const wide = clamp(columns.size, 190, 260);
  const legends = maps.length > 1 ? ["scale", "chosen", "gap"] : ["scale", "chosen"];
  const under = !stacked && maps.length > 1 && columns.size + GUTTER >= 200;
  let left = stacked ? 0 : Math.min(x, width - wide);
  let top = y;
  layout.legends = Object.fromEntries(
    legends.map((name, i) => {
      if (!under && i && left + wide > width)
        [left, top] = [stacked ? 0 : Math.min(x, width - wide), top + LEGEND];
      const place = {
        x: under ? boxes[i].x : left,
        y: top,
        wide: under ? Math.min(columns.size, 260) : wide,
      };
      left += wide + GUTTER;
      return [name, place];
    }),
  );
  return top + LEGEND;
}

/** On a narrow page the gates have no room for what they are: it is said below the scales. */
export function placeGateNote(ctx, layout, y, theme) {
  layout.gateNote = {
    y: y + 4,
    lines: wrapText(ctx, `Gate: ${GATE_NOTES.join("; ")}`, layout.width, theme),
  };
  return y + 18 * layout.gateNote.lines.length + 8;
}

/** The gate token × feature, and its scale below it. */
export function placeFeatures(data, width, x, foot, query) {
  const label = Array.from({ length: data.wide }, (_, i) => String(i + 1));
  const y = foot + 50;
  const rows = layoutAxis(query, clamp(200 / query.label.length, PITCH, 16));
  const zeros = label.map(() => 0);
  const tokens = {
    label,
    name: label,
    text: label.map(() => ""),
    special: zeros,
    joined: zeros,
    flat: true,
  };
  const columns = layoutAxis(tokens, clamp((width - x - 4) / data.wide, 0.5, 9));
  return {
    x,
    y,
    room: width - x,
    rows,
    top: foot + 8,
    tokens,
    columns,
    scale: y + rows.size + 26,
    foot: y + rows.size + 26 + 48,
  };
}

/**
 * One token through the blocks, and beside it (narrow: below) what is predicted with
 * one part ablated.
 */
export function placeCharts(ctx, layout, data, theme, y) {
  const { narrow, width } = layout;
  const x = narrow ? 0 : width * 0.47;
  const left = narrow ? width - 20 : width * 0.4;
  const headingLines = left < 440 ? 3 : 2;
  const chart = 18 * headingLines + 18 + CHART + 30;
  const through = { y, left, headingLines };
  const below = narrow ? y + chart + 8 : y;
  const lines = wrapText(ctx, data.trained, width - x, theme);
  const tight = width - x - 246 < 200;
  const bars = below + (tight ? 50 : 34);
  Object.assign(layout, { through, answers: { x, y: below, bars, lines, tight } });
  const high =
    bars - below + LINE * data.answers.length + (tight ? 38 : 22) + 18 * lines.length + 8;
  return Math.max(y + chart, below + high);
}
