// Where the figures stand for a width, and which cell is under a point.

import assert from "node:assert/strict";
import test from "node:test";

import * as figure from "../../triattn_core/views/lib/renderer/layout.js";
import { cellInSlice } from "../../triattn_core/views/lib/renderer/slices.js";
import * as steps from "../../triattn_core/views/lib/renderer/steps.js";
import { shownCell } from "../../triattn_core/views/lib/renderer/description.js";
import { aimAt, partOf } from "../../triattn_core/views/lib/renderer/focus.js";
import { THEME, context, described, middle, tokens } from "./support.js";

const WIDTHS = [320, 800, 1440];

/** The slices of a cube. */
function cubeOf(query, key, third, title = "query") {
  const titled = { query, key, context: third };
  const axes = Object.fromEntries(
    Object.entries(titled).map(([name, axis]) => [name, { ...axis, title: name }]),
  );
  axes.query.title = title;
  const panels = [{}, { columns: "context" }, { rows: "key", columns: "context" }];
  return { ...described(axes, {}, panels), sliced: true };
}

const placeOf = (cube, width) => figure.layoutFigure(context(), cube, width, THEME);

test("cube: every cell of every slice is hit in its middle, and the slices stay in the width", () => {
  const cube = cubeOf(tokens(3), tokens(5), tokens(7, [4]));
  for (const width of [600, 800, 1440]) {
    const place = placeOf(cube, width);
    for (const [panel, box] of place.boxes.entries()) {
      assert.ok(box.x + box.columns.size <= width);
      for (let r = 0; r < box.rows.at.length; r++) {
        for (let c = 0; c < box.columns.at.length; c++) {
          const point = middle(box, box.rows, box.columns, r, c);
          const cell = figure.hitCell(cube, place, [0, 0, 0], ...point);
          const wanted = [0, 0, 0].with(cube.axisOf[box.panel.rows], r);
          assert.deepEqual([...cell], wanted.with(cube.axisOf[box.panel.columns], c));
          assert.deepEqual(cell.spot, { panel, row: true, column: true });
        }
      }
    }
    assert.equal(figure.hitCell(cube, place, [0, 0, 0], -1000, -1000), null);
  }
});

test("cube: a longer name of an axis gives its slice's title more room, up to a bound", () => {
  const starts = [
    "query",
    "residue i",
    "residue i of the whole chain, of which there are many",
  ].map((query) => placeOf(cubeOf(tokens(3), tokens(5), tokens(7), query), 1440).boxes[1].x);
  assert.ok(starts[0] < starts[1] && starts[1] < starts[2], String(starts));
  assert.ok(starts[2] < starts[0] + 120, String(starts));
});

test("cube: a label left of a slice is its row; a hit changes two axes, a label one", () => {
  const cube = cubeOf(tokens(3), tokens(5), tokens(7));
  const place = placeOf(cube, 1440);
  const [first, , last] = place.boxes;
  const [, y] = middle(first, first.rows, first.columns, 2, 0);
  const label = figure.hitCell(cube, place, [0, 4, 6], first.x - 10, y);
  assert.deepEqual([...label], [2, 4, 6]);
  assert.deepEqual(label.spot, { panel: 0, row: true, column: false });
  const spot = middle(last, last.rows, last.columns, 1, 5);
  assert.deepEqual([...figure.hitCell(cube, place, [0, 4, 6], ...spot)], [0, 1, 5]);
});

test("cube: keys move in the chosen panel and through its depth", () => {
  const cube = cubeOf(tokens(3), tokens(5), tokens(7));
  const press = (panel, key) => cellInSlice(cube, [1, 2, 3], panel, key);
  assert.deepEqual(press(0, "ArrowRight"), [1, 3, 3]);
  assert.deepEqual(press(2, "ArrowRight"), [1, 2, 4]);
  assert.deepEqual(press(2, "["), [0, 2, 3]);
  assert.equal(press(0, "x"), null);
});

test("figure: every cell of every map is hit, and maps wrap on a narrow page", () => {
  const axes = { query: tokens(["I", "am", "here"]), key: tokens(11) };
  const answer = { label: "yes" };
  const gap = { marks: [{ mark: "bars", side: "right", size: 160 }], lines: ["teal"] };
  const data = described(axes, {}, [{ answer }, { answer }, { answer }, gap]);
  const lines = WIDTHS.map((width) => {
    const place = figure.layoutFigure(context(), data, width, THEME);
    const [first, last] = [place.boxes[0], place.boxes.at(-1)];
    for (const box of place.boxes) {
      const point = middle(box, box.rows, box.columns, 2, 10);
      assert.deepEqual(figure.hitCell(data, place, [0, 0], ...point), [2, 10]);
    }
    const [, y] = middle(first, first.rows, first.columns, 1, 0);
    assert.deepEqual(figure.hitCell(data, place, [0, 4], first.x - 5, y), [1, 4]);
    assert.ok(place.height >= last.y);
    return new Set(place.boxes.map((box) => box.y)).size;
  });
  assert.equal(lines.at(-1), 1);
  assert.ok(lines[0] > 1);
});

