// The cube explorer: three linked slices through one cell, with an inspector beside them.

import { describeMaps, make, setLanguage } from "../lib/elements.js";
import { spokenLabel } from "../lib/label_text.js";
import { MapFigure } from "../lib/map_figure.js";
import { formatNumber } from "../lib/numbers.js";
import { walkButtons } from "../lib/walk.js";
import { buildInspector } from "./inspector.js";
import { hitPanel, layoutCube } from "./layout.js";
import {
  AXIS,
  cellForKey,
  cellOfHit,
  fromTraceCell,
  listedValue,
  numbersAt,
  toTraceCell,
  unpackCube,
} from "./model.js";
import { paintCube } from "./paint.js";
import { listedTriples } from "./triples.js";

const KEY_HELP = [["←", "→", "↑", "↓"], " in a panel, ", ["[", "]"], " through its depth. "];
const ASIDE = 12; // pixels between the slices and the inspector beside them

/** The page knows cells as positions in the trace; here they are places among what is shown. */
class CubeFigure extends MapFigure {
  unpack(payload) {
    return unpackCube(payload);
  }

  build() {
    const { payload } = this;
    const canvas = make("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "linked slices of a cube",
      "aria-label": describeMaps(payload),
    });
    setLanguage(canvas, Object.values(payload.texts).join(" "));
    const tip = make("div", { class: "tip", hidden: "" });
    const frame = make("div", { class: "figure" }, canvas, tip, this.hint());
    const inspector = make("section", { class: "inspector", "aria-label": "The chosen cell" });
    const room = make("div", { class: "room" }, frame, inspector);
    const outer = make("div", { class: "triattn maps" }, room);
    this.root.replaceChildren(outer);
    const choose = (cell) => this.choose(cell);
    const fold = (unfolded) => this.host.send?.("unfolded", unfolded);
    const open = (cell) => this.data.row(cell).open;
    this.inspector = buildInspector(inspector, payload, choose, open, fold);
    return { outer, frame, canvas, tip, beside: inspector };
  }

  hint() {
    const { over, order, quantity, roles } = this.payload;
    const third = order[2] === "feature" ? "features" : roles[order[2]];
    const help = KEY_HELP.flatMap((part) =>
      Array.isArray(part) ? part.map((key) => make("kbd", {}, key)) : [part],
    );
    const sums = quantity === "weight" ? "sums" : "log-sum-exp";
    const bars = over.includes(order[2])
      ? ` Bars: ${sums} along the drawn slice${sums === "sums" ? "" : ", centred"}.`
      : ` Bars: means over ${third}; under them the chosen pair.`;
    const walk = ["Strongest: ", ...walkButtons((by) => this.walk(by))];
    return make("p", { class: "hint" }, "Click a cell, or ", ...help, ...walk, bars);
  }

  /** The cell and the panel at first; `awaited`: the cell that the page was told. */
  firstCell() {
    const wanted = this.kept.cell ?? this.payload.cell;
    const strongest = listedTriples(this.payload).cells[0] ?? [0, 0, 0];
    this.panel = this.kept.panel ?? "qk";
    this.awaited = null;
    return (wanted && fromTraceCell(this.data, wanted)) ?? strongest;
  }

  listen() {
    super.listen();
    for (const name of ["focus", "blur"]) {
      this.on(this.canvas, name, () => {
        this.state.focus = name === "focus";
        this.requestPaint();
      });
    }
  }

  // ---- drawing ----------------------------------------------------------------------------------

  width() {
    const isInspectorBeside = this.beside.offsetTop <= this.frame.offsetTop;
    return super.width() - (isInspectorBeside ? ASIDE : 0);
  }

  layout(ctx, width) {
    return layoutCube(ctx, this.data, this.theme, width);
  }

  paint(ctx, place, state) {
    const colours = state.tables[this.payload.scale.kind];
    paintCube(ctx, this.data, place, { ...state, panel: this.panel }, this.theme, colours);
  }

  caption() {
    return `${this.payload.caption}: ${Object.values(this.payload.texts).join(" / ")}`;
  }

  // ---- the chosen cell --------------------------------------------------------------------------

  cellSizes() {
    return this.data.sizes;
  }

  rankCells() {
    return listedTriples(this.payload).cells;
  }

  pageCell() {
    return toTraceCell(this.data, this.state.cell);
  }

  choose(cell) {
    super.choose(cell);
    this.kept.panel = this.panel;
    if (this.host.send) this.awaited = String(this.kept.cell);
  }

  /** The inspector with what is known here. */
  showCell() {
    const { exact } = this.data;
    const known = exact || listedValue(this.data, this.state.cell) !== undefined;
    this.showNumbers(numbersAt(this.data, this.state.cell), !known, Boolean(exact));
  }

  /**
   * approximate: whether the value is only that of its colour.  whole: whether all its numbers are
   * here.
   */
  showNumbers(numbers, approximate, whole = true) {
    const { cell } = this.state;
    const known = { ...numbers, cost: this.costs?.get(this.pageCell().join()) };
    this.inspector.update(cell, known, approximate, this.data.masked(cell));
    Object.assign(this, { numbers, approximate, whole });
    this.canvas.dataset.cell = this.pageCell().join(".");
    this.canvas.dataset.exact = String(whole);
  }

  /**
   * The server's word: its cell holds, unless one was chosen here meanwhile; then its exact
   * numbers.
   */
  receive() {
    this.receiveCosts();
    const answer = window.triattnExact?.[this.host.key];
    if (answer?.stamp !== this.payload.stamp) return;
    if (this.awaited && this.awaited !== String(answer.cell)) return;
    const cell = fromTraceCell(this.data, answer.cell);
    if (!cell) return;
    this.awaited = null;
    this.state.cell = cell;
    this.showNumbers(answer.numbers, false);
    this.requestPaint();
  }

  /** What the answer loses without single weights, by cell as the page knows it. */
  receiveCosts() {
    const sent = window.triattnExact?.[this.host.key + "-costs"];
    if (!this.payload.costed || sent?.stamp !== this.payload.stamp || sent === this.sent) return;
    this.sent = sent;
    this.costs = new Map(sent.costs.map(([cell, cost]) => [cell.join(), cost]));
    this.inspector.showCosts((cell) => this.costs.get(toTraceCell(this.data, cell).join()));
    this.showNumbers(this.numbers, this.approximate, this.whole);
  }

  // ---- pointer and keys -------------------------------------------------------------------------

  /** The cell under a point, with the panel it is in and the part: a cell, a row or a column. */
  hit(x, y) {
    const spot = hitPanel(this.place, x, y);
    return spot && Object.assign(cellOfHit(this.data, this.state.cell, spot), { spot });
  }

  press(event) {
    const cell = this.under(event);
    if (!cell) return;
    this.panel = cell.spot.name;
    this.choose(cell);
  }

  dragsTo(cell) {
    return cell.spot.name === this.panel;
  }

  cellForKey(event) {
    return cellForKey(this.data, this.state.cell, this.panel, event.key);
  }

  /** The names of rows and columns that are thinned appear under the pointer. */
  hoverPaints() {
    return this.place?.thin;
  }

  /** A cell with its value; beside the cells, the whole word of a row or column and its place. */
  describe(cell) {
    const { name, r, c } = cell.spot;
    if (r !== undefined && c !== undefined) {
      const words = cell.map((i, a) => this.data.axes[a].name[i]).join(" × ");
      const value = numbersAt(this.data, cell)[this.payload.quantity];
      return [`${words}   ${this.data.exact ? "" : "≈ "}${formatNumber(value)}`];
    }
    const [row, column] = this.data.panels[name];
    const axis = AXIS[r !== undefined ? row : column];
    const tokens = this.data.axes[axis];
    return [`${spokenLabel(tokens, cell[axis])}   ${tokens.where[cell[axis]]}`];
  }
}

export const mount = (root, payload, host) => CubeFigure.mount(root, payload, host);
