// Shared drawing for canvas figures.  Everything takes a 2-D context, so that the same code paints the screen, a PNG
// and (through svgContext) an SVG.  Tokens only ever meet fillText and textContent: nothing is read as HTML.

/** Cells of one slice: level(row, column) into `colours`. */
function cells(ctx, rows, columns, x, y, level, colours) {
  if (!rows.line && !columns.line && ctx.drawImage) return smallCells(ctx, rows, columns, x, y, level, colours);
  for (let r = 0; r < rows.at.length; r++) {
    for (let c = 0; c < columns.at.length; c++) {
      ctx.fillStyle = colours[level(r, c)];
      ctx.fillRect(x + columns.at[c], y + rows.at[r], columns.pitch - columns.line, rows.pitch - rows.line);
    }
  }
  dashes(ctx, rows, columns, x, y, level, colours);
}

const BELOW = "−  below zero", DASHED = 7; // pixels of a cell that has room for a dash
const dashed = (rows, columns) => Math.min(rows.pitch, columns.pitch) >= DASHED;

/** What a legend says of signs: of dashes only where they are drawn. */
const signsOf = (rows, columns, values) => (!values.some((value) => value < 0) ? "" : dashed(rows, columns) ? BELOW : "sign by colour: see the table");

/** A dash on each cell below zero: a sign is never told by its hue alone. */
function dashes(ctx, rows, columns, x, y, level, colours) {
  if (!colours.inks || !dashed(rows, columns)) return;
  const zero = (colours.length - 1) / 2, wide = clamp(columns.pitch * 0.36, 3, 9);
  for (let r = 0; r < rows.at.length; r++) {
    for (let c = 0; c < columns.at.length; c++) {
      const at = level(r, c);
      if (!(at < zero - 0.5)) continue;
      ctx.fillStyle = at < zero / 2 ? colours.inks.strong : colours.inks.weak;
      ctx.globalAlpha = wide < 4 && at >= zero / 2 ? 0.55 : 1; // many small dashes would be darker than what they mark
      ctx.fillRect(x + columns.at[c] + (columns.pitch - columns.line - wide) / 2, y + rows.at[r] + (rows.pitch - rows.line) / 2 - 0.6, wide, 1.2);
    }
  }
  ctx.globalAlpha = 1;
}

/** The same without lines between cells: a picture of one pixel a cell, enlarged run by run. */
function smallCells(ctx, rows, columns, x, y, level, colours) {
  const [high, wide] = [rows.at.length, columns.at.length], picture = new ImageData(wide, high), inks = inksOf(colours);
  const pixels = new Uint32Array(picture.data.buffer);
  for (let r = 0; r < high; r++) for (let c = 0; c < wide; c++) pixels[r * wide + c] = inks[level(r, c)];
  const sheet = document.createElement("canvas");
  Object.assign(sheet, { width: wide, height: high }).getContext("2d").putImageData(picture, 0, 0);
  ctx.imageSmoothingEnabled = false;
  for (const [top, bottom] of runsOf(rows)) {
    for (const [left, right] of runsOf(columns)) {
      const [w, h] = [right - left + 1, bottom - top + 1];
      ctx.drawImage(sheet, left, top, w, h, x + columns.at[left], y + rows.at[top], w * columns.pitch, h * rows.pitch);
    }
  }
}

/** Stretches of an axis without a gap, as [first, last]. */
function runsOf(layout) {
  const runs = [];
  layout.at.forEach((at, i) => (i && at - layout.at[i - 1] < layout.pitch + 0.5 ? (runs.at(-1)[1] = i) : runs.push([i, i])));
  return runs;
}

const HATCH = 6; // pixels between the lines of what a mask leaves out

/** Masked cells as the page with thin slanting lines, which run on from cell to cell. */
function hatch(ctx, rows, columns, x, y, masked, theme) {
  ctx.fillStyle = theme.page;
  ctx.strokeStyle = theme.hairline;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let r = 0; r < rows.at.length; r++) {
    for (let c = 0; c < columns.at.length; c++) {
      if (!masked(r, c)) continue;
      const left = x + columns.at[c], top = y + rows.at[r], w = columns.pitch, h = rows.pitch;
      ctx.fillRect(left, top, w, h);
      for (let s = HATCH - ((left + top) % HATCH); s < w + h; s += HATCH) {
        ctx.moveTo(left + Math.max(0, s - h), top + Math.min(s, h));
        ctx.lineTo(left + Math.min(s, w), top + Math.max(0, s - w));
      }
    }
  }
  ctx.stroke();
}

const INKS = new WeakMap();
/** A table of CSS colours as pixels. */
function inksOf(colours) {
  if (!INKS.has(colours)) {
    const parts = colours.flatMap((colour) => [...colour.match(/\d+/g).map(Number), 255]);
    INKS.set(colours, new Uint32Array(new Uint8ClampedArray(parts).buffer));
  }
  return INKS.get(colours);
}

/** Two lines that frame a row (or a column, with `down`): a line through the middle would hide data. */
function frame(ctx, layout, i, from, to, offset, colour, down = false) {
  const near = offset + layout.at[i] - 1, far = offset + layout.at[i] + layout.pitch - layout.line + 1;
  ctx.fillStyle = colour;
  for (const at of [near - 0.75, far - 0.75]) down ? ctx.fillRect(at, from, 1.5, to - from) : ctx.fillRect(from, at, to - from, 1.5);
}

