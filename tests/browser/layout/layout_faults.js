// Finds text that is cut off, lies outside of the window or of its card, or overlaps other text;
// cells and figures outside of the window; numbers on their side; lists that scroll without a sign
// of it; and a page that is wider than its window.  Runs in a page before its own scripts.

import { watchCanvases } from "./canvas_texts.js";
import { cutBy, isFrameCut, scrolledAway, shownOf } from "./clipping.js";
import { contrast } from "./contrast.js";
import {
  ancestors,
  contains,
  descendants,
  figures,
  isSeen,
  isTurned,
  unmarkedLists,
} from "./elements.js";
import { SLACK, bounds, isOnItsSide, overlap } from "./geometry.js";
import { pageTexts } from "./page_texts.js";

const TOUCH = 2; // pixels that two texts may share
const LEAST_CONTRAST = 3; // of text and ground
const NAMES = ".t-section > b, .t-predictions td:first-child";
const NUMBER = /^[+−-]?\d[\d.,]*%?$/;

const quote = (words) => JSON.stringify(words.slice(0, 60));

function figureFaults(main, isChecked) {
  const cut = [...figures(main)]
    .filter((element) => isChecked(element) && isSeen(element))
    .map((element) => [element, cutBy(element.getBoundingClientRect(), element)])
    .filter(([, reason]) => reason);
  return cut.map(([element, reason]) => {
    const label = element.getAttribute("aria-label") || element.closest("[aria-label]")?.ariaLabel;
    const words = element.innerText || label || element.parentElement.className;
    return `${element.localName} ${reason}: ${quote(words)}`;
  });
}

/** Frames around elements that what is around those cuts. */
function frameFaults(main, isChecked) {
  return descendants(main)
    .filter((element) => isChecked(element) && !element.matches(":focus") && isSeen(element))
    .filter((element) => {
      const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element);
      const out = parseFloat(outlineWidth) + parseFloat(outlineOffset);
      if (outlineStyle === "none" || out <= 0) return false;
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const box = { left: left - out, right: right + out, top: top - out, bottom: bottom + out };
      return isFrameCut(box, element);
    })
    .map((element) => `frame cut off: ${quote(element.innerText)}`);
}

function listFaults(main, texts, isChecked) {
  return [...unmarkedLists(main)]
    .filter((list) => isChecked(list) && isSeen(list))
    .map((list) => {
      const edge = list.getBoundingClientRect().bottom + SLACK;
      return texts.find(
        ({ quad, element }) => bounds(quad).bottom > edge && contains(list, element),
      );
    })
    .filter(Boolean)
    .map(({ words }) => `goes on below its edge unseen: ${quote(words)}`);
}

function fieldFaults({ scrollWidth, clientWidth, scrollHeight, clientHeight }) {
  return [
    ...(scrollWidth > clientWidth + SLACK ? ["field too narrow"] : []),
    ...(scrollHeight > clientHeight + SLACK ? ["field too low"] : []),
  ];
}

/** The faults of a text by itself. */
function textFaults({ words, quad, element, field }) {
  const box = bounds(quad);
  const cut = [cutBy(box, element)].filter(Boolean);
  if (scrolledAway(box, element)) return cut;
  const ratio = contrast(element);
  const faint = ratio < LEAST_CONTRAST ? [`contrast ${ratio.toFixed(1)}`] : [];
  if (field) return [...faint, ...fieldFaults(element)];
  const onItsSide = NUMBER.test(words) && isOnItsSide(quad) ? ["number on its side"] : [];
  return [...faint, ...cut, ...onItsSide];
}

/** A text as it is seen, which may overlap another one. */
function seenText(text) {
  const { node, element, quad } = text;
  const isSvg = element instanceof SVGElement;
  const seen = node === element || isSvg ? quad : shownOf(bounds(quad), element);
  const turned = element.localName !== "canvas" && !isSvg && isTurned(element);
  return { ...text, quad: seen, box: bounds(seen), turned };
}

