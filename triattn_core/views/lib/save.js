// Saving a canvas figure in the browser: PNG at twice the size, and SVG.  No server and no network
// take part.

import { make } from "./elements.js";
import { fitCanvas } from "./fit_canvas.js";
import { SvgContext } from "./svg_context.js";

function saveBlob(name, blob) {
  const link = make("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/**
 * Saves what `paint(ctx)` draws on `width` × `height`, with a margin, as `name`.png or `name`.svg.
 */
export function saveFigure(format, name, width, height, page, paint, margin = 16) {
  const wide = width + 2 * margin;
  const high = height + 2 * margin;
  const canvas = document.createElement("canvas");
  const ctx = format === "svg" ? new SvgContext(wide, high) : fitCanvas(canvas, wide, high, 2);
  ctx.fillStyle = page;
  ctx.fillRect(0, 0, wide, high);
  ctx.translate(margin, margin);
  paint(ctx);
  if (format === "svg")
    return saveBlob(name + ".svg", new Blob([ctx.text()], { type: "image/svg+xml" }));
  canvas.toBlob((blob) => saveBlob(name + ".png", blob), "image/png");
}

/**
 * Answers the page's Export buttons: `triattn-export` with {format, name, figure}.  Returns what
 * stops it.
 */
export function onExport(key, save) {
  const listen = ({ detail }) => detail.figure === key && save(detail.format, detail.name);
  window.addEventListener("triattn-export", listen);
  return () => window.removeEventListener("triattn-export", listen);
}
