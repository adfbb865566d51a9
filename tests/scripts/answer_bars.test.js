import assert from "node:assert/strict";
import test from "node:test";

import { paintAnswerBars } from "../../triattn_core/views/similarity/answer_bars.js";
import { paintLabels } from "../../triattn_core/views/similarity/labels.js";
import { layoutMaps, rowStretches } from "../../triattn_core/views/similarity/layout.js";
import { THEME, context, tokens } from "./support.js";

const ROWS = 60;
const ANSWER = 50;

/** What is written beside the maps where the row of a cell is chosen. */
function written(row) {
  const texts = [];
  const ctx = { ...context(), fillRect: () => {}, fillText: (text) => texts.push(text) };
  for (const name of ["save", "restore", "translate", "rotate"]) ctx[name] = () => {};
  const words = Array.from({ length: ROWS }, (_, i) => `word${i}`);
  const ends = Array.from({ length: ROWS }, (_, i) => (i === ANSWER ? 0.9 : 0));
  const data = {
    axes: { query: tokens(words), key: tokens(4) },
    panels: [{ start: ends, end: ends }],
    top: 0.9,
  };
  const layout = layoutMaps(ctx, data, 1200, THEME);
  const parts = rowStretches(layout, row);
  paintAnswerBars(ctx, layout, data, THEME, { cell: [row, 0, 0] }, parts);
  return texts;
}

test("the longest bar of a row that cannot be read has its word", () => {
  assert.equal(written(3).filter((text) => text === `word${ANSWER}`).length, 2);
});

test("the answer's ground has its words where its rows cannot be read", () => {
  const texts = [];
  const ctx = { ...context(), fillRect: () => {}, fillText: (text) => texts.push(text) };
  for (const name of ["save", "restore", "translate", "rotate"]) ctx[name] = () => {};
  const words = Array.from({ length: ROWS }, (_, i) => `w${i}`);
  const starts = words.map((_, i) => 4 * i);
  const query = { ...tokens(words), start: starts, end: starts.map((start) => start + 3) };
  const data = {
    axes: { query, key: tokens(4) },
    texts: { passage: words.map((word) => word.padEnd(4)).join("") },
    panels: [{ start: [], end: [], spans: [[4 * ANSWER, 4 * ANSWER + 3, 0.9]] }],
  };
  const layout = layoutMaps(ctx, data, 1200, THEME);
  for (const [row, count] of [
    [3, 1],
    [ANSWER, 1],
  ]) {
    texts.length = 0;
    const state = { cell: [row, 0, 0] };
    paintLabels(ctx, layout.boxes[0], layout, data, THEME, state, rowStretches(layout, row));
    assert.equal(texts.filter((text) => text === `w${ANSWER}`).length, count);
  }
});

test("where the row can be read its word stands at the left alone", () => {
  assert.ok(!written(ANSWER).includes(`word${ANSWER}`));
});