function overlaps(first, second, header) {
  if (first.node === second.node && first.element.localName !== "canvas") return false;
  if (first.turned || second.turned) return false; // a box of a turned text says too much
  // The page scrolls below the header.
  if (header?.contains(first.element) !== header?.contains(second.element)) return false;
  const apart = Math.hypot(first.box.left - second.box.left, first.box.top - second.box.top);
  if (first.words === second.words && apart < 2) return false; // the same text twice
  return overlap(first.quad, second.quad) > TOUCH;
}

function overlapFaults(texts) {
  const header = document.querySelector("[data-testid=stHeader]");
  const sorted = [...texts].sort((a, b) => a.box.top - b.box.top);
  return sorted.flatMap((first, i) => {
    const next = sorted.slice(i + 1);
    const end = next.findIndex((second) => second.box.top >= first.box.bottom);
    return next
      .slice(0, end < 0 ? next.length : end)
      .filter((second) => overlaps(first, second, header))
      .map((second) => `overlap: ${quote(first.words)} and ${quote(second.words)}`);
  });
}

function colourFaults(main) {
  return descendants(main)
    .filter((element) => /gradient/.test(element.getAttribute("style") ?? "") && isSeen(element))
    .filter((element) => {
      const { width, height } = element.getBoundingClientRect();
      return width < SLACK || height < SLACK;
    })
    .map((element) => `colours without size: ${quote(element.parentElement.innerText)}`);
}

/** Names in several lines, because what stands beside them takes their room. */
function nameFaults(main) {
  return descendants(main)
    .filter((element) => element.matches(NAMES) && isSeen(element))
    .filter((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      const parts = [...range.getClientRects()]; // a swatch before the name stands in its line
      const [lowest, first] = [
        Math.max(...parts.map(({ top }) => top)),
        Math.min(...parts.map((one) => one.bottom)),
      ];
      const { bottom } = element.getBoundingClientRect();
      const beside = element.nextElementSibling?.getBoundingClientRect();
      return lowest >= first - SLACK && beside?.width > 0 && beside.top < bottom - SLACK;
    })
    .map((element) => `name broken: ${quote(element.innerText)}`);
}

/** Maps that are compared, of which one is wider. */
function setFaults(main) {
  return descendants(main)
    .filter((element) => element.matches(".t-maps") && isSeen(element))
    .filter((element) => {
      const widths = [...element.children].map((map) => map.getBoundingClientRect().width);
      return Math.max(...widths) > Math.min(...widths) + SLACK;
    })
    .map((element) => `maps of unlike widths: ${quote(element.innerText)}`);
}

function pageFaults({ scrollWidth, clientWidth }) {
  const beyond = scrollWidth - clientWidth;
  return beyond > SLACK ? [`page wider than its window: ${beyond} px`] : [];
}

/** Faults as lines.  skipped: a selector of what is left out. */
window.layoutFaults = (skipped) => {
  const isChecked = (element) =>
    ![...ancestors(element, null)].some((node) => node.matches(skipped));
  const main = document.querySelector("[data-testid=stMain]");
  const app = document.querySelector("[data-testid=stApp]");
  const texts = pageTexts(app).filter(({ element }) => isChecked(element));
  const standing = texts.filter(
    ({ quad, element, field }) => !field && !scrolledAway(bounds(quad), element),
  );
  const faults = [
    ...pageFaults(main),
    ...figureFaults(main, isChecked),
    ...frameFaults(main, isChecked),
    ...listFaults(main, texts, isChecked),
    ...texts.flatMap((text) => textFaults(text).map((fault) => `${fault}: ${quote(text.words)}`)),
    ...colourFaults(main),
    ...nameFaults(main),
    ...setFaults(main),
    ...overlapFaults(standing.map(seenText)),
  ];
  return [...new Set(faults)];
};

watchCanvases();
