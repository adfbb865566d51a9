// Notes what a page draws as text on its canvases, where no element says it: `window.canvasTexts.boxesOf(canvas)`, the
// boxes of its text in the canvas's own pixels.  Runs in a page before its own scripts.

(() => {
  const drawn = new WeakMap(); // by canvas, the boxes of its text in its own pixels
  const context = CanvasRenderingContext2D.prototype;

  const corners = (matrix, x, y, width, height) =>
    [[x, y], [x + width, y], [x + width, y + height], [x, y + height]].map(([across, down]) => {
      const point = matrix.transformPoint({ x: across, y: down });
      return [point.x, point.y];
    });

  const wrap = (name, before) => {
    const own = context[name];
    context[name] = function (...given) {
      before(this, ...given);
      return own.apply(this, given);
    };
  };
  wrap("fillText", (ctx, text, x, y) => {
    const words = String(text);
    if (!words.trim() || !ctx.canvas.isConnected) return;
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right, actualBoundingBoxAscent: up,
      actualBoundingBoxDescent: down } = ctx.measureText(words);
    const quad = corners(ctx.getTransform(), x - left, y - up, left + right, up + down);
    const boxes = drawn.get(ctx.canvas) ?? [];
    const again = boxes.findIndex((box) => box.words === words && Math.hypot(box.quad[0][0] - quad[0][0], box.quad[0][1] - quad[0][1]) < 2);
    if (again >= 0) boxes.splice(again, 1);
    boxes.push({ words, quad });
    drawn.set(ctx.canvas, boxes);
  });
  const erase = (ctx, x, y, width, height) => {
    const boxes = drawn.get(ctx.canvas);
    if (!boxes) return;
    const [[left, top], , [right, bottom]] = corners(ctx.getTransform(), x, y, width, height);
    const kept = boxes.filter(({ quad: [[a, b]] }) => a < left - 1 || a > right + 1 || b < top - 1 || b > bottom + 1);
    drawn.set(ctx.canvas, kept);
  };
  wrap("clearRect", erase);
  wrap("fillRect", erase);
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
  window.canvasTexts = { boxesOf: (canvas) => drawn.get(canvas) ?? [], corners };
})();
