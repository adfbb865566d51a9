import assert from "node:assert/strict";
import test from "node:test";

import {
  formatCount,
  formatNumber,
  formatPercent,
  formatProbability,
  formatShort,
  formatSigned,
} from "../../triattn_core/views/lib/numbers.js";

const each = (format, cases) => {
  for (const [x, text] of cases) assert.equal(format(x), text, `${x}`);
};

test("numbers have three significant digits and a true minus", () => {
  each(formatNumber, [
    [0, "0.00"],
    [0.17513, "0.175"],
    [15.749, "15.7"],
    [1234.4, "1234"],
    [-0.002119, "−0.00212"],
    [0.00001234, "1.2e−5"],
    [-123456, "−1.2e+5"],
    [NaN, "–"],
    [-Infinity, "–"],
  ]);
});

test("ticks and bars are shorter", () => {
  each(formatShort, [
    [0, "0"],
    [0.123, "0.12"],
    [0.00001, "1e−5"],
    [-0.5, "−0.5"],
  ]);
});

test("signed numbers, shares and counts", () => {
  each(formatSigned, [
    [0.5, "+0.500"],
    [0, "0.00"],
    [-2, "−2.00"],
  ]);
  each(formatPercent, [[0.1234, "12.3 %"]]);
  each(formatCount, [
    [999, "999"],
    [1000, "1,000"],
    [1234567, "1,234,567"],
  ]);
});

test("a probability that is not 1 or 0 never reads as one", () => {
  each(formatProbability, [
    [1, "1.000"],
    [0.99951, "> 0.999"],
    [0.5, "0.500"],
    [0.0004, "< 0.001"],
    [0, "0.000"],
  ]);
});
