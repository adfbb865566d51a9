import assert from "node:assert/strict";
import test from "node:test";

import {
  cellAt,
  contiguousRuns,
  countGaps,
  layoutAxis,
  thinLabels,
} from "../../triattn_core/views/lib/axis.js";
import { tokens } from "./support.js";

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
  const kept = thinLabels(axis, 12, [2], [0, 3, 4, 5, 2, 1]);
  assert.deepEqual([...kept].sort(), [2, 5]);
  assert.equal(thinLabels(layoutAxis(tokens(6), 12), 12).size, 6);
});
