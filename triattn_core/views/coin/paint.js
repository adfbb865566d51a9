// COIN's blocks as they are drawn: maps, self-alignments, gates, and the numbers of the chosen
// cell.

import { paintAnswers } from "./answers.js";
import { paintTokenChart } from "./charts.js";
import { nearestLiveCell } from "./cell_choice.js";
import { paintFeatures } from "./gate.js";
import { paintLegends } from "./legends.js";
import { paintBlockName, paintMap, paintSelves } from "./maps.js";
import { paintHeading, paintParagraph } from "./paragraphs.js";
import { paintColumnLabels } from "../lib/labels.js";

/**
 * The whole figure; `ctx` may be the screen's, a PNG's or an SVG's.  chosen: {cell, hover, tables};
 * where the cell's block is ablated, the nearest other one's is shown.
 */
export function paintBlocks(ctx, data, layout, theme, chosen) {
  const cell = nearestLiveCell(data, chosen.cell) ?? chosen.cell;
  const state = { ...chosen, cell, off: cell[2] === chosen.cell[2] ? null : chosen.cell[2] };
  layout.lines.forEach((line) => paintBlockName(ctx, line, layout, data, theme, state));
  layout.heads.forEach(({ map, x, y, room }) =>
    paintHeading(ctx, map.title, map.note, x, y, room, theme, layout.stacked),
  );
  for (const { x, y } of layout.labels)
    paintColumnLabels(ctx, layout.columns, data.axes.key, x, y, theme, {
      chosen: cell[1],
      hover: state.hover?.[1] ?? -1,
      colour: theme.key,
      room: 96,
    });
  layout.boxes.forEach((box) => paintMap(ctx, box, layout, data, theme, state));
  paintSelves(ctx, layout, data, theme, state);
  paintLegends(ctx, layout, data, theme, state);
  if (layout.gateNote)
    paintParagraph(ctx, layout.gateNote.lines, 0, layout.gateNote.y, theme.muted, theme);
  if (layout.features) paintFeatures(ctx, layout.features, data, theme, state);
  paintTokenChart(ctx, layout.through, data, theme, state);
  paintAnswers(ctx, layout, data, theme);
}
