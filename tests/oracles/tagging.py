"""Deep taggers, their decoding and their scoring as slow loops in float64, one sentence at a time.

The network is that of Tan et al. 2018 (section 3, feed-forward variant) with the attention of Shen et al. 2019; scores
are those of CoNLL-2005 (Carreras and Màrquez 2005).  Written from the papers, never from the package.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from tests.oracles import tensorized
from tests.oracles.systems import linear, under

Array = np.ndarray
Weights = dict[str, Array]


def norm(x: Array, W: Weights, name: str) -> Array:
    """Layer normalisation (Ba et al. 2016), a token at a time."""
    rows = [(row - row.mean()) / np.sqrt(row.var() + 1e-5) for row in x]
    return np.array(rows) * W[f"{name}.weight"] + W[f"{name}.bias"]


def mtsa(x: Array, W: Weights, heads: int) -> Array:
    """Section 3.2 of Shen et al.: forward heads, then backward ones, identity scales."""
    n, outputs = len(x), []
    q, k, v = (linear(x, W, name) for name in ("query", "key", "value"))
    size = q.shape[1] // heads
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        first, second = under(W, "source2token.first"), under(W, "source2token.second")
        S = tensorized.source2token(
            k[:, part],
            first["weight"][head].T,
            first["bias"][head, 0],
            second["weight"][head].T,
            second["bias"][head, 0],
        )
        M = tensorized.mask("forward" if head < heads // 2 else "backward", n, False)
        keep = np.ones(n, bool)
        P = tensorized.weights(tensorized.token2token(q[:, part], k[:, part]), S, M, keep, "identity", "identity")
        outputs.append(tensorized.attended(P, v[:, part], keep))
    return linear(np.concatenate(outputs, 1), W, "out")


def layer(x: Array, W: Weights, heads: int) -> Array:
    """A feed-forward sublayer, then an attention sublayer: each y = LayerNorm(x + Sublayer(x))."""
    x = norm(x + linear(np.maximum(linear(x, W, "first"), 0.0), W, "second"), W, "norms.0")
    return norm(x + mtsa(x, under(W, "fusion"), heads), W, "norms.1")


def tagger(vectors: Array, predicate: int, W: Weights, layers: int, heads: int) -> Array:
    """Scores of tags [n, T] of word vectors [n, h]."""
    x = linear(vectors, W, "input")
    x[predicate] = x[predicate] + W["mark"]
    for i in range(layers):
        x = layer(x, under(W, f"layers.{i}"), heads)
    return linear(x, W, "predict")


def well_formed(tags: tuple[str, ...]) -> bool:
    """I-X only after B-X or I-X."""
    for i, tag in enumerate(tags):
        if tag.startswith("I-") and (i == 0 or tags[i - 1] not in ("B-" + tag[2:], tag)):
            return False
    return True


def best_tags(scores: Array, tags: tuple[str, ...]) -> tuple[str, ...]:
    """The best of all well-formed sequences, every one tried."""
    totals = {
        tuple(tags[t] for t in sequence): sum(scores[i, t] for i, t in enumerate(sequence))
        for sequence in product(range(len(tags)), repeat=len(scores))
    }
    return max((sequence for sequence in totals if well_formed(sequence)), key=totals.__getitem__)


def roles_of_words(tags: tuple[str, ...]) -> list[tuple[str, frozenset[tuple[int, ...]]]]:
    """CoNLL-2005's arguments: label, and the set of its phrases, each the words that it holds.

    A phrase C-X belongs to the X that began last; without one it is an X.  The predicate's own, V, is left out.
    """
    phrases: list[tuple[str, list[int]]] = []
    for i, tag in enumerate(tags):
        if tag.startswith("B-"):
            phrases.append((tag[2:], [i]))
        elif tag.startswith("I-"):
            phrases[-1][1].append(i)
    arguments: list[tuple[str, list[tuple[int, ...]]]] = []
    for label, words in phrases:
        plain = label[2:] if label.startswith("C-") else label
        heads = [argument for argument in arguments if argument[0] == plain]
        if label.startswith("C-") and heads:
            heads[-1][1].append(tuple(words))
        else:
            arguments.append((plain, [tuple(words)]))
    return [(label, frozenset(words)) for label, words in arguments if label != "V"]


def score(gold: list[tuple[str, ...]], predicted: list[tuple[str, ...]]) -> dict[str, float]:
    """Precision, recall, F1 and perfect propositions in per cent, over propositions."""
    correct = excess = missed = perfect = 0
    for right, said in zip(gold, predicted):
        truth, guess = roles_of_words(right), roles_of_words(said)
        hits = sum(argument in truth for argument in guess)
        correct, excess, missed = correct + hits, excess + len(guess) - hits, missed + len(truth) - hits
        perfect += hits == len(guess) == len(truth)
    precision, recall = 100 * correct / (correct + excess), 100 * correct / (correct + missed)
    return {
        "f1": 2 * precision * recall / (precision + recall),
        "precision": precision,
        "recall": recall,
        "complete": 100 * perfect / len(gold),
    }
