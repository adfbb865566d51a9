// All heads at once: a thumbnail each, layers down and heads across, with a measure below each.
// Cells are [layer, head].  A strip is the same above another figure: small, without a colour bar,
// its rows and measures named on the left.

import { clamp, unpackBytes } from "../lib/arrays.js";
import { paintCells } from "../lib/cells.js";
import { paintColourBar } from "../lib/colour_bar.js";
import { drawText } from "../lib/text_drawing.js";
import { make } from "../lib/elements.js";
import { LinkedMaps } from "../lib/linked_maps.js";
import { formatNumber } from "../lib/numbers.js";
import { largestIndices } from "../lib/walk.js";

const LEFT = 22; // pixels of the layers' numbers
const NAMES = 92; // of the names on the left of a strip
const TOP = 22;
const BELOW = 16; // of the number below a thumbnail
const GAP = 8;
const NARROW = 34; // a thumbnail that has no room for its number
const LARGEST = 150;
const STRIP = { wide: 60, high: 44, low: 28 }; // thumbnails of a strip; low where it has many rows
const MANY = 3;
const LEAST = 14;
const SCALE = 84;

const measured = (data, [layer, head], name = data.measure) =>
  data.measures[name].values[layer]?.[head] ?? null;

function layoutGrid(data, width) {
  const tallest = Math.max(...data.layers.map(({ shape: [rows, columns] }) => rows / columns));
  const left = data.strip ? NAMES : LEFT;
  const largest = data.strip ? STRIP.wide : LARGEST;
  const lines = data.layers.length < MANY ? STRIP.high : STRIP.low;
  const pitch = clamp((width - left) / data.heads, LEAST + 2, largest + GAP);
  const gap = pitch < NARROW ? 2 : GAP;
  const wide = pitch - gap;
  const high = clamp(wide * tallest, LEAST, data.strip ? lines : LARGEST);
  const below = wide < NARROW ? gap : BELOW * data.below.length + gap;
  const line = (count, size) => ({
    at: Array.from({ length: count }, (_, i) => (i * size) / count),
    pitch: size / count,
    size,
    line: 0,
  });
  const foot = TOP + data.layers.length * (high + below);
  const axes = data.layers.map(({ shape: [rows, columns] }) => ({
    rows: line(rows, high),
    columns: line(columns, wide),
  }));
  const height = foot + (data.strip ? 0 : SCALE);
  return { width, left, pitch, wide, high, below, axes, foot, height };
}

class HeadGrid extends LinkedMaps {
  unpack(payload) {
    const layers = payload.layers.map((layer) => {
      const grid = unpackBytes(layer.levels);
      const size = layer.shape[0] * layer.shape[1]; // directions of a pair differ in theirs
      return { ...layer, grid, size, heads: grid.length / size };
    });
    return { ...payload, layers };
  }

  keyHelp() {
    return [": another layer up and down, another head left and right."];
  }

  walkTitle() {
    return `Heads by ${this.data.measures[this.data.measure].title}, the largest first`;
  }

  cellSizes() {
    return [this.data.layers.length, this.data.heads];
  }

  rankCells() {
    const { heads, layers } = this.data;
    const cellOf = (i) => [Math.floor(i / heads), i % heads];
    return largestIndices(heads * layers.length, (i) => measured(this.data, cellOf(i)) ?? NaN).map(
      cellOf,
    );
  }

  layout(ctx, width) {
    return layoutGrid(this.data, width);
  }

  hit(x, y) {
    const { left, pitch, high, below } = this.place;
    const head = Math.floor((x - left) / pitch);
    const layer = Math.floor((y - TOP) / (high + below));
    return head >= 0 && head < (this.data.layers[layer]?.heads ?? 0) ? [layer, head] : null;
  }

  build() {
    const parts = super.build();
    if (this.payload.strip) parts.outer.className = "strip maps";
    return parts;
  }

  /** The chosen cell of a page is that of its figure: a strip names a head. */
  nameCell() {
    if (!this.payload.strip) return super.nameCell();
    this.canvas.dataset.head = this.unchosen ? "" : this.state.cell.join(".");
  }

  hint() {
    return this.payload.strip ? make("p") : super.hint();
  }

  /** A strip shows what is chosen elsewhere on the page; no frame stands for the mean of heads. */
  receive() {
    if (!this.payload.strip) return super.receive();
    const answer = window.triattnExact?.[this.host.key];
    if (!answer) return;
    this.unchosen = answer.cell[1] < 0;
    this.kept.cell = null;
    this.moveTo(answer.cell);
  }

  choose(cell) {
    this.unchosen = false;
    super.choose(cell);
  }

