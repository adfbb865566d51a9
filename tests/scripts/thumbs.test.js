import assert from "node:assert/strict";
import test from "node:test";

import { layoutThumbs } from "../../triattn_core/views/lib/renderer/thumbs.js";
import { THEME, tokens } from "./support.js";

/** Seven pixels a letter, eight of a bold one. */
const context = () => ({
  font: "",
  measureText(text) {
    return { width: (this.font.includes("700") ? 8 : 7) * text.length };
  },
});

const NAMES = ["1 encoder", "1 decoder", "1 cross"];

test("the chosen row's bold name has room", () => {
  const cells = { down: [3, 3, 3], across: [3, 3, 3], largest: [60, 60], below: ["entropy"] };
  const data = {
    panels: [{ rows: "layer", columns: "head", cells }],
    grid: { labels: [22, 92] },
    axes: { layer: tokens(NAMES) },
    sizes: { layer: 3, head: 4 },
  };
  const { own } = layoutThumbs(context(), data, 600, THEME);
  assert.ok(own - 8 >= 8 * "1 encoder".length);
});
