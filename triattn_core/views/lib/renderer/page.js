// The chosen cell between a figure and its page: what the page knows it by, and the page's word.

/** A cell as the page knows it: of slices by its positions in the trace. */
export const pageCell = ({ axes, sliced }, cell) =>
  sliced ? Object.values(axes).map(({ position }, a) => position[cell[a]]) : cell;

/** A cell from its positions in the trace; null where one is not shown. */
function placesOf({ axes }, positions) {
  const places = Object.values(axes).map(({ position }, a) => position.indexOf(positions[a]));
  return places.every((i) => i >= 0) ? places : null;
}

/** The cell at first: the one that was chosen here, as far as it is there. */
export function firstCell({ data, kept, payload }) {
  if (!data.sliced) return kept.cell ?? payload.cell;
  const cell = kept.cell && placesOf(data, kept.cell);
  if (!cell) Object.assign(kept, { awaited: null, unsent: false });
  return cell ?? placesOf(data, payload.cell) ?? data.walk[0] ?? [0, 0, 0];
}

/**
 * Before anything was chosen here the page says where to stand: a link names its cell.  In a strip,
 * which shows what is chosen elsewhere there, nothing is framed below zero: the figure shows the
 * mean of all.
 */
export function receive(figure) {
  const { data, host, kept, payload, state } = figure;
  const answer = window.triattnExact?.[host.key];
  if (figure.inspect) return receiveNumbers(figure, answer);
  if (answer && payload.strip && !kept.unsent) {
    state.unchosen = answer.cell.at(-1) < 0;
    kept.cell = null;
  }
  if (answer?.blocks) {
    data.answer = answer;
    figure.showCell();
    figure.requestPaint();
  }
  if (answer?.cell && kept.cell === null) figure.moveTo(answer.cell);
}

/**
 * Beside slices the page's cell holds, unless one was chosen here meanwhile; its exact numbers, and
 * what the answer loses without single weights.
 */
function receiveNumbers(figure, answer) {
  const { data, kept, host, state } = figure;
  const sent = window.triattnExact?.[host.key + "-costs"];
  const fresh = data.costed && sent?.stamp === data.inspector.stamp && sent !== figure.sent;
  if (fresh) figure.costs = new Map(sent.costs.map(([cell, cost]) => [cell.join(), cost]));
  figure.sent = sent;
  const ours = answer?.stamp === data.inspector.stamp;
  const waits = kept.awaited && kept.awaited !== String(answer?.cell);
  const cell = ours && !waits ? placesOf(data, answer.cell) : null;
  if (cell) {
    kept.awaited = null;
    data.told = { at: String(cell), numbers: answer.numbers };
    state.cell = cell;
    figure.nameCell();
    figure.requestPaint();
  }
  if (cell || fresh) figure.showCell();
}
