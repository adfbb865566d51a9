// Sums beside the slices, and under the third axis which text its words are of.

import { isFolded, numbersAt } from "./model.js";
import { paintAxisBars } from "../lib/bars.js";
import { font } from "../lib/theme.js";

/**
 * What stands under the third axis: the sum over keys; where that is always one, the chosen pair's
 * own values.
 */
export function valuesAlongThird(cube, [q, k]) {
  const value = (i) => numbersAt(cube, [q, k, i])[cube.payload.quantity];
  return Array.from({ length: cube.sizes[2] }, (_, i) =>
    cube.overKey ? cube.overKey(q, i) : Math.max(value(i), -1e6),
  );
}

export function paintMargins(ctx, cube, place, state, theme, tint) {
  const { qk, qc, kc } = place.boxes;
  const [q, k, c] = state.cell;
  const [Q, K] = cube.sizes;
  const { over, quantity } = cube.payload;
  const inside = over.includes(cube.third);
  const note = !inside ? "mean" : quantity === "weight" ? "sum" : "joint";
  const list = (n, f) => Array.from({ length: n }, (_, i) => f(i));
  const rightOf = (box) => box.x + box.cols.size + 6;
  if (cube.overKey)
    paintAxisBars(ctx, qk.rows, rightOf(qk), qk.y, theme, {
      values: list(Q, (i) => cube.overKey(i, c)),
      chosen: q,
      colour: tint.query,
    });
  paintAxisBars(ctx, qc.rows, rightOf(qc), qc.y, theme, {
    values: list(Q, (i) => cube.overThird(i, k)),
    chosen: q,
    colour: tint.query,
  });
  paintAxisBars(ctx, kc.rows, rightOf(kc), kc.y, theme, {
    values: list(K, (i) => cube.overThird(q, i)),
    chosen: k,
    colour: tint.key,
  });
  paintAxisBars(ctx, kc.cols, kc.x, kc.y + kc.rows.size + 6, theme, {
    values: valuesAlongThird(cube, state.cell),
    chosen: c,
    colour: tint.third,
    down: true,
  });
  ctx.font = font(theme, 12);
  ctx.fillStyle = theme.muted;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  for (const box of cube.overKey ? [qk, qc, kc] : [qc, kc])
    ctx.fillText(note, rightOf(box) + 2, box.y - 6);
  ctx.textAlign = "right";
  ctx.fillText(inside ? note : "this pair", kc.x - 8, kc.y + kc.rows.size + 16);
  const { roles } = cube.payload;
  const whole = inside ? `the whole ${roles.query}, sums to 1` : "each column sums to 1";
  if (quantity === "weight" && kc.cols.size > 400)
    ctx.fillText(whole, kc.x + kc.cols.size, kc.y - 20);
  if (!isFolded(cube))
    paintTextNames(
      ctx,
      cube.axes[2],
      cube.payload.names,
      kc.cols,
      kc.x,
      kc.y + kc.rows.size + 52,
      theme,
    );
}

/** Under the context axis: which text its words are of. */
function paintTextNames(ctx, tokens, names, layout, x, y, theme) {
  ctx.textAlign = "center";
  ctx.font = font(theme, 12);
  for (const name of new Set(tokens.text.filter(Boolean))) {
    const from = x + layout.at[tokens.text.indexOf(name)];
    const to = x + layout.at[tokens.text.lastIndexOf(name)] + layout.pitch;
    ctx.fillStyle = theme.hairline;
    ctx.fillRect(from, y, to - from - layout.line, 1);
    ctx.fillStyle = theme.muted;
    const fits = (text) => ctx.measureText(text).width < to - from + 4;
    const { long, short } = names[name];
    if (fits(short)) ctx.fillText(fits(long) ? long : short, (from + to) / 2, y + 14);
  }
}
