import assert from "node:assert/strict";
import test from "node:test";

import { cellsOfIndices, largestIndices, nextInWalk } from "../../triattn_core/views/lib/walk.js";

test("the largest first, the earlier of two equal ones before, what is no number left out", () => {
  const values = [0.5, NaN, 2, 0.5, -Infinity, 1];
  assert.deepEqual(
    largestIndices(values.length, (i) => values[i]),
    [2, 5, 0, 3],
  );
  assert.equal(largestIndices(500, (i) => i).length, 100);
});

test("a place in a block of maps is a cell", () => {
  assert.deepEqual(cellsOfIndices([0, 7, 23], 3, 4), [
    [0, 0, 0],
    [1, 3, 0],
    [2, 3, 1],
  ]);
});

test("a walk goes round, from elsewhere it begins, and keeps what its cells do not say", () => {
  const list = [
    [1, 2],
    [3, 4],
  ];
  assert.deepEqual(nextInWalk(list, [1, 2, 9], 1), [3, 4, 9]);
  assert.deepEqual(nextInWalk(list, [1, 2, 9], -1), [3, 4, 9]);
  assert.deepEqual(nextInWalk(list, [3, 4, 9], 1), [1, 2, 9]);
  assert.deepEqual(nextInWalk(list, [0, 0, 9], -1), [1, 2, 9]);
  assert.equal(nextInWalk([], [0, 0], 1), null);
});
