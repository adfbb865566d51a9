import assert from "node:assert/strict";
import test from "node:test";

import {
  cellAt,
  contiguousRuns,
  countGaps,
  layoutAxis,
  thinLabels,
} from "../../triattn_core/views/lib/axis.js";
import { countLabelLines, labelsLean } from "../../triattn_core/views/lib/label_text.js";
import { THEME, context, tokens } from "./support.js";

test("cells stand in a line, with a gap where the text changes", () => {
  const axis = layoutAxis(tokens(5, [2]), 10, 6);
  assert.deepEqual(axis.at, [0, 10, 26, 36, 46]);
  assert.equal(axis.size, 56);
  assert.equal(countGaps(tokens(5, [2])), 1);
  assert.deepEqual(contiguousRuns(axis), [
    [0, 1],
    [2, 4],
  ]);
});

test("an axis without tokens takes no room", () => {
  const axis = layoutAxis(tokens(0), 10);
  assert.equal(axis.size, 0);
  assert.equal(cellAt(axis, 0), -1);
});

test("a line between cells only where they have room for it", () => {
  assert.equal(layoutAxis(tokens(2), 7).line, 1);
  assert.equal(layoutAxis(tokens(2), 6.9).line, 0);
});

test("a coordinate in a gap or beyond the ends is in no cell", () => {
  const axis = layoutAxis(tokens(5, [2]), 10, 6);
  const found = [-0.1, 0, 9.9, 10, 20, 25.9, 26, 55.9, 56].map((x) => cellAt(axis, x));
  assert.deepEqual(found, [-1, 0, 0, 1, -1, -1, 2, 4, -1]);
});

test("labels that do not fit give way: the chosen one first, then the heaviest", () => {
  const axis = layoutAxis(tokens(6), 5);
  const kept = thinLabels(axis, 12, [2], [9, 0, 0, 0, 1, 8]);
  assert.deepEqual([...kept].sort(), [2, 5]);
  assert.equal(thinLabels(layoutAxis(tokens(6), 12), 12).size, 6);
});

test("words lean where they are wider than their column, single letters never do", () => {
  assert.equal(labelsLean(context(), tokens(["word", "a"]), 20, THEME), true);
  assert.equal(labelsLean(context(), tokens(["word", "a"]), 40, THEME), false);
  assert.equal(labelsLean(context(), tokens(["a", "b"]), 5, THEME), false);
});

test("letters too near for one line take two in turns", () => {
  const lines = [13, 8, 6].map((pitch) => countLabelLines(context(), tokens(4), pitch, THEME));
  assert.deepEqual(lines, [1, 2, 1]);
});

test("numbers that stand for tokens lie flat, words in narrow columns lean", () => {
  const numbers = tokens(["1", "2", "10", "48"]);
  const words = tokens(["1", "residue"]);
  assert.equal(labelsLean(context(), numbers, 8, THEME), false);
  assert.equal(labelsLean(context(), words, 8, THEME), true);
});
