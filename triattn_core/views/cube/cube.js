// The cube explorer: three linked slices through one cell, with an inspector beside them.

import { make } from "../lib/elements.js";
import { spokenLabel } from "../lib/label_text.js";
import { formatNumber } from "../lib/numbers.js";
import { unpack } from "../lib/renderer/description.js";
import { DescribedFigure } from "../lib/renderer/described.js";
import { cellInSlice } from "../lib/renderer/slices.js";
import { buildInspector } from "./inspector.js";
import { isMasked, numbersAt, rowOf } from "./numbers.js";
import { listedTriples } from "./triples.js";

const EXACT = ["weight", "relevance", "raw", "rank"]; // what a file has of all its cells
const ASIDE = 12; // pixels between the slices and the inspector beside them

/** The page knows cells as positions in the trace; here they are places among what is shown. */
class CubeFigure extends DescribedFigure {
  /** The description with what only a cube has: the parts of its inspector, its listed values. */
  unpack(payload) {
    const { inspector, ...data } = unpack(payload);
    const { cells, value } = inspector.triples;
    const known = new Map(
      cells.flatMap((cell, n) => (value[n] === null ? [] : [[cell.join(), value[n]]])),
    );
    const order = Object.keys(data.axes);
    const exact = EXACT.filter((name) => name in data.panels[0].arrays);
    const roles = Object.fromEntries(order.map((axis) => [axis, data.axes[axis].title]));
    return { ...data, ...inspector, order, roles, known, exact };
  }

  build() {
    const parts = super.build();
    const inspector = make("section", { class: "inspector", "aria-label": "The chosen cell" });
    parts.outer.className = "triattn maps";
    parts.frame.className = "figure";
    parts.canvas.setAttribute("aria-roledescription", "linked slices of a cube");
    parts.frame.append(parts.hint);
    parts.outer.replaceChildren(make("div", { class: "room" }, parts.frame, inspector));
    const choose = (cell) => this.choose(cell);
    const fold = (unfolded) => this.host.send?.("unfolded", unfolded);
    const open = (cell) => rowOf(this.data, cell).open;
    this.inspector = buildInspector(inspector, this.data, choose, open, fold);
    return { ...parts, beside: inspector, below: null };
  }

  /** `kept.awaited`: the cell that the page was told, as long as it has not answered. */
  firstCell() {
    const kept = this.kept.cell && this.placesOf(this.kept.cell);
    if (!kept) Object.assign(this.kept, { awaited: null, unsent: false }); // it is not in this cube
    return kept ?? this.placesOf(this.payload.cell) ?? this.rankCells()[0] ?? [0, 0, 0];
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

  paint(ctx, place, state) {
    super.paint(ctx, place, { ...state, panel: this.kept.panel ?? 0 });
  }

  caption() {
    return `${this.payload.caption}: ${Object.values(this.payload.texts).join(" / ")}`;
  }

  // ---- the chosen cell --------------------------------------------------------------------------

  rankCells() {
    return listedTriples(this.data).cells;
  }

  pageCell(cell = this.state.cell) {
    return Object.values(this.data.axes).map(({ position }, a) => position[cell[a]]);
  }

  /** A cell from its positions in the trace; null where one is not shown. */
  placesOf(positions) {
    const axes = Object.values(this.data.axes);
    const places = axes.map(({ position }, a) => position.indexOf(positions[a]));
    return places.every((i) => i >= 0) ? places : null;
  }

  choose(cell) {
    super.choose(cell);
    if (this.host.send) this.kept.awaited = String(this.kept.cell);
  }

  /** The inspector with what is known here. */
  showCell() {
    const exact = this.data.exact.length > 0;
    const known = exact || this.data.known.has(this.state.cell.join());
    this.showNumbers(numbersAt(this.data, this.state.cell), !known, exact);
  }

  /**
   * approximate: whether the value is only that of its colour.  whole: whether all its numbers are
   * here.
   */
  showNumbers(numbers, approximate, whole = true) {
    const { cell } = this.state;
    const known = { ...numbers, cost: this.costs?.get(this.pageCell().join()) };
    this.inspector.update(cell, known, approximate, isMasked(this.data, cell));
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
    if (answer?.stamp !== this.data.stamp) return;
    if (this.kept.awaited && this.kept.awaited !== String(answer.cell)) return;
    const cell = this.placesOf(answer.cell);
    if (!cell) return;
    this.kept.awaited = null;
    this.state.cell = cell;
    this.showNumbers(answer.numbers, false);
    this.requestPaint();
  }

  /** What the answer loses without single weights, by cell as the page knows it. */
  receiveCosts() {
    const sent = window.triattnExact?.[this.host.key + "-costs"];
    if (!this.data.costed || sent?.stamp !== this.data.stamp || sent === this.sent) return;
    this.sent = sent;
    this.costs = new Map(sent.costs.map(([cell, cost]) => [cell.join(), cost]));
    this.inspector.showCosts((cell) => this.costs.get(this.pageCell(cell).join()));
    this.showNumbers(this.numbers, this.approximate, this.whole);
  }

  // ---- pointer and keys -------------------------------------------------------------------------

  press(event) {
    const cell = this.under(event);
    if (!cell) return;
    this.kept.panel = cell.spot.panel;
    this.choose(cell);
  }

  dragsTo(cell) {
    return cell.spot.panel === (this.kept.panel ?? 0);
  }

  cellForKey(event) {
    return cellInSlice(this.data, this.state.cell, this.kept.panel ?? 0, event.key);
  }

  /** The names of rows and columns that are thinned appear under the pointer. */
  hoverPaints() {
    return this.place?.thin;
  }

  /** A cell with its value; beside the cells, the whole word of a row or column and its place. */
  describe(cell) {
    const { panel, row, column } = cell.spot;
    const { axes, axisOf, panels, quantity } = this.data;
    if (row && column) {
      const words = Object.values(axes).map(({ name }, a) => name[cell[a]]);
      const value = numbersAt(this.data, cell)[quantity];
      const about = this.data.exact.length ? "" : "≈ ";
      return [`${words.join(" × ")}   ${about}${formatNumber(value)}`];
    }
    const axis = row ? panels[panel].rows : panels[panel].columns;
    const i = cell[axisOf[axis]];
    return [`${spokenLabel(axes[axis], i)}   ${axes[axis].where[i]}`];
  }
}

export const mount = (root, payload, host) => CubeFigure.mount(root, payload, host);
