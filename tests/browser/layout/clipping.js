// What of a box the elements around it leave to be seen.

import { isOpaque } from "./contrast.js";
import { ancestors, parentOf } from "./elements.js";
import { SLACK, rectangle } from "./geometry.js";

const SIDES = ["Top", "Right", "Bottom", "Left"];

const isPage = (element) => element.dataset.testid === "stMain";

const hasNoBox = (element, { display }) =>
  (display === "inline" && element.localName !== "canvas") ||
  display === "contents" ||
  element instanceof SVGElement;

const hasFrame = (style) =>
  SIDES.every(
    (side) => parseFloat(style[`border${side}Width`]) > 0 && isOpaque(style[`border${side}Color`]),
  );

/** Whether what an element says first is shown whole on hover. */
function isInTitle(element) {
  const title = element.closest("[title]")?.title ?? "";
  const text = [...element.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
  return title.includes((text?.data ?? element.innerText).trim());
}

/** Why a box ends at an element that it is wider or higher than, along an axis; or undefined. */
function cutAlong(axis, element, style) {
  const overflow = style[axis === "x" ? "overflowX" : "overflowY"];
  if (element.localName === "canvas" || overflow === "hidden" || overflow === "clip") {
    const isNamed = axis === "x" && style.textOverflow === "ellipsis" && isInTitle(element);
    if (!isNamed) return "cut off";
  }
  return hasFrame(style) ? "outside of its frame" : undefined;
}

/** Whether what is beyond the edges of an element can be scrolled to; a page scrolls only down. */
function scrollsAlong(axis, element, style) {
  const overflow = style[axis === "x" ? "overflowX" : "overflowY"];
  return (overflow === "auto" || overflow === "scroll") && !(isPage(element) && axis === "x");
}

/** Where a box ends that is not seen whole: the reason, or undefined. */
export function cutBy(box, element) {
  const scrolls = { x: false, y: false };
  let floats = false;
  for (const node of ancestors(element)) {
    const style = getComputedStyle(node);
    if (floats && style.position === "static") continue;
    if (style.position === "fixed") floats = true;
    if (hasNoBox(node, style)) continue;
    const inside = node.getBoundingClientRect();
    const over = {
      x: box.left < inside.left - SLACK || box.right > inside.right + SLACK,
      y: box.top < inside.top - SLACK || box.bottom > inside.bottom + SLACK,
    };
    const partlySeen = box.left < inside.right - SLACK && box.right > inside.left + SLACK;
    for (const axis of ["x", "y"]) {
      if (scrollsAlong(axis, node, style)) {
        if (axis === "x" && over.x && partlySeen) return "cut at the edge of what scrolls";
        scrolls[axis] = true;
      }
      const reason = !scrolls[axis] && over[axis] ? cutAlong(axis, node, style) : undefined;
      if (reason) return reason;
    }
  }
  const width = document.documentElement.clientWidth;
  const outside = box.left < -SLACK || box.right > width + SLACK;
  return outside && !scrolls.x ? "outside of the window" : undefined;
}

/** Whether a frame goes beyond an element that cuts or scrolls what is in it. */
export function isFrameCut(box, element) {
  if (scrolledAway(element.getBoundingClientRect(), element)) return false;
  for (const node of ancestors(parentOf(element))) {
    if (isPage(node)) return false;
    const style = getComputedStyle(node);
    if (hasNoBox(node, style) || style.overflow === "visible") continue;
    const inside = node.getBoundingClientRect();
    const above = node.scrollTop === 0 && box.top < inside.top;
    const left = node.scrollLeft === 0 && box.left < inside.left;
    if (above || left) return true; // the other two edges can be scrolled to
  }
  return false;
}

/** What is left of a text where an element cuts it, with an ellipsis say. */
export function shownOf(box, element) {
  const shown = { ...box };
  for (const node of ancestors(element)) {
    const { overflowX, display } = getComputedStyle(node);
    if (overflowX === "visible" || display === "inline" || display === "contents") continue;
    const inside = node.getBoundingClientRect();
    shown.left = Math.max(shown.left, inside.left);
    shown.right = Math.max(shown.left, Math.min(shown.right, inside.right));
  }
  return rectangle(shown);
}

/** Whether a box is outside of an element that scrolls it. */
export function scrolledAway(box, element) {
  for (const node of ancestors(element)) {
    if (isPage(node)) return false; // what is below the window's edge is read once the page scrolls
    if (getComputedStyle(node).overflow === "visible") continue;
    const inside = node.getBoundingClientRect();
    const across = box.right < inside.left + SLACK || box.left > inside.right - SLACK;
    const down = box.bottom < inside.top + SLACK || box.top > inside.bottom - SLACK;
    if (across || down) return true;
  }
  return false;
}
