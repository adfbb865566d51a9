// The text above the maps and the blocks below them, as elements that only hold text.

import assert from "node:assert/strict";
import test from "node:test";

import { tokens } from "./support.js";

/** As much of an element as these need. */
class Element {
  children = [];
  style = {};
  #attributes = {};
  setAttribute(name, value) {
    this.#attributes[name] = value;
    if (name === "class") this.className = value;
  }
  removeAttribute() {}
  append(...children) {
    this.children.push(...children);
  }
  replaceChildren(...children) {
    this.children = children;
  }
  querySelector() {
    return null;
  }
  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }
  /** The texts of what has a class, here and below. */
  texts(name) {
    const below = this.children.flatMap((child) => child.texts?.(name) ?? []);
    return this.className?.split(" ").includes(name) ? [this.textContent, ...below] : below;
  }
}
globalThis.Node = Element;
globalThis.document = { createElement: () => new Element() };
const { fillAbove, fillBlocks } = await import("../../triattn_core/views/lib/renderer/reading.js");

const words = (list, starts, text) => ({
  ...tokens(list),
  text: list.map(() => text),
  start: starts,
  end: starts.map((at, i) => at + list[i].length),
  ink: "query",
});
const span = (start, end, look, says, share) => ({ start, end, look, says, share, help: "" });
const panels = [
  {
    title: "dot",
    spans: [span(4, 8, "answer", "answers", "0.4"), span(0, 8, "next", "next", "0.2")],
  },
  { title: "cosine", spans: [span(0, 0, "answer", "answers nothing", "")] },
].map((panel, i) => ({ ...panel, chooses: ["function", i] }));
const line = (value, total) => ({ name: "t", value, format: "signed", bar: true, total });
const block = {
  lines: [line(1, false), line(-2, true)],
  items: [["3a", -0.5, "t"]],
  legends: ["a: t"],
};
const data = {
  axes: { query: words(["red", "boat"], [0, 4], "passage") },
  axisOf: { query: 0, function: 1 },
  texts: { passage: "red boat left" },
  above: { text: "passage", aside: "3 words" },
  blocks: { corner: "terms of {query}", first: [block, block] },
  cell: [1, 0],
  panels,
};

test("spans of the chosen panel are marked and said, and the chosen word", () => {
  const box = new Element();
  fillAbove(box, data, [0, 0]);
  assert.deepEqual(box.texts("told"), ["dot answers boat next red boat3 words"]);
  assert.deepEqual(box.texts("passage"), ["red boat0.40.2 left"]);
  assert.deepEqual(box.texts("query"), ["red"]);
  fillAbove(box, data, [0, 1]);
  assert.deepEqual(box.texts("told"), ["cosine answers nothing 3 words"]);
});

test("blocks are those of the cell that they were sent for, whatever panel is chosen", () => {
  const box = new Element();
  fillBlocks(box, data, [1, 1], null);
  assert.deepEqual(box.texts("which"), ["terms of boat"]);
  assert.deepEqual(box.texts("n"), ["+1.00", "−2.00", "+1.00", "−2.00"]);
  assert.equal(box.texts("legend").length, 2);
  assert.match(box.texts("chosen")[0], /^cosine/);
  fillBlocks(box, data, [0, 0], null);
  assert.deepEqual(box.texts("n"), []);
  assert.deepEqual(box.texts("facts"), ["dot…", "cosine…"]);
});
