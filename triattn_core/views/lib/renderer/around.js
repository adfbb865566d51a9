// The elements of a figure: its canvas, and what stands around it.

import { describeMaps, make, setLanguage } from "../elements.js";
import { walkButtons } from "../walk.js";
import { buildInspector } from "./inspector.js";

/** Fills the root of a figure; returns its elements. */
export function buildAround(figure) {
  const { alt, texts, strip, above, notes, inspector } = figure.payload;
  const canvas = make("canvas", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": inspector ? "linked slices of a cube" : "maps",
    "aria-label": describeMaps({ alt, texts }),
  });
  setLanguage(canvas, Object.values(texts).join(" "));
  const tip = make("div", { class: "tip", hidden: "" });
  const frame = make("div", { class: "frame" }, canvas, tip);
  if (inspector) return buildBeside(figure, { canvas, tip, frame });
  const parts = {
    above: above && make("div", { class: "above" }),
    frame,
    below: !strip && make("div", { class: "below" }),
    notes: notes && make("p", { class: "sentence notes" }, notes),
    hint: strip ? make("p") : hintOf(figure),
    heard: make("div", { class: "heard", "aria-live": "polite" }),
  };
  const outer = make("div", { class: strip ? "strip maps" : "side maps" });
  outer.append(...Object.values(parts).filter(Boolean));
  figure.root.replaceChildren(outer);
  return { ...parts, outer, canvas, tip };
}

/** Slices, and beside them their inspector. */
function buildBeside(figure, parts) {
  const { frame } = parts;
  const beside = make("section", { class: "inspector", "aria-label": "The chosen cell" });
  const room = make("div", { class: "room" }, frame, beside);
  const outer = make("div", { class: "triattn maps" }, room);
  frame.className = "figure";
  frame.append(hintOf(figure));
  figure.root.replaceChildren(outer);
  const fold = (unfolded) => figure.host.send?.("unfolded", unfolded);
  const inspect = buildInspector(beside, figure.data, (cell) => figure.choose(cell), fold);
  return { ...parts, outer, beside, inspect };
}

function hintOf(figure) {
  const { keys, walks } = figure.data;
  const arrows = ["←", "→", "↑", "↓"];
  const help = ["Click a cell, or step with ", arrows, ...[keys].flat(), ` ${walks}: `];
  const parts = help.flatMap((part) =>
    Array.isArray(part) ? part.map((key) => make("kbd", {}, key)) : [part],
  );
  return make("p", { class: "hint" }, ...parts, ...walkButtons((by) => figure.walk(by)));
}
