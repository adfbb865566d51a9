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
  const best = (values) => {
    const weights = row(values);
    const top = weights.indexOf(Math.max(...weights));
    return `${spokenLabel(key, top)} ${formatNumber(weights[top])}`;
  };
  const has = (name) => data.blocks.some((block) => block?.[name]);
  const selves = data.blocks.some((block) => block?.own.length);
  const own = (s, axis, from, to) => [
    `${spokenLabel(data.axes[axis], from)} → ${spokenLabel(data.axes[axis], to)}`,
    `Self-alignment of sentence ${data.sides[s]}: the share of “${spokenLabel(data.axes[axis], from)}” that goes to “${spokenLabel(data.axes[axis], to)}”, of which its context is made`,
    (block) => formatNumber(block.own[s][from * axisSize(data, axis) + to]),
  ];
  return [
    [
      has("plain") ? "with context" : "weight",
      data.says.weight,
      (block) => formatNumber(block.weight[i]),
    ],
    ...(has("plain")
      ? [
          [
            "without",
            "The weight that the same states have without the context term",
            (block) => formatNumber(block.plain[i]),
          ],
          ["difference", "What context changed", (block) => formatSigned(block.changed[i])],
        ]
      : []),
    [
      "rank",
      "1 is the largest weight of this query",
      (block) => `${rankOf(row(block.weight), k)} of ${n}`,
    ],
    ...(data.folded
      ? [
          [
            "against even",
            `The weight over what even attention would give it: ${share} of ${all} tokens`,
            (block) => "× " + formatNumber((block.weight[i] * all) / share),
          ],
        ]
      : []),
    ...(has("score")
      ? [["score", data.says.relevance, (block) => formatNumber(block.score[i])]]
      : []),
    [
      "aligns most to",
      "The key with the largest weight, and that weight",
      (block) => best(block.weight),
    ],
    ...(selves ? [own(0, "query", q, a), own(1, "key", k, b)] : []),
    ...(has("gate")
      ? [
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
        ]
      : []),
    ...(has("features")
      ? [
          [
            `feature ${f + 1}`,
            "The gate of this feature",
            (block) => formatNumber(block.features[q * data.wide + f]),
          ],
        ]
      : []),
    [
      "spread",
      `How evenly the block's weights are spread: the mean over queries of their entropy, as a share of the largest that ${all} keys allow, token by token; 1 is uniform, 0 one key alone`,
      (block) => formatNumber(block.spread),
    ],
  ];
}
