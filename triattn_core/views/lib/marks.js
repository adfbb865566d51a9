// Marks on a map: the chosen row, column and cell, and what a mask leaves out.

const HATCH_STEP = 6; // pixels between the lines of what a mask leaves out

/** Masked cells as the page with thin slanting lines, which run on from cell to cell. */
export function paintHatch(ctx, rows, columns, x, y, masked, theme) {
  ctx.fillStyle = theme.page;
  ctx.strokeStyle = theme.hairline;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let r = 0; r < rows.at.length; r++) {
    for (let c = 0; c < columns.at.length; c++) {
      if (!masked(r, c)) continue;
      const left = x + columns.at[c];
      const top = y + rows.at[r];
      const w = columns.pitch;
      const h = rows.pitch;
      ctx.fillRect(left, top, w, h);
      for (let s = HATCH_STEP - ((left + top) % HATCH_STEP); s < w + h; s += HATCH_STEP) {
        ctx.moveTo(left + Math.max(0, s - h), top + Math.min(s, h));
        ctx.lineTo(left + Math.min(s, w), top + Math.max(0, s - w));
      }
    }
  }
  ctx.stroke();
}

/**
 * Two lines that frame a row (or a column, with `down`): a line through the middle would hide data.
 */
export function paintFrame(ctx, layout, i, from, to, offset, colour, down = false) {
  const near = offset + layout.at[i] - 1;
  const far = offset + layout.at[i] + layout.pitch - layout.line + 1;
  ctx.fillStyle = colour;
  for (const at of [near - 0.75, far - 0.75])
    down ? ctx.fillRect(at, from, 1.5, to - from) : ctx.fillRect(from, at, to - from, 1.5);
}

/** The chosen cell: a light ring in a dark one, seen on every colour. */
export function paintRing(ctx, rows, columns, r, c, x, y, theme) {
  const w = Math.max(columns.pitch - columns.line, 5);
  const h = Math.max(rows.pitch - rows.line, 5);
  const left = x + columns.at[c] + (columns.pitch - columns.line - w) / 2;
  const top = y + rows.at[r] + (rows.pitch - rows.line - h) / 2;
  ctx.lineWidth = 2;
  ctx.strokeStyle = theme.page;
  ctx.strokeRect(left, top, w, h);
  ctx.strokeStyle = theme.text;
  ctx.strokeRect(left - 2, top - 2, w + 4, h + 4);
}
