// The texts of a page, and where they are in the window.

import { canvasTexts } from "./canvas_texts.js";
import { isSeen, textNodes } from "./elements.js";
import { rectangle, transformPoint, transformedRectangle } from "./geometry.js";

/** The lines of a text as quadrangles, without the empty space above and below the letters. */
function linesOf(node) {
  const element = node.parentElement;
  const matrix = element instanceof SVGElement && element.getScreenCTM?.();
  if (matrix && element.getBBox) {
    const { a, b, c, d, e, f } = matrix;
    const { x, y, width, height } = element.getBBox();
    const place = new DOMMatrix([a, b, c, d, e, f]);
    return [transformedRectangle(place, x, y + height / 6, width, (height * 2) / 3)];
  }
  const range = document.createRange();
  range.selectNodeContents(node);
  return [...range.getClientRects()]
    .filter(({ width, height }) => width > 1 && height > 1)
    .map(({ left, right, top, bottom, height }) =>
      rectangle({ left, right, top: top + height / 5, bottom: bottom - height / 5 }),
    );
}

function textsOfCanvas(canvas) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const place = new DOMMatrix([width / canvas.width, 0, 0, height / canvas.height, left, top]);
  return canvasTexts(canvas).map(({ words, quad }) => ({
    words,
    quad: quad.map((corner) => transformPoint(place, corner)),
  }));
}

function textsOf(node, element) {
  if (element.localName === "canvas") return textsOfCanvas(element);
  if (node === element)
    return [
      { words: element.value, field: true, quad: rectangle(element.getBoundingClientRect()) },
    ];
  return linesOf(node).map((quad) => ({ words: node.data.trim(), quad }));
}

/** The texts that are seen: words, quad, node and element; `field` where they are typed. */
export function pageTexts(under) {
  const texts = [];
  for (const node of textNodes(under)) {
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    if (!element || !isSeen(element)) continue;
    texts.push(...textsOf(node, element).map((text) => ({ ...text, node, element })));
  }
  return texts;
}