test("figure: maps of more columns than their share of the width has pixels stand below each other", () => {
  const panels = [0, 1, 2].map(() => ({ answer: { label: "yes" } }));
  const data = described({ query: tokens(3), key: tokens(330) }, {}, panels, { finest: 0 });
  for (const width of [660, 800, 1440]) {
    const { boxes } = figure.layoutFigure(context(), data, width, THEME);
    for (const [i, box] of boxes.entries()) {
      const next = boxes[i + 1];
      assert.ok(!next || next.y > box.y || next.x >= box.x + box.columns.size, `${width}: ${i}`);
    }
  }
});

test("figure: words of a heading go on a further line, for which it has room", () => {
  const axes = { query: tokens(3), key: tokens(11) };
  const [teal, brown, noise] = ["teal: higher", "brown: lower", "one seed of each: may be noise"];
  const tops = [1440, 660].map((width) => {
    const data = described(axes, {}, [{}, {}, {}, { lines: [teal, brown, noise] }]);
    const { words, span, top } = figure.layoutFigure(context(), data, width, THEME).boxes.at(-1);
    assert.equal(words.join(" "), [teal, brown, noise].join(" "));
    assert.ok(words.every((line) => 7 * line.length <= span));
    return [words.length, top];
  });
  const [[few, low], [many, high]] = tops;
  assert.deepEqual([few, many, high - low], [3, 4, 18]);
});

test("figure: the titles of small maps stand beside each other", () => {
  const title = "Head 1, forward";
  const panels = [0, 1, 2].map((i) => ({ chooses: ["map", i], title, note: "earlier tokens" }));
  for (const count of [1, 2, 30]) {
    const data = described({ query: tokens(count), key: tokens(count) }, { map: 3 }, panels);
    const place = figure.layoutFigure(context(), data, 1440, THEME);
    const [first, second] = place.boxes;
    assert.equal(first.y, second.y);
    assert.ok(second.x - first.x > 7 * (title.length + "earlier tokens".length), String(count));
    const end = [first.x + 7 * title.length, first.y - first.top + 5];
    assert.deepEqual(figure.hitCell(data, place, [0, 0, 2], ...end), [0, 0, 0]);
  }
});

test("figure: what is said of a scale begins behind its title, if that is longer than the bar", () => {
  const data = described({ query: tokens(4), key: tokens(4) }, {}, [{}]);
  data.scale_lines = ["said"];
  const place = (title) => {
    data.scales = { main: { title } };
    return figure.layoutFigure(context(), data, 1440, THEME);
  };
  const long = "l".repeat(60); // the context of the tests gives each letter seven pixels
  assert.equal(place("short").words.x, place("").words.x);
  assert.equal(place(long).words.x, place(long).bars[0].x + 7 * 60 + 20);
});

test("figure: the map under the point is chosen, and a panel that follows leads to its own axes", () => {
  const axes = { query: tokens(5), key: tokens(5) };
  const bars = [{ mark: "bars", side: "left", size: 96 }];
  const data = described(
    axes,
    { map: 2, feature: 4 },
    [
      { chooses: ["map", 0] },
      { chooses: ["map", 1] },
      { rows: "key", columns: "feature", follows: "map", marks: bars },
    ],
    { across: [3, 3], least: 120, finest: 0 },
  );
  const place = figure.layoutFigure(context(), data, 1440, THEME);
  const [, second, source] = place.boxes;
  const inMap = middle(second, second.rows, second.columns, 3, 1);
  assert.deepEqual(figure.hitCell(data, place, [0, 0, 0, 2], ...inMap), [3, 1, 1, 2]);
  const inSource = middle(source, source.rows, source.columns, 4, 3);
  assert.deepEqual(figure.hitCell(data, place, [0, 0, 1, 2], ...inSource), [0, 4, 1, 3]);
  assert.equal(figure.hitCell(data, place, [0, 0, 0, 0], 0, 0), null);
});

