import assert from "node:assert/strict";
import test from "node:test";

import { nextInWalk } from "../../triattn_core/views/lib/walk.js";

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
