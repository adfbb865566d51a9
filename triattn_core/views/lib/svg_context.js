// An SVG through a context that writes down what is drawn.

const FONT_SIZE = /([\d.]+)px/;
const THIN = 7; // pixels: smaller cells that touch would show seams where they are smoothed
const ANCHORS = { left: "start", center: "middle", right: "end" };

const round = (x) => Math.round(x * 100) / 100;

const quote = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const rectangle = (x, y, w, h) => ({ x: round(x), y: round(y), width: round(w), height: round(h) });

/** The part of CanvasRenderingContext2D that the figures use, as SVG elements. */
export class SvgContext {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  font = "13px sans-serif";
  textAlign = "left";
  textBaseline = "alphabetic";
  globalAlpha = 1;
  dash = [];

  #width;
  #height;
  #ruler = document.createElement("canvas").getContext("2d");
  #elements = [];
  #stack = [];
  #path = "";
  #moves = [];

  constructor(width, height) {
    this.#width = width;
    this.#height = height;
  }

  /** The whole drawing, as text. */
  text() {
    const [width, height] = [this.#width, this.#height];
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${this.#elements.join("\n")}</svg>`;
  }

  #add(tag, own, text = "") {
    const attributes = {
      ...own,
      ...(this.#moves.length ? { transform: this.#moves.join(" ") } : {}),
      ...(this.globalAlpha < 1 ? { opacity: this.globalAlpha } : {}),
    };
    const pairs = Object.entries(attributes).map(([name, value]) => `${name}="${quote(value)}"`);
    this.#elements.push(`<${tag} ${pairs.join(" ")}>${quote(text)}</${tag}>`);
  }

  // ---- rectangles and paths ---------------------------------------------------------------------

  #strokeAttributes() {
    return {
      fill: "none",
      stroke: this.strokeStyle,
      "stroke-width": this.lineWidth,
      ...(this.dash.length ? { "stroke-dasharray": this.dash.join(" ") } : {}),
    };
  }

  fillRect(x, y, w, h) {
    const edges = Math.max(w, h) < THIN ? { "shape-rendering": "crispEdges" } : {};
    this.#add("rect", { ...rectangle(x, y, w, h), fill: this.fillStyle, ...edges });
  }

  strokeRect(x, y, w, h) {
    this.#add("rect", { ...rectangle(x, y, w, h), ...this.#strokeAttributes() });
  }

  beginPath() {
    this.#path = "";
  }

  moveTo(x, y) {
    this.#path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x, y) {
    this.#path += `L${round(x)} ${round(y)}`;
  }

  /** A whole circle: the figures draw no other arc. */
  arc(x, y, r) {
    this.#path += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
  }

  closePath() {
    this.#path += "Z";
  }

  fill() {
    this.#add("path", { d: this.#path, fill: this.fillStyle });
  }

  stroke() {
    this.#add("path", { d: this.#path, ...this.#strokeAttributes() });
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  // ---- text -------------------------------------------------------------------------------------

  measureText(text) {
    this.#ruler.font = this.font;
    return this.#ruler.measureText(text);
  }

  fillText(text, x, y) {
    const drop =
      this.textBaseline === "middle" ? 0.35 * parseFloat(this.font.match(FONT_SIZE)[1]) : 0;
    // The length holds the layout where the user's machine has another font.
    const length = text
      ? { textLength: round(this.measureText(text).width), lengthAdjust: "spacingAndGlyphs" }
      : {};
    const place = { x: round(x), y: round(y + drop), fill: this.fillStyle };
    const style = "white-space:pre;font:" + this.font;
    this.#add("text", { ...place, style, "text-anchor": ANCHORS[this.textAlign], ...length }, text);
  }

  // ---- state ------------------------------------------------------------------------------------

  save() {
    this.#stack.push([{ ...this }, [...this.#moves]]);
  }

  restore() {
    const [styles, moves] = this.#stack.pop();
    Object.assign(this, styles);
    this.#moves = moves;
  }

  translate(x, y) {
    this.#moves.push(`translate(${round(x)} ${round(y)})`);
  }

  rotate(angle) {
    this.#moves.push(`rotate(${round((angle * 180) / Math.PI)})`);
  }
}
