// A figure of maps that is described by marks (figure.py), drawn and made to answer.

import { describeMaps, make, setLanguage } from "../elements.js";
import { MapFigure } from "../map_figure.js";
import { walkButtons } from "../walk.js";
import { describeCell } from "./description.js";
import { buildInspector } from "./inspector.js";
import { fillAbove, fillBlocks } from "./reading.js";
import { fillReadout } from "./readout.js";
import { describeSlice } from "./slices.js";

/* global THEMES */ // the colours, which figure.py writes before this script: no payload has them

const CHANGE = 150; // milliseconds
const ASIDE = 12; // pixels between slices and the inspector beside them

/** Panels that share their coordinates: one crosshair in all of them, its numbers below. */
export class DescribedFigure extends MapFigure {
  /** What a new payload changes comes in gently, where the user has nothing against motion. */
  static mount(root, payload, host) {
    const again = root.triattn !== undefined;
    const stop = super.mount(root, payload, host);
    if (again && !matchMedia("(prefers-reduced-motion: reduce)").matches)
      root.querySelector("canvas").animate({ opacity: [0.3, 1] }, CHANGE);
    return stop;
  }

  constructor(root, payload, host, kept) {
    super(root, { ...payload, themes: THEMES }, host, kept);
  }

  // ---- what stands around the canvas -----------------------------------------------------------

  build() {
    const { alt, texts, strip, above, notes, inspector } = this.payload;
    const canvas = make("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": inspector ? "linked slices of a cube" : "maps",
      "aria-label": describeMaps({ alt, texts }),
    });
    setLanguage(canvas, Object.values(texts).join(" "));
    const tip = make("div", { class: "tip", hidden: "" });
    const frame = make("div", { class: "frame" }, canvas, tip);
    if (inspector) return this.buildBeside(canvas, tip, frame);
    const heard = make("div", { class: "heard", "aria-live": "polite" });
    const parts = {
      above: above && make("div", { class: "above" }),
      frame,
      below: !strip && make("div", { class: "below" }),
      notes: notes && make("p", { class: "sentence notes" }, notes),
      hint: strip ? make("p") : this.hint(),
      heard,
    };
    const outer = make("div", { class: strip ? "strip maps" : "side maps" });
    outer.append(...Object.values(parts).filter(Boolean));
    this.root.replaceChildren(outer);
    return { ...parts, outer, canvas, tip };
  }

  /** Slices, and beside them their inspector. */
  buildBeside(canvas, tip, frame) {
    const beside = make("section", { class: "inspector", "aria-label": "The chosen cell" });
    const outer = make("div", { class: "triattn maps" });
    frame.className = "figure";
    frame.append(this.hint());
    outer.append(make("div", { class: "room" }, frame, beside));
    this.root.replaceChildren(outer);
    const fold = (unfolded) => this.host.send?.("unfolded", unfolded);
    this.inspect = buildInspector(beside, this.data, (cell) => this.choose(cell), fold);
    return { outer, frame, canvas, tip, beside };
  }

  width() {
    const isBeside = this.beside && this.beside.offsetTop <= this.frame.offsetTop;
    return super.width() - (isBeside ? ASIDE : 0);
  }

  hint() {
    const { keys, walks } = this.data;
    const arrows = ["←", "→", "↑", "↓"];
    const help = ["Click a cell, or step with ", arrows, ...[keys].flat(), ` ${walks}: `];
    const parts = help.flatMap((part) =>
      Array.isArray(part) ? part.map((key) => make("kbd", {}, key)) : [part],
    );
    return make("p", { class: "hint" }, ...parts, ...walkButtons((by) => this.walk(by)));
  }

  /** The cell at first: the one that was chosen here, as far as it is there. */
  firstCell() {
    const { data, kept, payload } = this;
    if (!data.sliced) return this.inside(kept.cell ?? payload.cell);
    const cell = kept.cell && this.placesOf(kept.cell);
    if (!cell) Object.assign(kept, { awaited: null, unsent: false });
    return cell ?? this.placesOf(payload.cell) ?? data.walk[0] ?? [0, 0, 0];
  }

  /** A cell as the page knows it: of slices by its positions in the trace. */
  pageCell(cell = this.state.cell) {
    const { axes, sliced } = this.data;
    return sliced ? Object.values(axes).map(({ position }, a) => position[cell[a]]) : cell;
  }

  /** A cell from its positions in the trace; null where one is not shown. */
  placesOf(positions) {
    const axes = Object.values(this.data.axes);
    const places = axes.map(({ position }, a) => position.indexOf(positions[a]));
    return places.every((i) => i >= 0) ? places : null;
  }

  describe(cell) {
    return (cell.spot ? describeSlice : describeCell)(this.data, cell);
  }

  showCell() {
    const { data, state, place, canvas } = this;
    if (this.inspect) {
      this.inspect(state.cell, (cell) => this.costs?.get(this.pageCell(cell).join()));
      const exact = "rank" in data.panels[0].arrays || data.told?.at === String(state.cell);
      canvas.dataset.exact = String(exact);
      return;
    }
    if (this.above) fillAbove(this.above, data, state.cell);
    if (data.blocks) fillBlocks(this.below, data, state.cell, place);
    else if (this.below) fillReadout(this.below, data, state.cell, this.theme);
  }

  /** Blocks stand under their maps. */
  afterLayout() {
    if (this.data.blocks) this.showCell();
  }

  choose(cell) {
    this.state.unchosen = false;
    super.choose(cell);
    if (this.heard) this.heard.textContent = this.describe(this.state.cell).join(", ");
  }

  // ---- the page's word; a strip shows what is chosen elsewhere there ---------------------------

  /** The chosen cell of a page is that of its figure: a strip names a place of its own. */
  nameCell() {
    if (!this.payload.strip) return super.nameCell();
    this.canvas.dataset.head = this.state.unchosen ? "" : this.state.cell.join(".");
  }

  /**
   * Before anything was chosen here the page says where to stand: a link names its cell.  In a
   * strip nothing is framed below zero: the figure shows the mean of all.
   */
  receive() {
    const answer = window.triattnExact?.[this.host.key];
    if (this.inspect) return this.receiveNumbers(answer);
    if (answer && this.payload.strip && !this.kept.unsent) {
      this.state.unchosen = answer.cell.at(-1) < 0;
      this.kept.cell = null;
    }
    if (answer?.blocks) {
      this.data.answer = answer;
      this.showCell();
      this.requestPaint();
    }
    if (answer?.cell && this.kept.cell === null) this.moveTo(answer.cell);
  }

  /**
   * Beside slices the page's cell holds, unless one was chosen here meanwhile; its exact numbers,
   * and what the answer loses without single weights.
   */
  receiveNumbers(answer) {
    const { data, kept } = this;
    const sent = window.triattnExact?.[this.host.key + "-costs"];
    const fresh = data.costed && sent?.stamp === data.inspector.stamp && sent !== this.sent;
    if (fresh) this.costs = new Map(sent.costs.map(([cell, cost]) => [cell.join(), cost]));
    this.sent = sent;
    const ours = answer?.stamp === data.inspector.stamp;
    const waits = kept.awaited && kept.awaited !== String(answer?.cell);
    const cell = ours && !waits ? this.placesOf(answer.cell) : null;
    if (cell) {
      kept.awaited = null;
      data.told = { at: String(cell), numbers: answer.numbers };
      this.state.cell = cell;
      this.nameCell();
      this.requestPaint();
    }
    if (cell || fresh) this.showCell();
  }
}
