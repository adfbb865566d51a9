// The elements of a page, also those within shadow roots.

import { SLACK } from "./geometry.js";

const FIGURES = "canvas, svg, img, iframe, td, th";
const FIELDS = ["canvas", "input", "textarea"];

export const parentOf = (node) =>
  node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;

/** An element, then what it is in, below `end`. */
export function* ancestors(element, end = document.documentElement) {
  for (let node = element; node && node !== end; node = parentOf(node)) yield node;
}

export const contains = (list, element) => [...ancestors(element, null)].includes(list);

export const descendants = (under) => [...under.querySelectorAll("*")];

/** The nodes that hold text: text nodes, fields and canvases. */
export function* textNodes(under) {
  for (const node of under.childNodes) {
    if (node.nodeType === Node.TEXT_NODE && node.data.trim()) yield node;
    if (node.nodeType !== Node.ELEMENT_NODE || ["style", "script"].includes(node.localName))
      continue;
    if (FIELDS.includes(node.localName)) yield node;
    if (node.shadowRoot) yield* textNodes(node.shadowRoot);
    yield* textNodes(node);
  }
}

/** The cells and figures of the page. */
export function* figures(under) {
  for (const element of descendants(under)) {
    if (element.matches(FIGURES) && !element.parentElement.closest("svg")) yield element;
    if (element.shadowRoot) yield* figures(element.shadowRoot);
  }
}

/**
 * The elements that scroll down and show no sign of it: no edge that fades, no bar that is always
 * there.
 */
export function* unmarkedLists(under) {
  for (const element of descendants(under)) {
    if (element.shadowRoot) yield* unmarkedLists(element.shadowRoot);
    const { overflowY, maskImage, backgroundAttachment, scrollbarGutter } =
      getComputedStyle(element);
    const scrolls =
      (overflowY === "auto" || overflowY === "scroll") &&
      element.scrollHeight > element.clientHeight + SLACK;
    const edge = element.getBoundingClientRect();
    const fades = /rgba\(0, 0, 0, 0\)/.test(maskImage) || /local/.test(backgroundAttachment);
    const hasBar = edge.width - element.clientWidth > SLACK && scrollbarGutter === "auto";
    if (scrolls && !fades && !hasBar && element.localName !== "textarea") yield element;
  }
}

export function isSeen(element) {
  const options = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
  if (!element.checkVisibility(options)) return false;
  for (const node of ancestors(element, document.body)) {
    const { width, height } = node.getBoundingClientRect();
    const { display, overflow, clipPath, clip } = getComputedStyle(node);
    const small = width <= 1 || height <= 1;
    if (display !== "contents" && overflow !== "visible" && small) return false; // for screen readers
    if (clipPath === "inset(50%)" || clip === "rect(0px, 0px, 0px, 0px)") return false;
  }
  return true;
}

export function isTurned(element) {
  for (const node of ancestors(element, document.body)) {
    const { transform } = getComputedStyle(node);
    if (/rotate|matrix/.test(transform) && !/matrix\(1, 0, 0, 1/.test(transform)) return true;
  }
  return false;
}
