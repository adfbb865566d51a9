// Saving a canvas figure in the browser: PNG at twice the size, and SVG through a context that writes down what is
// drawn.  No server and no network take part.

/** The part of CanvasRenderingContext2D that draw.js uses, as SVG elements. */
function svgContext(width, height) {
  const measure = document.createElement("canvas").getContext("2d");
  const out = [], stack = [];
  let path = "", moves = [];
  const quote = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const round = (x) => Math.round(x * 100) / 100;
  const state = { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "13px sans-serif", textAlign: "left", textBaseline: "alphabetic", globalAlpha: 1, dash: [] };
  const add = (tag, attributes, text = "") => {
    const all = { ...attributes, ...(moves.length ? { transform: moves.join(" ") } : {}), ...(state.globalAlpha < 1 ? { opacity: state.globalAlpha } : {}) };
    out.push(`<${tag} ${Object.entries(all).map(([k, v]) => `${k}="${quote(v)}"`).join(" ")}>${quote(text)}</${tag}>`);
  };
  const pen = () => ({ fill: "none", stroke: state.strokeStyle, "stroke-width": state.lineWidth, ...(state.dash.length ? { "stroke-dasharray": state.dash.join(" ") } : {}) });
  const box = (x, y, w, h) => ({ x: round(x), y: round(y), width: round(w), height: round(h) });
  return Object.assign(state, {
    // Small cells that touch would show seams where they are smoothed.
    fillRect: (x, y, w, h) => add("rect", { ...box(x, y, w, h), fill: state.fillStyle, ...(Math.max(w, h) < 7 ? { "shape-rendering": "crispEdges" } : {}) }),
    strokeRect: (x, y, w, h) => add("rect", { ...box(x, y, w, h), ...pen() }),
    beginPath: () => { path = ""; },
    moveTo: (x, y) => { path += `M${round(x)} ${round(y)}`; },
    lineTo: (x, y) => { path += `L${round(x)} ${round(y)}`; },
    arc: (x, y, r) => { path += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; },
    closePath: () => { path += "Z"; },
    fill: () => add("path", { d: path, fill: state.fillStyle }),
    stroke: () => add("path", { d: path, ...pen() }),
    setLineDash: (dash) => { state.dash = dash; },
    measureText: (text) => { measure.font = state.font; return measure.measureText(text); },
    fillText(text, x, y) {
      const anchor = { left: "start", center: "middle", right: "end" }[state.textAlign];
      const drop = state.textBaseline === "middle" ? 0.35 * parseFloat(state.font.match(/([\d.]+)px/)[1]) : 0;
      measure.font = state.font;
      // The length holds the layout where the reader's machine has another font.
      const length = text ? { textLength: round(measure.measureText(text).width), lengthAdjust: "spacingAndGlyphs" } : {};
      add("text", { x: round(x), y: round(y + drop), fill: state.fillStyle, style: "white-space:pre;font:" + state.font, "text-anchor": anchor, ...length }, text);
    },
    save: () => stack.push([{ ...state }, [...moves]]),
    restore() { const [old, then] = stack.pop(); Object.assign(state, old); moves = then; },
    translate: (x, y) => moves.push(`translate(${round(x)} ${round(y)})`),
    rotate: (angle) => moves.push(`rotate(${round((angle * 180) / Math.PI)})`),
    text: () => `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${out.join("\n")}</svg>`,
  });
}

function saveBlob(name, blob) {
  const link = make("a", { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Saves what `paint(ctx)` draws on `width` × `height`, with a margin, as `name`.png or `name`.svg. */
function saveFigure(format, name, width, height, page, paint, margin = 16) {
  const wide = width + 2 * margin, high = height + 2 * margin, canvas = document.createElement("canvas");
  const ctx = format === "svg" ? svgContext(wide, high) : fitCanvas(canvas, wide, high, 2);
  ctx.fillStyle = page;
  ctx.fillRect(0, 0, wide, high);
  ctx.translate(margin, margin);
  paint(ctx);
  if (format === "svg") return saveBlob(name + ".svg", new Blob([ctx.text()], { type: "image/svg+xml" }));
  canvas.toBlob((blob) => saveBlob(name + ".png", blob), "image/png");
}

/** Answers the page's Export buttons: `triattn-export` with {format, name, figure}.  Returns what stops it. */
function onExport(key, save) {
  const listen = ({ detail }) => detail.figure === key && save(detail.format, detail.name);
  window.addEventListener("triattn-export", listen);
  return () => window.removeEventListener("triattn-export", listen);
}
