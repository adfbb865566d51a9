// Which words of small maps are named: all of a short sentence, else the same ones in every map.

import assert from "node:assert/strict";
import test from "node:test";

import { layoutFigure } from "../../triattn_core/views/lib/renderer/layout.js";
import { paintFigure } from "../../triattn_core/views/lib/renderer/paint.js";
import { THEME, context, described, tokens } from "./support.js";

const GRID = { across: [2, 4], least: 120, finest: 12, widest: 1000, cell: [30, 30] };
const MANY = { ...GRID, row: [12.5, 16, 190], labels: [40, 110], gutter: 26, repeats: false };
const PAGES = [1384, 968, 744]; // pixels of a figure on a page of 1440, 1024 and 800

const words = (count) => tokens(Array.from({ length: count }, (_, i) => `word${i}`));

/** A figure of maps of words by words, each with its largest level in a column of its own. */
function figureOf(maps, count, grid) {
  const panels = Array.from({ length: maps }, (_, map) => {
    const values = Uint8Array.from({ length: count * count }, (none, i) =>
      i % count === (7 * map + 3) % count ? 200 : 10,
    );
    const levels = { steps: [], values };
    return { chooses: ["map", map], title: `Head ${map + 1}`, arrays: { levels } };
  });
  const axes = { query: words(count), key: words(count) };
  const data = described(axes, { map: maps }, panels, grid);
  return Object.assign(data, { scales: { main: { kind: "log", ticks: [], title: "" } } });
}

/** What is written by painting a figure: [text, x, y, whether it leans]. */
function written(data, layout) {
  const drawn = [];
  let at = [0, 0];
  let leans = false;
  const methods = {
    ...context(),
    drawImage: null, // as an SVG, which has no picture of the cells
    createLinearGradient: () => ({ addColorStop: () => {} }),
    translate: (x, y) => (at = [x, y]),
    rotate: () => (leans = true),
    restore: () => ([at, leans] = [[0, 0], false]),
    fillText: (text, x, y) => drawn.push([text, at[0] + x, at[1] + y, leans]),
  };
  delete methods.font;
  const ctx = new Proxy(methods, {
    get: (own, name) => (name in own ? own[name] : () => {}),
    set: () => true,
  });
  const log = Array.from({ length: 256 }, () => "#000");
  paintFigure(ctx, data, { ...layout, bars: [] }, THEME, {
    cell: [0, 0, 0],
    hover: null,
    tables: { log },
  });
  return drawn;
}

/** The columns that each map of the first line names. */
const namedColumns = (data, layout) =>
  layout.boxes
    .filter((box) => box.named)
    .map((box) =>
      written(data, layout)
        .filter(([, x, , leans]) => leans && x > box.x && x < box.x + box.columns.size)
        .map(([text]) => text),
    );

for (const width of PAGES)
  for (const [maps, count] of [
    [8, 17],
    [4, 22],
    [6, 20],
  ])
    test(`${maps} maps of ${count} words on ${width} pixels name every row and column`, () => {
      const data = figureOf(maps, count, MANY);
      const layout = layoutFigure(context(), data, width, THEME);
      const rows = new Set(written(data, layout).map(([text]) => text));
      assert.ok(data.axes.query.label.every((word) => rows.has(word)));
      for (const labels of namedColumns(data, layout)) assert.equal(labels.length, count);
      const ends = layout.boxes.map((box) => box.x + box.columns.size);
      assert.ok(Math.max(...ends) <= width);
    });

test("lines of maps hold about as many each", () => {
  const { boxes } = layoutFigure(context(), figureOf(4, 22, MANY), PAGES[1], THEME);
  assert.equal(new Set(boxes.map((box) => box.y)).size, 2);
  assert.equal(boxes.filter((box) => box.named).length, 2);
});

test("where there is no room for all, every map names the same words", () => {
  const data = figureOf(4, 60, { ...MANY, finest: 0, row: [2, 16, 190] });
  const layout = layoutFigure(context(), data, PAGES[0], THEME);
  const [first, ...others] = namedColumns(data, layout);
  assert.equal(others.length, 3);
  assert.ok(first.length > 3 && first.length < 60);
  for (const labels of others) assert.deepEqual(labels.sort(), first.sort());
});
