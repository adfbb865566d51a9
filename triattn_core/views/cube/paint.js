// Three linked slices of one cube in third-angle layout: query × key and query × third share their
// rows, query × third and key × third share their columns, so one crosshair reads straight across.

import { paintMargins, valuesAlongThird } from "./margins.js";
import { AXIS } from "./model.js";
import { paintLegend } from "./orientation.js";
import { paintTitle } from "./titles.js";
import { paintCells } from "../lib/cells.js";
import { paintColumnLabels, paintRowLabels } from "../lib/labels.js";
import { paintFrame, paintHatch, paintRing } from "../lib/marks.js";

/** The whole figure.  state: {cell, panel, hover, focus} */
export function paintCube(ctx, cube, place, state, theme, colours) {
  const { cell } = state;
  const tint = { query: theme.query, key: theme.key, third: theme[cube.third] };
  for (const [name, box] of Object.entries(place.boxes)) {
    const [rowAxis, colAxis] = cube.panels[name];
    const spot = [...cell];
    const [down, across] = [AXIS[rowAxis], AXIS[colAxis]];
    const to = (r, c) => {
      spot[down] = r; // called for each cell: no new object
      spot[across] = c;
      return spot;
    };
    paintCells(ctx, box.rows, box.cols, box.x, box.y, (r, c) => cube.level(to(r, c)), colours);
    if (cube.payload.masked)
      paintHatch(ctx, box.rows, box.cols, box.x, box.y, (r, c) => cube.masked(to(r, c)), theme);
    paintTitle(ctx, cube, name, box, state, theme, place.width);
  }
  const { qk, qc, kc } = place.boxes;
  const [q, k, c] = cell;
  for (const box of [qk, qc])
    paintFrame(ctx, box.rows, q, box.x - 4, box.x + box.cols.size + 4, box.y, tint.query);
  paintFrame(ctx, kc.rows, k, kc.x - 4, kc.x + kc.cols.size + 4, kc.y, tint.key);
  paintFrame(ctx, qk.cols, k, qk.y - 4, qk.y + qk.rows.size + 4, qk.x, tint.key, true);
  for (const box of [qc, kc])
    paintFrame(ctx, box.cols, c, box.y - 4, box.y + box.rows.size + 4, box.x, tint.third, true);
  for (const [name, box] of Object.entries(place.boxes))
    paintRing(
      ctx,
      box.rows,
      box.cols,
      cell[AXIS[cube.panels[name][0]]],
      cell[AXIS[cube.panels[name][1]]],
      box.x,
      box.y,
      theme,
    );
  paintLabels(ctx, cube, place, state, theme, tint);
  paintMargins(ctx, cube, place, state, theme, tint);
  paintLegend(ctx, cube, place, state, theme, colours);
}

function paintLabels(ctx, cube, place, state, theme, tint) {
  const { qk, qc, kc } = place.boxes;
  const [q, k, c] = state.cell;
  const [query, key, context] = cube.axes;
  const hover = state.hover ?? [-1, -1, -1];
  const total = (n, f) => Array.from({ length: n }, (_, i) => f(i));
  const [Q, K] = cube.sizes;
  const room = place.room;
  const weights = [null, total(K, (i) => cube.overThird(q, i)), valuesAlongThird(cube, state.cell)];
  paintRowLabels(ctx, qk.rows, query, qk.x, qk.y, theme, {
    chosen: q,
    colour: tint.query,
    hover: hover[0],
    weights: total(Q, (i) => cube.overThird(i, k)),
    room,
  });
  paintRowLabels(ctx, kc.rows, key, kc.x, kc.y, theme, {
    chosen: k,
    colour: tint.key,
    hover: hover[1],
    weights: weights[1],
    room,
  });
  paintColumnLabels(ctx, qk.cols, key, qk.x, qk.y, theme, {
    chosen: k,
    colour: tint.key,
    hover: hover[1],
    weights: weights[1],
    room,
  });
  paintColumnLabels(ctx, qc.cols, context, qc.x, qc.y, theme, {
    chosen: c,
    colour: tint.third,
    hover: hover[2],
    weights: weights[2],
    room,
  });
}
