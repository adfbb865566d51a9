import assert from "node:assert/strict";
import test from "node:test";

import { layoutAxis } from "../../triattn_core/views/lib/axis.js";
import { paintColumnLabels } from "../../triattn_core/views/lib/labels.js";
import { THEME, context, tokens } from "./support.js";

const WORDS = "the printer does that when the tray is empty and it still does not print".split(" ");

/** Column labels as drawn at a pitch: [label, whether it leans, pixels above the cells]. */
function paintedLabels(pitch, axis = tokens(WORDS)) {
  const drawn = [];
  let place = [];
  const ctx = {
    ...context(),
    translate: (x, y) => (place = [false, -y]),
    rotate: () => (place[0] = true),
    fillText: (text) => drawn.push([text, ...place]),
  };
  for (const name of ["save", "restore", "fillRect"]) ctx[name] = () => {};
  const options = { chosen: 0, colour: "red", room: 96 };
  paintColumnLabels(ctx, layoutAxis(axis, pitch), axis, 0, 0, THEME, options);
  return drawn;
}

const drawnLabels = (pitch, axis) => paintedLabels(pitch, axis).map(([text]) => text);

/** Words of which one is named before all others. */
const ranked = (first, words = WORDS) => ({
  ...tokens(words),
  rank: words.map((word, i) => (word === first ? -1 : i)),
});

test("no label of fifteen words is left out of a map of 190 pixels", () => {
  assert.equal(drawnLabels(190 / 15).length, 15);
});

test("in narrower columns the first by rank keep theirs", () => {
  const drawn = drawnLabels(8, ranked("print"));
  assert.ok(drawn.includes("print") && drawn.length < 15);
  assert.ok(!drawnLabels(4, tokens(WORDS)).includes("is"));
  assert.ok(drawnLabels(4, ranked("is")).includes("is"));
});

test("words lean where they are wider than their column, single letters never do", () => {
  const leaning = (labels, pitch) => paintedLabels(pitch, tokens(labels)).map(([, lean]) => lean);
  assert.deepEqual(leaning(["word", "a"], 20), [true, false]);
  assert.deepEqual(leaning(["word", "a"], 40), [false, false]);
  assert.deepEqual(leaning(["a", "b"], 13), [false, false]);
});

test("letters too near for one line take two in turns", () => {
  const lines = [13, 8, 6].map(
    (pitch) => new Set(paintedLabels(pitch, tokens(4)).map((one) => one[2])),
  );
  assert.deepEqual(
    lines.map(({ size }) => size),
    [1, 2, 1],
  );
});

test("flat labels never lean: as many are drawn as fit", () => {
  const numbers = { ...tokens(["1", "2", "10", "48"]), kind: "flat" };
  assert.deepEqual(
    paintedLabels(8, numbers).map(([text, lean]) => [text, lean]),
    [
      ["1", false],
      ["48", false],
    ],
  );
  assert.ok(
    paintedLabels(8, tokens(["1", "residue"])).every(([text, lean]) => lean === (text !== "1")),
  );
});