  paint(ctx, place, state) {
    const { data, theme } = this;
    const colours = state.tables.log;
    for (let head = 0; head < data.heads; head++) {
      if (place.pitch < 20 && head % 2) continue;
      const chosen = head === state.cell[1] && !this.unchosen;
      drawText(
        ctx,
        String(head + 1),
        place.left + head * place.pitch + place.wide / 2,
        TOP - 8,
        chosen ? theme.accent : theme.muted,
        { size: 12, weight: chosen ? 700 : 400, align: "center", theme },
      );
    }
    if (!data.strip) this.paintMeasure(ctx, place);
    data.layers.forEach((layer, i) => this.paintLayer(ctx, place, state, layer, i, colours));
    if (data.strip) return;
    paintColourBar(
      ctx,
      LEFT,
      place.foot + 14,
      Math.min(300, place.width - LEFT),
      data.scale,
      colours,
      theme,
      {
        mark: data.keys ? `even 1/${data.keys}` : "",
      },
    );
  }

  /** What the number below each thumbnail is, beside the colour bar. */
  paintMeasure(ctx, place) {
    const { title } = this.data.measures[this.data.measure];
    if (place.wide < NARROW || place.width - LEFT < 520) return;
    const x = LEFT + 330;
    const look = { theme: this.theme, room: place.width - x };
    drawText(ctx, "Below each map", x, place.foot + 14, this.theme.text, { ...look, weight: 600 });
    drawText(ctx, title, x, place.foot + 34, this.theme.muted, look);
  }

  paintLayer(ctx, place, state, layer, i, colours) {
    const { data, theme } = this;
    const [, columns] = layer.shape;
    const axes = place.axes[i];
    const y = TOP + i * (place.high + place.below);
    const own = i === state.cell[0] && !this.unchosen;
    const look = { size: 12, weight: own ? 700 : 400, align: "right", theme };
    const ink = own ? theme.accent : theme.muted;
    const middle = y + place.high / 2 + 4;
    drawText(ctx, layer.title, place.left - 8, middle, ink, { ...look, room: place.left - 8 });
    if (data.strip && place.wide >= NARROW)
      data.below.forEach((name, line) => {
        if (measured(data, [i, 0], name) === null) return;
        const foot = y + place.high + 13 + line * BELOW;
        const small = { ...look, size: 11, weight: 400 };
        drawText(ctx, data.measures[name].short, place.left - 8, foot, theme.muted, small);
      });
    for (let head = 0; head < layer.heads; head++) {
      const x = place.left + head * place.pitch;
      const level = (r, c) => layer.grid[head * layer.size + r * columns + c];
      paintCells(ctx, axes.rows, axes.columns, x, y, level, colours);
      const chosen = own && head === state.cell[1];
      const under = state.hover?.[0] === i && state.hover?.[1] === head;
      ctx.lineWidth = chosen ? 2.5 : 1;
      ctx.strokeStyle = chosen ? theme.query : under ? theme.text : theme.hairline;
      const edge = chosen ? 2 : 0.5;
      ctx.strokeRect(x - edge, y - edge, place.wide + 2 * edge, place.high + 2 * edge);
      if (place.wide >= NARROW) this.paintNumbers(ctx, place, [i, head], x, y, chosen);
    }
  }

  /** The measures below a thumbnail. */
  paintNumbers(ctx, place, cell, x, y, chosen) {
    const { data, theme } = this;
    const look = { size: 11, weight: chosen ? 700 : 400, align: "center", theme };
    const ink = chosen ? theme.text : theme.muted;
    data.below.forEach((name, line) => {
      const value = measured(data, cell, name);
      const foot = y + place.high + 13 + line * BELOW;
      if (value !== null) drawText(ctx, formatNumber(value), x + place.wide / 2, foot, ink, look);
    });
  }

  describe(cell) {
    const { title } = this.data.layers[cell[0]];
    const row = this.data.strip ? `${title}, head` : `Layer ${title}, head`;
    const layer = this.data.layers.length > 1 ? row : "Head";
    const rows = Object.values(this.data.measures).map(({ title: name, values }) => {
      const value = values[cell[0]]?.[cell[1]] ?? null;
      return value === null ? "" : `${name} ${formatNumber(value)}`;
    });
    return [`${layer} ${cell[1] + 1}`, ...rows.filter(Boolean)];
  }

  fillBelow(box) {
    if (this.data.strip) return box.remove();
    const [name, ...rest] = this.describe(this.state.cell);
    const pooled = this.data.pooled
      ? " Of a text this long, a thumbnail shows the largest weight of each block."
      : "";
    box.className = "";
    box.replaceChildren(
      make("p", { class: "sentence" }, make("b", {}, name), `: ${rest.join("; ")}.${pooled}`),
    );
  }
}

export const mount = (root, payload, host) => HeadGrid.mount(root, payload, host);
