// The cells of a map.  Everything takes a 2-D context, so that the same code paints the screen, a
// PNG and (through createSvgContext) an SVG.

import { clamp } from "./arrays.js";
import { contiguousRuns } from "./axis.js";

export const BELOW_ZERO = "−  below zero";
const DASHED_PITCH = 7; // pixels of a cell that has room for a dash
const PIXELS = new WeakMap();
let sheet; // one for all pictures of cells: to make one costs more than to fill it

/** Cells of one slice: level(row, column) into `colours`. */
export function paintCells(ctx, rows, columns, x, y, level, colours) {
  if (!rows.line && !columns.line && ctx.drawImage)
    return paintSmallCells(ctx, rows, columns, x, y, level, colours);
  for (let r = 0; r < rows.at.length; r++) {
    for (let c = 0; c < columns.at.length; c++) {
      ctx.fillStyle = colours[level(r, c)];
      ctx.fillRect(
        x + columns.at[c],
        y + rows.at[r],
        columns.pitch - columns.line,
        rows.pitch - rows.line,
      );
    }
  }
  paintDashes(ctx, rows, columns, x, y, level, colours);
}

const hasRoomForDashes = (rows, columns) => Math.min(rows.pitch, columns.pitch) >= DASHED_PITCH;

/** What a legend says of signs, if a cell is below zero: of dashes only where they are drawn. */
export const describeSigns = (rows, columns, isBelow) =>
  !isBelow ? "" : hasRoomForDashes(rows, columns) ? BELOW_ZERO : "sign by colour: see the table";

/** A dash on each cell below zero: a sign is never told by its hue alone. */
function paintDashes(ctx, rows, columns, x, y, level, colours) {
  if (!colours.inks || !hasRoomForDashes(rows, columns)) return;
  const zero = (colours.length - 1) / 2;
  const wide = clamp(columns.pitch * 0.36, 3, 9);
  for (let r = 0; r < rows.at.length; r++) {
    for (let c = 0; c < columns.at.length; c++) {
      const at = level(r, c);
      if (!(at < zero - 0.5)) continue;
      ctx.fillStyle = at < zero / 2 ? colours.inks.strong : colours.inks.weak;
      // Many small dashes would be darker than what they mark.
      ctx.globalAlpha = wide < 4 && at >= zero / 2 ? 0.55 : 1;
      ctx.fillRect(
        x + columns.at[c] + (columns.pitch - columns.line - wide) / 2,
        y + rows.at[r] + (rows.pitch - rows.line) / 2 - 0.6,
        wide,
        1.2,
      );
    }
  }
  ctx.globalAlpha = 1;
}

/** The same without lines between cells: a picture of one pixel a cell, enlarged run by run. */
function paintSmallCells(ctx, rows, columns, x, y, level, colours) {
  const [high, wide] = [rows.at.length, columns.at.length];
  const picture = new ImageData(wide, high);
  const inks = pixelTable(colours);
  const pixels = new Uint32Array(picture.data.buffer);
  for (let r = 0; r < high; r++)
    for (let c = 0; c < wide; c++) pixels[r * wide + c] = inks[level(r, c)];
  sheet ??= document.createElement("canvas");
  if (sheet.width !== wide || sheet.height !== high)
    Object.assign(sheet, { width: wide, height: high });
  sheet.getContext("2d").putImageData(picture, 0, 0);
  ctx.imageSmoothingEnabled = false;
  for (const [top, bottom] of contiguousRuns(rows)) {
    for (const [left, right] of contiguousRuns(columns)) {
      const [w, h] = [right - left + 1, bottom - top + 1];
      ctx.drawImage(
        sheet,
        left,
        top,
        w,
        h,
        x + columns.at[left],
        y + rows.at[top],
        w * columns.pitch,
        h * rows.pitch,
      );
    }
  }
}

/** A table of CSS colours as pixels. */
function pixelTable(colours) {
  if (!PIXELS.has(colours)) {
    const parts = colours.flatMap((colour) => [...colour.match(/\d+/g).map(Number), 255]);
    PIXELS.set(colours, new Uint32Array(new Uint8ClampedArray(parts).buffer));
  }
  return PIXELS.get(colours);
}
