import assert from "node:assert/strict";
import test from "node:test";

import { cancelNote } from "../../triattn_core/views/similarity/terms.js";

const TRILINEAR = { alike: ["w_p·h"], alike_down: ["w_q·u"] };
const BOTH = { ...TRILINEAR, over_passage: { one_for_all: false } };
const BIDAF = { ...TRILINEAR, over_passage: { one_for_all: true } };
const DOT = { alike: [], alike_down: [], over_passage: { one_for_all: false } };

test("over the question the passage word's own term cancels", () => {
  for (const facts of [TRILINEAR, BOTH, BIDAF])
    for (const quantity of ["relevance", "centred", "weight"])
      assert.match(cancelNote(quantity, facts), /^w_p·h: .*softmax over the question/);
});

test("over the passage the question word's own term cancels, but not in BiDAF", () => {
  assert.match(
    cancelNote("over passage", BOTH),
    /^w_q·u: .*softmax over the passage takes it away/,
  );
  assert.match(cancelNote("over passage", BIDAF), /^w_p·h: counts here/);
});

test("a score of one term has nothing to cancel", () => {
  for (const quantity of ["weight", "over passage"]) assert.equal(cancelNote(quantity, DOT), "");
});
