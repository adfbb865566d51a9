// Rows of which those around the chosen one can be read, with bars and labels beside them.

import assert from "node:assert/strict";
import test from "node:test";

import {
  aimAt,
  focusRows,
  paintFocusLabels,
  paintGround,
  partsOf,
} from "../../triattn_core/views/lib/renderer/focus.js";
import { paintShares } from "../../triattn_core/views/lib/renderer/shares.js";
import { THEME, context, tokens } from "./support.js";

const ROWS = 60;
const ANSWER = 50;
const WORDS = Array.from({ length: ROWS }, (_, i) => `word${i}`);
const FLAGS = WORDS.map((_, i) => (i === ANSWER ? 1 : 0));
const rowsAt = (q) => aimAt(focusRows(ROWS, 15, [17, 210]), q);

/** What `paint` writes. */
function written(paint) {
  const texts = [];
  const ctx = { ...context(), fillRect: () => {}, fillText: (text) => texts.push(text) };
  for (const name of ["save", "restore", "translate", "rotate"]) ctx[name] = () => {};
  paint(ctx);
  return texts;
}

function bars(row) {
  const ends = { values: Float32Array.from(FLAGS, (flag) => 0.9 * flag) };
  const mark = { mark: "shares", values: "start", size: 106 };
  const data = {
    axes: { query: tokens(WORDS) },
    panels: [{ rows: "query", marks: [mark], arrays: { start: ends } }],
  };
  const box = { panel: data.panels[0], rows: rowsAt(row), y: 0 };
  const state = { cell: [row, 0, 0] };
  return written((ctx) => paintShares(ctx, mark, box, 100, data, THEME, state));
}

test("the longest bar of a row that cannot be read has its word; else that stands at the left alone", () => {
  assert.ok(bars(3).includes(`word${ANSWER}`));
  assert.ok(!bars(ANSWER).includes(`word${ANSWER}`));
  assert.ok(bars(3).includes("0.9"));
});

test("the answer's ground has its words where its rows cannot be read", () => {
  const ground = (row) =>
    written((ctx) => paintGround(ctx, rowsAt(row), FLAGS, "the answer", 100, 0, 90, THEME));
  assert.deepEqual(ground(3), ["the answer"]);
  assert.deepEqual(ground(ANSWER), []);
});

test("rows that can be read have their words, the others their count", () => {
  const look = { chosen: 30, hover: -1, colour: "", room: 90 };
  const texts = written((ctx) =>
    paintFocusLabels(ctx, rowsAt(30), tokens(WORDS), 100, 0, THEME, look, null),
  );
  assert.deepEqual(texts, ["rows", "1–22", ...WORDS.slice(22, 39), "rows", "40–60"]);
});

test("the rows that can be read stay while the chosen one is among them", () => {
  const rows = focusRows(200, 15, [17, 210]);
  const from = (q) => partsOf(aimAt(rows, q)).find(({ read }) => read).from;
  const first = from(100);
  assert.equal(from(102), first);
  assert.equal(from(first - 1), first - 1);
  assert.equal(from(0), 0);
  assert.equal(from(199) + 17, 200);
});