/** The chosen cell: a light ring in a dark one, seen on every colour. */
function ring(ctx, rows, columns, r, c, x, y, theme) {
  const w = Math.max(columns.pitch - columns.line, 5), h = Math.max(rows.pitch - rows.line, 5);
  const left = x + columns.at[c] + (columns.pitch - columns.line - w) / 2, top = y + rows.at[r] + (rows.pitch - rows.line - h) / 2;
  ctx.lineWidth = 2;
  ctx.strokeStyle = theme.page;
  ctx.strokeRect(left, top, w, h);
  ctx.strokeStyle = theme.text;
  ctx.strokeRect(left - 2, top - 2, w + 4, h + 4);
}

/** Bars beside an axis, from a thin base line; signed ones from its middle, to the right or (with `down`) upwards. */
function bars(ctx, layout, x, y, theme, { values, chosen, colour, length = 28, down = false }) {
  const top = Math.max(...values.map(Math.abs), 1e-30), signed = values.some((v) => v < 0);
  const zero = signed ? length / 2 : 0, unit = ((signed ? length / 2 : length) / top) * (signed && down ? -1 : 1);
  const thick = clamp(layout.pitch * 0.45, 1, 12), inset = (layout.pitch - layout.line - thick) / 2;
  values.forEach((value, i) => {
    ctx.fillStyle = i === chosen ? colour : theme.bar;
    const size = Math.max(Math.abs(value * unit), 0.75), from = zero + (value * unit < 0 ? -size : 0);
    const across = Math.max(thick, i === chosen ? 3 : 0), at = layout.at[i] + inset - (across - thick) / 2;
    down ? ctx.fillRect(x + at, y + from, across, size) : ctx.fillRect(x + from, y + at, size, across);
  });
  ctx.fillStyle = theme.muted;
  down ? ctx.fillRect(x, y + zero - 0.5, layout.size, 1) : ctx.fillRect(x + zero - 0.5, y, 1, layout.size);
  if (chosen < 0) return;
  ctx.font = font(theme, 12, 700);
  ctx.fillStyle = colour;
  ctx.textAlign = down ? "center" : "left";
  ctx.textBaseline = "middle";
  const end = zero + Math.max(values[chosen] * unit, 0) + 5, middle = layout.at[chosen] + layout.pitch / 2;
  const text = Math.abs(values[chosen]) >= 0.01 ? values[chosen].toPrecision(2).replace("-", "−") : short(values[chosen]);
  down ? ctx.fillText(text, x + middle, y + end + 5) : ctx.fillText(text, x + end, y + middle);
}

/** The colour bar: title, ramp, ticks, the uniform mark, what is said of signs, and a pointer at the chosen value; how its
    steps go stands beside the title where there is one and room, else below. */
function colourBar(ctx, x, y, width, scale, colours, theme, { mark = "", pointer = null, signs = colours.inks ? BELOW : "" } = {}) {
  const at = (value) => x + positionOf(scale, value) * width;
  const named = text(ctx, scale.title, x, y, theme.text, { weight: 600, theme }) + 8;
  ctx.font = font(theme, 12);
  const beside = scale.title && scale.how && named + ctx.measureText(scale.how).width <= width;
  if (beside) text(ctx, scale.how, x + named, y, theme.muted, { size: 12, theme });
  const step = width / colours.length;
  colours.forEach((colour, i) => {
    ctx.fillStyle = colour;
    ctx.fillRect(x + i * step, y + 20, step + 0.6, 9);
  });
  ctx.strokeStyle = theme.hairline;
  ctx.lineWidth = 1;
  ctx.strokeRect(x - 0.5, y + 19.5, width + 1, 10);
  ctx.font = font(theme, 12);
  ctx.fillStyle = theme.muted;
  let taken = -Infinity;
  for (const tick of scale.ticks) {
    const label = short(tick), half = ctx.measureText(label).width / 2, middle = clamp(at(tick), x + half, x + width - half);
    ctx.fillRect(at(tick) - 0.5, y + 29, 1, 3);
    if (middle - half < taken + 6) continue;
    ctx.textAlign = "center";
    ctx.fillText(label, middle, y + 44);
    taken = middle + half;
  }
  if (scale.kind === "log") {
    ctx.fillStyle = theme.text;
    ctx.fillRect(at(scale.uniform) - 0.75, y + 16, 1.5, 16);
  }
  const foot = [scale.kind === "log" && mark && "┃ " + mark, signs, !beside && scale.how].filter(Boolean).join(", ");
  text(ctx, foot, x, y + 62, theme.muted, { size: 12, theme });
  if (pointer !== null) triangle(ctx, at(pointer), y + 18, theme.text);
}

function triangle(ctx, x, y, colour) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - 4, y - 6);
  ctx.lineTo(x + 4, y - 6);
  ctx.closePath();
  ctx.fill();
}

/** A canvas sized for sharp pixels; returns its context in CSS pixels, cleared. */
function fitCanvas(canvas, width, height, density = window.devicePixelRatio || 1) {
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  Object.assign(canvas.style, { width: width + "px", height: height + "px" });
  const ctx = canvas.getContext("2d");
  ctx.setTransform(density, 0, 0, density, 0, 0);
  return ctx;
}
