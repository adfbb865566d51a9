// The contrast of a text with its ground (WCAG 2).

import { ancestors } from "./elements.js";

const WHITE = [255, 255, 255];

export const isOpaque = (colour) => !/^(transparent|rgba\(.*, 0\))$/.test(colour);

const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);

function luminance(colour) {
  const [r, g, b] = colour.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The colour behind a text, or null where it is no plain one. */
function groundOf(element) {
  const layers = [];
  for (const node of ancestors(element, null)) {
    const { backgroundImage, backgroundColor, opacity } = getComputedStyle(node);
    if (backgroundImage !== "none" || parseFloat(opacity) < 1) return null;
    if (!isOpaque(backgroundColor)) continue;
    if (!backgroundColor.startsWith("rgb")) return null;
    const [r, g, b, a = 1] = channels(backgroundColor);
    layers.unshift([r, g, b, a]);
    if (a === 1) break;
  }
  return layers.reduce(
    (under, [r, g, b, a]) => [r, g, b].map((c, i) => a * c + (1 - a) * under[i]),
    WHITE,
  );
}

/** From 1 to 21, or undefined where the text or what is behind it has no plain colour. */
export function contrast(element) {
  const { color } = getComputedStyle(element);
  if (!color.startsWith("rgb") || element instanceof SVGElement || element.localName === "canvas")
    return undefined;
  const ground = groundOf(element);
  if (!ground) return undefined;
  const ink = channels(color).slice(0, 3);
  const [high, low] = [luminance(ground), luminance(ink)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}
