// Both scales, and between them the numbers of the chosen cell.

import { evenCounts } from "./model.js";
import { describeSigns } from "../lib/cells.js";
import { paintColourBar } from "../lib/colour_bar.js";
import { drawText } from "../lib/text_drawing.js";
import { spokenLabel } from "../lib/label_text.js";
import { flatIndex } from "../lib/map_data.js";
import { formatNumber } from "../lib/numbers.js";

export function paintLegends(ctx, layout, data, theme, state) {
  const { legends, rows, columns } = layout;
  const [, k, chosen] = state.cell;
  const block = data.blocks[chosen];
  const i = flatIndex(data, state.cell);
  const [cells, all] = evenCounts(data, k);
  const { x, y, wide } = legends.scale;
  const scale = { ...data.scale, uniform: cells / all };
  const mark = data.folded
    ? `even share of “${spokenLabel(data.axes.key, k)}”, ${cells}/${all}`
    : `even, 1/${all}`;
  paintColourBar(ctx, x, y, wide, scale, state.tables.log, theme, {
    mark,
    pointer: block?.weight[i] ?? null,
  });
  paintChosen(ctx, layout, data, theme, state);
  if (!legends.gap) return;
  const signs = describeSigns(
    rows,
    columns,
    data.blocks.flatMap((one) => [...(one?.changed ?? [])]),
  );
  paintColourBar(
    ctx,
    legends.gap.x,
    legends.gap.y,
    legends.gap.wide,
    data.gap,
    state.tables.signed,
    theme,
    { pointer: block?.changed?.[i] ?? null, signs },
  );
}

/** The exact numbers of the chosen cell. */
function paintChosen(ctx, { legends, maps }, data, theme, state) {
  const { x, y, wide } = legends.chosen;
  const [q, k, chosen] = state.cell;
  const block = data.blocks[chosen];
  const i = flatIndex(data, state.cell);
  const from = drawText(ctx, spokenLabel(data.axes.query, q), x, y, theme.query, {
    weight: 650,
    theme,
    room: wide * 0.32,
  });
  const to = from + drawText(ctx, "→", x + from + 5, y, theme.muted, { theme }) + 10;
  const end =
    to +
    drawText(ctx, spokenLabel(data.axes.key, k), x + to, y, theme.key, {
      weight: 650,
      theme,
      room: wide * 0.32,
    });
  const where = block
    ? `in block ${chosen + 1}${state.off === null ? "" : `; ${state.off + 1} is ablated`}`
    : "all blocks are ablated";
  drawText(ctx, where, x + end + 8, y, theme.muted, { theme });
  if (!block) return;
  maps
    .filter(({ name }) => name)
    .forEach(({ name, title }, m) => {
      const value = block[name]?.[i] ?? NaN;
      const valueText = (name === "changed" && value > 0 ? "+" : "") + formatNumber(value);
      drawText(ctx, title, x, y + 19 * (m + 1), theme.muted, { theme });
      drawText(ctx, valueText, x + 150, y + 19 * (m + 1), theme.text, {
        weight: 650,
        align: "right",
        theme,
      });
    });
}