test("figure: rows around the chosen one can be read, and each is hit where it stands", () => {
  const axes = { query: tokens(200), key: tokens(9) };
  const panels = [0, 1].map((i) => ({ chooses: ["map", i], answer: { label: "yes" } }));
  const focus = { row: [15, 15, 0], focus: [17, 210] };
  const data = described(axes, { map: 2 }, panels, focus);
  const place = figure.layoutFigure(context(), data, 1440, THEME);
  const [first, second] = place.boxes;
  const rows = aimAt(second.rows, 120);
  assert.ok(partOf(rows, 120).read && partOf(rows, 120).pitch > partOf(rows, 3).pitch);
  for (const q of [0, 3, 120, 199]) {
    const [x] = middle(second, rows, second.columns, q, 8);
    const y = second.y + rows.at[q] + partOf(rows, q).pitch / 2;
    assert.deepEqual(figure.hitCell(data, place, [120, 0, 0], x, y), [q, 8, 1]);
  }
  const heading = figure.hitCell(data, place, [120, 3, 1], first.x + 5, first.y - first.top + 5);
  assert.deepEqual(heading, [120, 3, 0], "a click in a heading chooses its panel alone");
});

test("figure: where each map has a scale of its own, it stands below it; a shared one once", () => {
  const axes = { query: tokens(5), key: tokens(5) };
  const cells = (scale) => ({ scale, levels: "levels" });
  const data = described(axes, {}, [{ cells: cells("0") }, { cells: cells("1") }]);
  data.scales = { 0: { title: "" }, 1: { title: "" } };
  const place = figure.layoutFigure(context(), data, 1440, THEME);
  assert.deepEqual(
    place.bars.map(({ x }) => x),
    place.boxes.map(({ x }) => x),
  );
  assert.ok(place.bars.every(({ y }) => y > place.boxes[0].y + place.boxes[0].rows.size));
  const shared = figure.layoutFigure(context(), described(axes, {}, [{}, {}]), 1440, THEME);
  assert.equal(shared.bars.length, 1);
});

/** Blocks of maps, of which some are not there, and a coordinate that goes along with the query. */
function grouped(present) {
  const axes = { query: tokens(2), key: tokens(3) };
  const panels = present.map((there, i) => ({
    chooses: ["block", i],
    group: `block ${i + 1}`,
    arrays: there ? { most: { values: Uint16Array.of(1, i), steps: [[0, 1]] } } : {},
  }));
  panels.push({ ...panels[0], columns: "own", small: ["", ""] });
  const data = described(axes, { block: present.length, own: 2 }, panels);
  const keys = ["Shift+ArrowUp", "Shift+ArrowDown"];
  data.moves = { block: { keys: ["[", "]"] }, own: { keys, along: "query", to: ["most"] } };
  return data;
}

test("groups: where nothing is at the chosen place, the nearest that has something is shown", () => {
  const data = grouped([false, false, true, true]);
  assert.deepEqual([...shownCell(data, [0, 1, 0, 0])], [0, 1, 2, 0]);
  assert.deepEqual([...shownCell(grouped([false]), [0, 1, 0, 0])], [0, 1, 0, 0]);
});

test("groups: keys go past what is not there, and stay at the last", () => {
  const data = grouped([true, false, true]);
  const press = (cell, key, shiftKey = false) => steps.cellForKey(data, cell, { key, shiftKey });
  assert.equal(press([0, 0, 0, 0], "]")[2], 2);
  assert.equal(press([0, 0, 2, 0], "]")[2], 2);
  assert.equal(press([0, 0, 2, 0], "[")[2], 0);
  assert.equal(press([0, 0, 0, 0], "x"), null);
  assert.deepEqual([...press([0, 0, 0, 0], "ArrowDown", true)], [0, 0, 0, 1]);
  assert.deepEqual(press([0, 0, 0, 0], "ArrowDown"), [1, 0, 0, 0], "without Shift the query moves");
});

test("groups: a coordinate goes along with a word, unless it was chosen for that", () => {
  const data = grouped([true, true]);
  const follow = (from, to) => [...steps.followCell(data, from, to)];
  assert.deepEqual(follow([0, 0, 0, 1], [1, 0, 0, 1]), [1, 0, 0, 0], "to its largest");
  assert.deepEqual(follow([0, 0, 0, 0], [0, 2, 0, 0]), [0, 2, 0, 0], "chosen, and the word stays");
  const set = Object.assign([1, 0, 0, 1], { own: "own" });
  assert.deepEqual(follow([0, 0, 0, 1], set), [1, 0, 0, 1], "chosen by this step");
});
