// The gates: a bar a token, and token × feature.

import { paintHeading } from "./paragraphs.js";
import { GATE_NOTES } from "./sizes.js";
import { paintValues } from "./values.js";
import { clamp } from "../lib/arrays.js";
import { paintColourBar } from "../lib/colour_bar.js";
import { drawText } from "../lib/text_drawing.js";
import { paintRowLabels } from "../lib/labels.js";
import { paintFrame, paintRing } from "../lib/marks.js";

export function paintGateHead(ctx, { bars, gate, narrow, width }, y, theme) {
  const more = { theme, room: Math.min(gate, width - bars) };
  drawText(ctx, "Gate", bars, y, theme.text, { size: 15, weight: 650, ...more });
  if (!narrow)
    GATE_NOTES.forEach((note, i) => drawText(ctx, note, bars, y + 18 * (i + 1), theme.muted, more));
}

/**
 * A token's gate: a bar for the mean of its features, on it a line where the middle half of them
 * lies.
 */
export function paintGate(ctx, block, y, { rows, bars, gate }, theme, state) {
  const q = state.cell[0];
  const long = gate - 58;
  const thick = clamp(rows.pitch * 0.5, 2, 9);
  block.gate.forEach((value, i) => {
    const from = y + rows.at[i] + (rows.pitch - rows.line - thick) / 2;
    ctx.fillStyle = theme.faint;
    ctx.fillRect(bars, from, long, thick);
    ctx.fillStyle = theme.coin;
    ctx.globalAlpha = i === q ? 0.9 : 0.45;
    ctx.fillRect(bars, from, long * clamp(value, 0, 1), thick);
    ctx.globalAlpha = 1;
    ctx.fillStyle = i === q ? theme.text : theme.muted;
    ctx.fillRect(
      bars + long * block.gate_low[i],
      from + thick / 2 - 0.75,
      Math.max(long * (block.gate_high[i] - block.gate_low[i]), 1.5),
      1.5,
    );
    drawText(
      ctx,
      value.toFixed(2),
      bars + long + 8,
      from + thick / 2 + 4.5,
      i === q ? theme.text : theme.muted,
      { weight: i === q ? 700 : 400, theme },
    );
  });
}

/** The gate of the chosen block, token × feature. */
export function paintFeatures(ctx, features, data, theme, state) {
  const { x, y, rows, columns, top, room, tokens, scale } = features;
  const [q, , chosen, f] = state.cell;
  const block = data.blocks[chosen];
  const order = `token × feature, ${data.wide} features ordered by likeness`;
  paintHeading(
    ctx,
    `Gate of block ${chosen + 1}`,
    state.off === null ? order : `block ${state.off + 1} is ablated`,
    x,
    top + 14,
    room,
    theme,
    true,
  );
  const place = block.order.indexOf(f);
  const named = { ...tokens, label: block.order.map((i) => String(i + 1)) };
  paintRowLabels(ctx, rows, data.axes.query, x, y, theme, {
    chosen: q,
    hover: state.hover?.[0] ?? -1,
    colour: theme.query,
    room: 110,
  });
  drawText(
    ctx,
    `feature ${named.label[place]}`,
    clamp(x + columns.at[place] - 24, x, x + columns.size - 70),
    y - 8,
    theme.feature,
    { weight: 650, theme },
  );
  const value = (r, c) => block.features[r * data.wide + block.order[c]];
  paintValues(ctx, rows, columns, x, y, data.gate, value, state.tables.log);
  paintFrame(ctx, columns, place, y - 3, y + rows.size + 2, x, theme.feature, true);
  paintFrame(ctx, rows, q, x - 3, x + columns.size + 2, y, theme.query);
  paintRing(ctx, rows, columns, q, place, x, y, theme);
  paintColourBar(
    ctx,
    x,
    scale,
    clamp(columns.size, Math.min(200, room), 260),
    data.gate,
    state.tables.log,
    theme,
    { pointer: block.features[q * data.wide + f] },
  );
}
