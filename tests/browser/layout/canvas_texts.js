// Notes what a page draws as text on its canvases, where no element says it.  Runs in a page before
// its own scripts.

import { transformedRectangle } from "./geometry.js";

const drawn = new WeakMap(); // by canvas, the boxes of its text in its own pixels

/** The texts of a canvas: their words, and a quadrangle in the canvas's own pixels. */
export const canvasTexts = (canvas) => drawn.get(canvas) ?? [];

function noteText(ctx, text, x, y) {
  const words = String(text);
  if (!words.trim() || !ctx.canvas.isConnected) return;
  const {
    actualBoundingBoxLeft: left,
    actualBoundingBoxRight: right,
    actualBoundingBoxAscent: up,
    actualBoundingBoxDescent: down,
  } = ctx.measureText(words);
  const quad = transformedRectangle(ctx.getTransform(), x - left, y - up, left + right, up + down);
  const [[across, top]] = quad;
  const boxes = drawn.get(ctx.canvas) ?? [];
  const again = boxes.findIndex(
    ({ words: before, quad: [[a, b]] }) => before === words && Math.hypot(a - across, b - top) < 2,
  );
  if (again >= 0) boxes.splice(again, 1);
  boxes.push({ words, quad });
  drawn.set(ctx.canvas, boxes);
}

function eraseTexts(ctx, x, y, width, height) {
  const boxes = drawn.get(ctx.canvas);
  if (!boxes) return;
  const area = transformedRectangle(ctx.getTransform(), x, y, width, height);
  const [[left, top], , [right, bottom]] = area;
  const isOutside = ({ quad: [[a, b]] }) =>
    a < left - 1 || a > right + 1 || b < top - 1 || b > bottom + 1;
  drawn.set(ctx.canvas, boxes.filter(isOutside));
}

/** Calls `before(context, …)` before each call of a context's method. */
function callBefore(name, before) {
  const context = CanvasRenderingContext2D.prototype;
  const own = context[name];
  context[name] = function (...values) {
    before(this, ...values);
    return own.apply(this, values);
  };
}

/** From now on texts on canvases are noted. */
export function watchCanvases() {
  callBefore("fillText", noteText);
  callBefore("clearRect", eraseTexts);
  callBefore("fillRect", eraseTexts);
  for (const side of ["width", "height"]) {
    const { get, set } = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
    Object.defineProperty(HTMLCanvasElement.prototype, side, {
      get,
      set(value) {
        drawn.delete(this); // a canvas of another size is empty
        set.call(this, value);
      },
    });
  }
}
