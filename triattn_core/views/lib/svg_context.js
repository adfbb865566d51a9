// An SVG through a context that writes down what is drawn.

/** The part of CanvasRenderingContext2D that draw.js uses, as SVG elements. */
export function createSvgContext(width, height) {
  const measure = document.createElement("canvas").getContext("2d");
  const out = [];
  const stack = [];
  let path = "";
  let moves = [];
  const quote = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const round = (x) => Math.round(x * 100) / 100;
  const state = {
    fillStyle: "#000",
    strokeStyle: "#000",
    lineWidth: 1,
    font: "13px sans-serif",
    textAlign: "left",
    textBaseline: "alphabetic",
    globalAlpha: 1,
    dash: [],
  };
  const add = (tag, attributes, text = "") => {
    const all = {
      ...attributes,
      ...(moves.length ? { transform: moves.join(" ") } : {}),
      ...(state.globalAlpha < 1 ? { opacity: state.globalAlpha } : {}),
    };
    out.push(
      `<${tag} ${Object.entries(all)
        .map(([k, v]) => `${k}="${quote(v)}"`)
        .join(" ")}>${quote(text)}</${tag}>`,
    );
  };
  const pen = () => ({
    fill: "none",
    stroke: state.strokeStyle,
    "stroke-width": state.lineWidth,
    ...(state.dash.length ? { "stroke-dasharray": state.dash.join(" ") } : {}),
  });
  const box = (x, y, w, h) => ({ x: round(x), y: round(y), width: round(w), height: round(h) });
  return Object.assign(state, {
    // Small cells that touch would show seams where they are smoothed.
    fillRect: (x, y, w, h) =>
      add("rect", {
        ...box(x, y, w, h),
        fill: state.fillStyle,
        ...(Math.max(w, h) < 7 ? { "shape-rendering": "crispEdges" } : {}),
      }),
    strokeRect: (x, y, w, h) => add("rect", { ...box(x, y, w, h), ...pen() }),
    beginPath: () => {
      path = "";
    },
    moveTo: (x, y) => {
      path += `M${round(x)} ${round(y)}`;
    },
    lineTo: (x, y) => {
      path += `L${round(x)} ${round(y)}`;
    },
    arc: (x, y, r) => {
      path += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    },
    closePath: () => {
      path += "Z";
    },
    fill: () => add("path", { d: path, fill: state.fillStyle }),
    stroke: () => add("path", { d: path, ...pen() }),
    setLineDash: (dash) => {
      state.dash = dash;
    },
    measureText: (text) => {
      measure.font = state.font;
      return measure.measureText(text);
    },
    fillText(text, x, y) {
      const anchor = { left: "start", center: "middle", right: "end" }[state.textAlign];
      const drop =
        state.textBaseline === "middle" ? 0.35 * parseFloat(state.font.match(/([\d.]+)px/)[1]) : 0;
      measure.font = state.font;
      // The length holds the layout where the user's machine has another font.
      const length = text
        ? { textLength: round(measure.measureText(text).width), lengthAdjust: "spacingAndGlyphs" }
        : {};
      add(
        "text",
        {
          x: round(x),
          y: round(y + drop),
          fill: state.fillStyle,
          style: "white-space:pre;font:" + state.font,
          "text-anchor": anchor,
          ...length,
        },
        text,
      );
    },
    save: () => stack.push([{ ...state }, [...moves]]),
    restore() {
      const [old, then] = stack.pop();
      Object.assign(state, old);
      moves = then;
    },
    translate: (x, y) => moves.push(`translate(${round(x)} ${round(y)})`),
    rotate: (angle) => moves.push(`rotate(${round((angle * 180) / Math.PI)})`),
    text: () =>
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${out.join("\n")}</svg>`,
  });
}
