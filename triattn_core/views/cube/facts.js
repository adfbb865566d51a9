// The exact numbers of the chosen cell.

import { formatChange, formatCount, formatNumber, formatPercent } from "../lib/numbers.js";
import { joinsCells } from "../lib/renderer/description.js";
import { COST } from "./triples.js";

export function factRows(payload, numbers) {
  const known = (value, show) => (value === undefined ? "…" : show(value));
  const { order, over, roles } = payload;
  const called = (axes) => axes.map((axis) => roles[axis]);
  const among = called(over).join(" × ");
  const outside = order.filter((axis) => !over.includes(axis));
  const each = called(outside).join(" and ");
  const rank = [
    `rank in this ${outside.join() === "query" ? each : "row"}`,
    known(numbers.rank, (r) =>
      r === null || Number.isNaN(r) ? "–" : `${formatCount(r)} of ${formatCount(numbers.of)}`,
    ),
    `Largest value first, over ${among} of this ${each}`,
  ];
  const against = [
    "against even",
    known(numbers.against, (x) => "× " + formatNumber(x)),
    "The weight over what even attention would give this cell; a group counts as many as the model's cells that it joins",
  ];
  const share = [
    "share of all mass",
    known(numbers.share, formatPercent),
    "The weight over the number of rows: each query, in each feature where it has those, holds the same mass, but for a query that may attend to nothing",
  ];
  if (payload.quantity === "weight") {
    const cost = ["cost if removed", known(numbers.cost, (x) => formatChange(x, 3)), COST];
    const score = [
      joinsCells(payload) ? "relevance, joined" : "relevance, centred",
      known(numbers.relevance, formatNumber),
      "The score before the softmax, centred: minus the mean of the scores that share its softmax; scores of a group are joined, so that it changes with the fold",
    ];
    const facts = payload.scored ? [share, against, score, rank] : [share, against, rank];
    return payload.costed ? [...facts, cost] : facts;
  }
  return [
    ["as scored", known(numbers.raw, formatNumber), "The score before the softmax, not centred"],
    ["weight", known(numbers.weight, formatNumber), payload.says.quantity],
    against,
    rank,
  ];
}
