import assert from "node:assert/strict";
import test from "node:test";

import {
  levelOnScale,
  positionOnScale,
  valueOfLevel,
} from "../../triattn_core/views/lib/scales.js";

const LOG = { kind: "log", low: 0.001, high: 1, uniform: 0.1, steps: 256 };
const SIGNED = { kind: "signed", limit: 4, power: 0.5, steps: 255 };
const GATE = { kind: "linear", high: 2, steps: 256 };

test("a log scale: each decade takes the same room, what is beyond stays at an end", () => {
  assert.equal(positionOnScale(LOG, 0.001), 0);
  assert.ok(Math.abs(positionOnScale(LOG, 0.01) - 1 / 3) < 1e-12);
  assert.equal(positionOnScale(LOG, 5), 1);
  assert.equal(positionOnScale(LOG, 0), 0);
});

test("a signed scale: zero in the middle, both sides alike", () => {
  assert.equal(positionOnScale(SIGNED, 0), 0.5);
  assert.equal(positionOnScale(SIGNED, 1), 0.75);
  assert.equal(positionOnScale(SIGNED, -1), 0.25);
  assert.equal(positionOnScale(SIGNED, -9), 0);
});

test("a linear scale starts at zero", () => {
  assert.equal(positionOnScale(GATE, 0.5), 0.25);
  assert.equal(positionOnScale(GATE, -1), 0);
});

test("a level's value has that level again", () => {
  for (const scale of [LOG, SIGNED]) {
    for (let level = 0; level < scale.steps; level += 17) {
      assert.equal(levelOnScale(scale, valueOfLevel(scale, level)), level);
    }
  }
});
