// The columns of COIN's table of numbers.

import { evenCounts } from "./model.js";
import { spokenLabel } from "../lib/label_text.js";
import { axisSize, flatIndex } from "../lib/map_data.js";
import { formatNumber, formatSigned } from "../lib/numbers.js";

/** Between which gates the middle half of a token's features lies. */
export const formatMiddleHalf = (block, q) =>
  `${block.gate_low[q].toFixed(2)}–${block.gate_high[q].toFixed(2)}`;

/** Largest first. */
const rankOf = (row, k) => 1 + row.filter((value) => value > row[k]).length;

/** Each is [name, what it means, the text for a block]. */
const weightColumns = (data, i, hasPlain) =>
  hasPlain
    ? [
        ["with context", data.says.weight, (block) => formatNumber(block.weight[i])],
        [
          "without",
          "The weight that the same states have without the context term",
          (block) => formatNumber(block.plain[i]),
        ],
        ["difference", "What context changed", (block) => formatSigned(block.changed[i])],
      ]
    : [["weight", data.says.weight, (block) => formatNumber(block.weight[i])]];

const rankColumn = (row, k) => [
  "rank",
  "1 is the largest weight of this query",
  (block) => `${rankOf(row(block.weight), k)} of ${row(block.weight).length}`,
];

const evenColumn = (i, share, all) => [
  "against even",
  `The weight over what even attention would give it: ${share} of ${all} tokens`,
  (block) => "× " + formatNumber((block.weight[i] * all) / share),
];

const bestKeyColumn = (row, key) => [
  "aligns most to",
  "The key with the largest weight, and that weight",
  (block) => {
    const weights = row(block.weight);
    const top = weights.indexOf(Math.max(...weights));
    return `${spokenLabel(key, top)} ${formatNumber(weights[top])}`;
  },
];

/** Of sentence `side`: how much of its token `from` goes to its token `to`. */
function selfColumn(data, side, from, to) {
  const axis = ["query", "key"][side];
  const [source, target] = [from, to].map((token) => spokenLabel(data.axes[axis], token));
  return [
    source === target ? `${source} in ${data.sides[side]}` : `${source} → ${target}`,
    `Self-alignment of sentence ${data.sides[side]}: the share of “${source}” that goes to “${target}”, of which its context is made`,
    (block) => formatNumber(block.own[side][from * axisSize(data, axis) + to]),
  ];
}

const gateColumns = (query, q) => [
  [
    "gate",
    `The mean over features of what “${spokenLabel(query, q)}” keeps of itself: 0 takes in, 1 keeps`,
    (block) => formatNumber(block.gate[q]),
  ],
  [
    "middle half",
    "Between these lie the gates of the middle half of the features",
    (block) => formatMiddleHalf(block, q),
  ],
];

const featureColumn = (wide, q, f) => [
  `feature ${f + 1}`,
  "The gate of this feature",
  (block) => formatNumber(block.features[q * wide + f]),
];

const spreadColumn = (all) => [
  "spread",
  `How evenly the block's weights are spread: the mean over queries of their entropy, as a share of the largest that ${all} keys allow, token by token; 1 is even, 0 one key alone`,
  (block) => formatNumber(block.spread),
];

/**
 * The columns: [name, what it means, the text for a block]; those that the model does not have are
 * left out.
 */
export function factColumns(data, cell) {
  const [q, k, , f, a, b] = cell;
  const i = flatIndex(data, cell);
  const n = axisSize(data, "key");
  const { query, key } = data.axes;
  const [share, all] = evenCounts(data, k);
  const row = (values) => values.subarray(q * n, (q + 1) * n);
  const has = (name) => data.blocks.some((block) => block?.[name]);
  const hasSelves = data.blocks.some((block) => block?.own.length);
  const score = ["score", data.says.relevance, (block) => formatNumber(block.score[i])];
  return [
    ...weightColumns(data, i, has("plain")),
    rankColumn(row, k),
    ...(data.folded ? [evenColumn(i, share, all)] : []),
    ...(has("score") ? [score] : []),
    bestKeyColumn(row, key),
    ...(hasSelves ? [selfColumn(data, 0, q, a), selfColumn(data, 1, k, b)] : []),
    ...(has("gate") ? gateColumns(query, q) : []),
    ...(has("features") ? [featureColumn(data.wide, q, f)] : []),
    spreadColumn(all),
  ];
}
