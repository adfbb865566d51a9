// Finds text that is cut off, lies outside of the window or of its card, or overlaps other text; cells and figures
// outside of the window; numbers on their side; lists that scroll without a sign of it; and a page that is wider than
// its window.
// Runs in a page before its own scripts, after canvas_texts.js, which notes the text on canvases.

(() => {
  const SLACK = 3; // pixels that edges may be off
  const TOUCH = 2; // pixels that two texts may share
  const LEAST_CONTRAST = 3; // of text and ground
  const FIGURES = "canvas, svg, img, iframe, td, th";
  const NUMBER = /^[+−-]?\d[\d.,]*%?$/;
  const { boxesOf, corners } = window.canvasTexts;

  const visit = function* (under) {
    for (const node of under.childNodes) {
      if (node.nodeType === Node.TEXT_NODE && node.data.trim()) yield node;
      else if (node.nodeType === Node.ELEMENT_NODE && node.localName !== "style" && node.localName !== "script") {
        if (node.localName === "canvas" || node.localName === "input" || node.localName === "textarea") yield node;
        if (node.shadowRoot) yield* visit(node.shadowRoot);
        yield* visit(node);
      }
    }
  };
  const every = (under) => [...under.querySelectorAll("*")];
  const parentOf = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  const rectangle = ({ left, top, right, bottom }) => [[left, top], [right, top], [right, bottom], [left, bottom]];
  const bounds = (quad) => {
    const xs = quad.map(([x]) => x), ys = quad.map(([, y]) => y);
    return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  };

  /** By how many pixels two convex quadrangles overlap: along the axis on which they do so least. */
  const overlap = (one, two) => {
    let least = Infinity;
    for (const quad of [one, two]) {
      for (const i of [0, 1]) {
        const [ax, ay] = quad[i], [bx, by] = quad[i + 1], length = Math.hypot(bx - ax, by - ay) || 1;
        const along = ([x, y]) => ((bx - ax) * x + (by - ay) * y) / length;
        const [a, b] = [one.map(along), two.map(along)];
        least = Math.min(least, Math.min(Math.max(...a), Math.max(...b)) - Math.max(Math.min(...a), Math.min(...b)));
      }
    }
    return least;
  };

  /** The lines of a text as quadrangles in the window, without the empty space above and below the letters. */
  const linesOf = (node) => {
    const element = node.parentElement, range = document.createRange();
    range.selectNodeContents(node);
    const matrix = element instanceof SVGElement && element.getScreenCTM?.();
    if (matrix && element.getBBox) {
      const { x, y, width, height } = element.getBBox();
      return [corners(new DOMMatrix([matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f]), x, y + height / 6, width, height * 2 / 3)];
    }
    return [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1).map((line) => {
      const cut = line.height / 5;
      return rectangle({ left: line.left, right: line.right, top: line.top + cut, bottom: line.bottom - cut });
    });
  };
  const turned = (element) => {
    for (let one = element; one && one !== document.body; one = parentOf(one))
      if (/rotate|matrix/.test(getComputedStyle(one).transform) && !/matrix\(1, 0, 0, 1/.test(getComputedStyle(one).transform)) return true;
    return false;
  };

  const isOpaque = (colour) => !/^(transparent|rgba\(.*, 0\))$/.test(colour);
  /** Where a text ends that is not seen whole: the reason, or undefined. */
  const cutBy = (box, element) => {
    let scrolls = { x: false, y: false }, floats = false;
    for (let one = element; one && one !== document.documentElement; one = parentOf(one)) {
      const style = getComputedStyle(one), inside = one.getBoundingClientRect();
      if (floats && style.position === "static") continue;
      if (style.position === "fixed") floats = true;
      if ((style.display === "inline" && one.localName !== "canvas") || style.display === "contents" || one instanceof SVGElement) continue;
      const over = {
        x: box.left < inside.left - SLACK || box.right > inside.right + SLACK,
        y: box.top < inside.top - SLACK || box.bottom > inside.bottom + SLACK,
      };
      for (const axis of ["x", "y"]) {
        const overflow = axis === "x" ? style.overflowX : style.overflowY;
        const isPage = one.dataset.testid === "stMain"; // a page scrolls down, never to the side
        if ((overflow === "auto" || overflow === "scroll") && !(isPage && axis === "x")) {
          if (axis === "x" && over.x && box.left < inside.right - SLACK && box.right > inside.left + SLACK) return "cut at the edge of what scrolls";
          scrolls[axis] = true;
        }
        if (scrolls[axis] || !over[axis]) continue;
        if (one.localName === "canvas" || overflow === "hidden" || overflow === "clip") {
          const said = axis === "x" && style.textOverflow === "ellipsis" && one.closest("[title]");
          if (!said) return "cut off";
        }
        const edged = ["Top", "Right", "Bottom", "Left"].every((side) => parseFloat(style[`border${side}Width`]) > 0 && isOpaque(style[`border${side}Color`]));
        if (edged) return "outside of its frame";
      }
    }
    const width = document.documentElement.clientWidth;
    if (!scrolls.x && (box.left < -SLACK || box.right > width + SLACK)) return "outside of the window";
    return undefined;
  };
  /** What is left of a text where an element cuts it, with an ellipsis say. */
  const shownOf = (box, element) => {
    const shown = { ...box };
    for (let one = element; one && one !== document.documentElement; one = parentOf(one)) {
      const style = getComputedStyle(one), inside = one.getBoundingClientRect();
      if (style.overflowX === "visible" || style.display === "inline" || style.display === "contents") continue;
      shown.left = Math.max(shown.left, inside.left);
      shown.right = Math.max(shown.left, Math.min(shown.right, inside.right));
    }
    return rectangle(shown);
  };
  const isSeen = (element) => {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) return false;
    for (let one = element; one && one !== document.body; one = parentOf(one)) {
      const { width, height } = one.getBoundingClientRect(), style = getComputedStyle(one);
      if (style.display !== "contents" && style.overflow !== "visible" && (width <= 1 || height <= 1)) return false; // for screen readers
      if (style.clipPath === "inset(50%)" || style.clip === "rect(0px, 0px, 0px, 0px)") return false;
    }
    return true;
  };
  /** What of a box is seen within the elements that scroll it. */
  const scrolledAway = (box, element) => {
    for (let one = element; one && one !== document.documentElement; one = parentOf(one)) {
      if (one.dataset.testid === "stMain") return false; // what is below the window's edge is read once the page scrolls
      if (getComputedStyle(one).overflow === "visible") continue;
      const inside = one.getBoundingClientRect();
      if (box.right < inside.left + SLACK || box.left > inside.right - SLACK || box.bottom < inside.top + SLACK || box.top > inside.bottom - SLACK) return true;
    }
    return false;
  };

  /** The texts of the page: their words, quadrangle, element, and whether they stand still when the page scrolls. */
  const texts = (under) => {
    const found = [];
    for (const node of visit(under)) {
      const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
      if (!element || !isSeen(element)) continue;
      if (element.localName === "canvas") {
        const { left, top, width, height } = element.getBoundingClientRect();
        const place = new DOMMatrix([width / element.width, 0, 0, height / element.height, left, top]);
        for (const { words, quad } of boxesOf(element))
          found.push({ words, element, node, quad: quad.map(([x, y]) => { const p = place.transformPoint({ x, y }); return [p.x, p.y]; }) });
      } else if (node === element) {
        found.push({ words: element.value, element, node, field: true, quad: rectangle(element.getBoundingClientRect()) });
      } else {
        for (const quad of linesOf(node)) found.push({ words: node.data.trim(), element, node, quad });
      }
    }
    return found;
  };

  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  /** The contrast of a text with what is behind it (WCAG 2), or undefined where that is no plain colour. */
  const contrast = (element) => {
    const style = getComputedStyle(element), ink = channels(style.color), layers = [];
    if (!style.color.startsWith("rgb") || element instanceof SVGElement || element.localName === "canvas") return undefined;
    for (let one = element; one; one = parentOf(one)) {
      const behind = getComputedStyle(one);
      if (behind.backgroundImage !== "none" || parseFloat(behind.opacity) < 1) return undefined;
      if (!isOpaque(behind.backgroundColor)) continue;
      if (!behind.backgroundColor.startsWith("rgb")) return undefined;
      const [r, g, b, a = 1] = channels(behind.backgroundColor);
      layers.unshift([r, g, b, a]);
      if (a === 1) break;
    }
    const ground = layers.reduce((under, [r, g, b, a]) => [r, g, b].map((c, i) => a * c + (1 - a) * under[i]), [255, 255, 255]);
    const [high, low] = [luminance(ground), luminance(ink)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };

  const isOnItsSide = ([[ax, ay], [bx, by]]) => Math.abs(by - ay) > Math.abs(bx - ax);
  /** The cells and figures of the page. */
  const figures = function* (under) {
    for (const element of every(under)) {
      if (element.matches(FIGURES) && !element.parentElement.closest("svg")) yield element;
      if (element.shadowRoot) yield* figures(element.shadowRoot);
    }
  };

  /** The elements that scroll down and show no sign of it: no edge that fades, no bar that is always there. */
  const lists = function* (under) {
    for (const element of every(under)) {
      if (element.shadowRoot) yield* lists(element.shadowRoot);
      const { overflowY, maskImage, backgroundAttachment } = getComputedStyle(element);
      const scrolls = (overflowY === "auto" || overflowY === "scroll") && element.scrollHeight > element.clientHeight + SLACK;
      const edge = element.getBoundingClientRect();
      const fades = /rgba\(0, 0, 0, 0\)/.test(maskImage) || /local/.test(backgroundAttachment);
      const hasBar = edge.width - element.clientWidth > SLACK && getComputedStyle(element).scrollbarGutter === "auto";
      if (scrolls && !fades && !hasBar && element.localName !== "textarea") yield element;
    }
  };

  /** Faults as lines.  skipped: a selector of what is left out. */
  window.layoutFaults = (skipped) => {
    const isChecked = (element) => {
      for (let one = element; one; one = parentOf(one)) if (one.matches(skipped)) return false;
      return true;
    };
    const all = texts(document.querySelector("[data-testid=stApp]")).filter(({ element }) => isChecked(element));
    const faults = new Set(), say = (words) => JSON.stringify(words.slice(0, 60));
    const main = document.querySelector("[data-testid=stMain]");
    if (main.scrollWidth > main.clientWidth + SLACK) faults.add(`page wider than its window: ${main.scrollWidth - main.clientWidth} px`);
    for (const element of figures(main)) {
      if (!isChecked(element) || !isSeen(element)) continue;
      const why = cutBy(element.getBoundingClientRect(), element);
      const words = element.innerText || element.getAttribute("aria-label") || element.closest("[aria-label]")?.ariaLabel;
      if (why) faults.add(`${element.localName} ${why}: ${say(words || element.parentElement.className)}`);
    }
    const holds = (list, element) => { for (let one = element; one; one = parentOf(one)) if (one === list) return true; return false; };
    for (const list of lists(main)) {
      if (!isChecked(list) || !isSeen(list)) continue;
      const edge = list.getBoundingClientRect();
      const hidden = all.find(({ quad, element }) => bounds(quad).bottom > edge.bottom + SLACK && holds(list, element));
      if (hidden) faults.add(`goes on below its edge unseen: ${say(hidden.words)}`);
    }
    const kept = [];
    for (const text of all) {
      const box = bounds(text.quad);
      if (scrolledAway(box, text.element)) { const why = cutBy(box, text.element); if (why) faults.add(`${why}: ${say(text.words)}`); continue; }
      const seen = contrast(text.element);
      if (seen < LEAST_CONTRAST) faults.add(`contrast ${seen.toFixed(1)}: ${say(text.words)}`);
      if (text.field) {
        if (text.element.scrollWidth > text.element.clientWidth + SLACK) faults.add(`field too narrow: ${say(text.words)}`);
        if (text.element.scrollHeight > text.element.clientHeight + SLACK) faults.add(`field too low: ${say(text.words)}`);
        continue;
      }
      const why = cutBy(box, text.element);
      if (why) faults.add(`${why}: ${say(text.words)}`);
      if (NUMBER.test(text.words) && isOnItsSide(text.quad)) faults.add(`number on its side: ${say(text.words)}`);
      const quad = text.node === text.element || text.element instanceof SVGElement ? text.quad : shownOf(box, text.element);
      kept.push({ ...text, box: bounds(quad), quad, turned: text.element.localName !== "canvas" && !(text.element instanceof SVGElement) && turned(text.element) });
    }
    for (const element of every(main))
      if (/gradient/.test(element.getAttribute("style") ?? "") && isSeen(element)) {
        const { width, height } = element.getBoundingClientRect();
        if (width < SLACK || height < SLACK) faults.add(`colours without size: ${say(element.parentElement.innerText)}`);
      }
    kept.sort((a, b) => a.box.top - b.box.top);
    const header = document.querySelector("[data-testid=stHeader]");
    kept.forEach((one, i) => {
      for (let j = i + 1; j < kept.length && kept[j].box.top < one.box.bottom; j++) {
        const two = kept[j];
        if (one.node === two.node && one.element.localName !== "canvas") continue;
        if (one.turned || two.turned) continue; // a box of a turned text says too much
        if (header?.contains(one.element) !== header?.contains(two.element)) continue; // the page scrolls below it
        const twice = one.words === two.words && Math.hypot(one.box.left - two.box.left, one.box.top - two.box.top) < 2;
        if (!twice && overlap(one.quad, two.quad) > TOUCH) faults.add(`overlap: ${say(one.words)} and ${say(two.words)}`);
      }
    });
    return [...faults];
  };
})();
