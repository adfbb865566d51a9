// The description of a figure unpacked, and its templates filled for a cell.

import assert from "node:assert/strict";
import test from "node:test";

import {
  chosenPanel,
  describeCell,
  fillText,
  fittingCase,
  sayNumber,
  unpack,
  valueAt,
} from "../../triattn_core/views/lib/renderer/description.js";
import { tokens } from "./support.js";

const pack = (array) => Buffer.from(array.buffer).toString("base64");
const array = (type, over, values) => ({ type, over, data: pack(values) });
const PAIR = ["query", "key"];

/** Two maps of 2 × 3, the first with a masked pair, and what follows the one that is chosen. */
function described() {
  const weights = (values) => array("f4", PAIR, Float32Array.from(values));
  const order = (values) => array("u2", ["feature"], Uint16Array.from(values));
  const maps = [
    {
      title: "Head 1, forward",
      chooses: ["map", 0],
      arrays: {
        weights: weights([0, 0.25, 0.75, 0.5, 0.5, NaN]),
        masked: array("b1", PAIR, Uint8Array.of(0b10000100)),
        ranks: array("u1", PAIR, Uint8Array.of(3, 2, 1, 1, 1, 0)),
        keys: array("u2", ["query"], Uint16Array.of(3, 2)),
        best: array("f4", ["query"], Float32Array.of(2, -1)),
        order: order([5, 7]),
      },
    },
    {
      title: "Head 2",
      chooses: ["map", 1],
      arrays: { weights: weights([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), order: order([9, 8]) },
    },
    { title: "Source", follows: "map", numbers: "order" },
  ];
  const axis = (labels, ink) => ({ ...tokens(labels), ink });
  return unpack({
    coordinates: [
      ["query", 2],
      ["key", 3],
      ["map", 2],
      ["feature", 2],
    ],
    axes: { query: axis(["a", "b"], "query"), key: axis(["x", "y", "z"], "context") },
    panels: maps.map((panel) => ({ rows: "query", columns: "key", ...panel })),
    readout: {
      tip: [
        { panel: -1, cases: [{ text: "{query} to {key}" }] },
        {
          panel: -1,
          cases: [{ text: "masked", when: "masked", equals: 1 }, { text: "{weights:percent}" }],
        },
        { panel: 2, cases: [{ text: "{head}, feature {order:rank}" }] },
      ],
    },
  });
}

test("a number stands where its coordinates say, also of the panel that another follows", () => {
  const data = described();
  assert.equal(valueAt(data, data.panels[0], "weights", [0, 2, 0, 0]), 0.75);
  assert.equal(valueAt(data, data.panels[2], "order", [0, 0, 1, 1]), 8);
  assert.equal(valueAt(data, data.panels[2], "order", [0, 0, 0, 1]), 7);
  assert.equal(valueAt(data, data.panels[1], "masked", [0, 0, 1, 0]), undefined);
  assert.equal(chosenPanel(data, [0, 0, 1, 0]).title, "Head 2");
});

test("bits come back in their order", () => {
  const { masked } = described().panels[0].arrays;
  assert.deepEqual([...masked.values], [1, 0, 0, 0, 0, 1]);
});

test("the first case that fits is said; without such an array the next", () => {
  const data = described();
  const [, tip] = data.readout.tip;
  assert.equal(fittingCase(data, tip, [0, 0, 0, 0]).text, "masked");
  assert.equal(fittingCase(data, tip, [0, 0, 1, 0]).text, "{weights:percent}");
  const missing = { panel: 0, cases: [{ text: "none", when: "weights", equals: null }] };
  assert.equal(fittingCase(data, missing, [1, 2, 0, 0]).text, "none");
  assert.equal(fittingCase(data, missing, [1, 1, 0, 0]), undefined);
});

test("what is said of a cell names words, numbers and the panel that is chosen", () => {
  const data = described();
  assert.deepEqual(describeCell(data, [0, 2, 0, 1]), ["a to z", "75.0 %", "Head 1, feature 7"]);
  assert.equal(
    fillText(data, "{=0.25} of {title}", data.panels[1], [0, 0, 1, 0]),
    "0.250 of Head 2",
  );
});

test("braces that name nothing are no number, and stop nothing", () => {
  const data = described();
  const [panel] = data.panels;
  assert.equal(fillText(data, "{x:y} and {none}", panel, [0, 0, 0, 0]), "– and –");
});

test("a number of the table: out of, over, masked, missing, and the strongest of its row", () => {
  const data = described();
  const say = (number, cell) =>
    sayNumber(data, { format: "number", ...number }, data.panels[0], cell);
  assert.equal(say({ array: "ranks", format: "rank", of: "keys" }, [0, 1, 0, 0]), "2 of 3");
  assert.equal(say({ array: "ranks", format: "rank", of: "keys" }, [1, 2, 0, 0]), "–");
  assert.equal(say({ array: "weights", over: "keys", format: "times" }, [0, 2, 0, 0]), "× 0.250");
  assert.equal(say({ array: "weights", masked: "masked" }, [0, 0, 0, 0]), "masked");
  assert.equal(say({ array: "weights", format: "there" }, [1, 2, 0, 0]), "not there");
  const best = { array: "weights", best: "best", otherwise: ["hidden"] };
  assert.equal(say(best, [0, 0, 0, 0]), "z 0.750");
  assert.equal(say(best, [1, 0, 0, 0]), "hidden");
  assert.equal(sayNumber(data, null, data.panels[0], [0, 0, 0, 0]), "");
});
