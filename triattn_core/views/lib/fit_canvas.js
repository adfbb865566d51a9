// Canvases with sharp pixels.

/** A canvas sized for sharp pixels; returns its context in CSS pixels, cleared. */
export function fitCanvas(canvas, width, height, density = window.devicePixelRatio || 1) {
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  Object.assign(canvas.style, { width: width + "px", height: height + "px" });
  const ctx = canvas.getContext("2d");
  ctx.setTransform(density, 0, 0, density, 0, 0);
  return ctx;
}
