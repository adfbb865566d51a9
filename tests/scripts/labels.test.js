import assert from "node:assert/strict";
import test from "node:test";

import { layoutAxis } from "../../triattn_core/views/lib/axis.js";
import { paintColumnLabels } from "../../triattn_core/views/lib/labels.js";
import { THEME, context, tokens } from "./support.js";

const WORDS = "the printer does that when the tray is empty and it still does not print".split(" ");

/** The column labels that are drawn at a pitch. */
function drawnLabels(pitch, weights, axis = tokens(WORDS)) {
  const drawn = [];
  const ctx = { ...context(), fillText: (text) => drawn.push(text) };
  for (const name of ["save", "restore", "translate", "rotate", "fillRect"]) ctx[name] = () => {};
  const options = { chosen: 0, colour: "red", room: 96, weights };
  paintColumnLabels(ctx, layoutAxis(axis, pitch), axis, 0, 0, THEME, options);
  return drawn;
}

test("no label of fifteen words is left out of a map of 190 pixels", () => {
  assert.equal(drawnLabels(190 / 15).length, 15);
});

test("in narrower columns the strongest keep theirs", () => {
  const weights = WORDS.map((word) => (word === "print" ? 1 : 0.1));
  const drawn = drawnLabels(8, weights);
  assert.ok(drawn.includes("print") && drawn.length < 15);
});

test("a marked word has a mark, and keeps its label where others give way", () => {
  const axis = { ...tokens(WORDS), marked: WORDS.map((word) => Number(word === "does")) };
  assert.ok(drawnLabels(190 / 15, undefined, axis).includes("▸ does"));
  const weights = WORDS.map((word) => (word === "does" ? 0 : 1));
  const drawn = drawnLabels(4, weights, axis);
  assert.ok(drawn.includes("▸ does") && drawn.length < 8);
  assert.ok(!drawnLabels(4, weights).some((label) => label.endsWith("does")));
});
