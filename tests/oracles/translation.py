"""Transformers for translation, beam search and alignment error as slow loops in float64, one sentence at a time.

The network is that of Vaswani et al. 2017 (section 3), the encoder's attention that of the tagger's oracle or plain
multi-head; written from the papers, never from the package.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from tests.oracles.systems import linear, under
from tests.oracles.tagging import mtsa, norm

Array = np.ndarray
Weights = dict[str, Array]


def embedded(ids: list[int], W: Weights) -> Array:
    """Section 3.4 and 3.5: vectors times sqrt(d), plus sinusoids."""
    d = W["table.weight"].shape[1]
    rows = []
    for position, token in enumerate(ids):
        angles = [position / 10_000 ** (2 * (i // 2) / d) for i in range(d)]
        wave = np.array([math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(angles)])
        rows.append(W["table.weight"][token] * math.sqrt(d) + wave)
    return np.array(rows)


def attention(x: Array, memory: Array, W: Weights, heads: int, causal: bool = False) -> tuple[Array, Array]:
    """Section 3.2: the output, and the weights [head, query, key]."""
    q, k, v = linear(x, W, "query"), linear(memory, W, "key"), linear(memory, W, "value")
    size, output = q.shape[1] // heads, np.zeros(q.shape)
    weights = np.zeros((heads, len(x), len(memory)))
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        for t in range(len(x)):
            seen = range(t + 1) if causal else range(len(memory))
            scores = np.array([sum(q[t, part] * k[j, part]) / math.sqrt(size) for j in seen])
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            for j, share in zip(seen, shares):
                weights[head, t, j] = share
                output[t, part] += share * v[j, part]
    return linear(output, W, "out"), weights


def feed_forward(x: Array, W: Weights) -> Array:
    return linear(np.maximum(linear(x, W, "first"), 0.0), W, "second")


def encode(ids: list[int], W: Weights, layers: int, heads: int, mechanism: str) -> Array:
    x = embedded(ids, W)
    for i in range(layers):
        V = under(W, f"encoder.{i}")
        part = under(V, "attention")
        mixed = mtsa(x, part, heads) if mechanism == "mtsa" else attention(x, x, part, heads)[0]
        x = norm(x + mixed, V, "norms.0")
        x = norm(x + feed_forward(x, under(V, "feed_forward")), V, "norms.1")
    return x


def scores(source: list[int], target: list[int], W: Weights, layers: int, heads: int, mechanism: str) -> Array:
    """Scores [m, words] of the sub-word after each of `target`."""
    memory, x = encode(source, W, layers, heads, mechanism), embedded(target, W)
    for i in range(layers):
        V = under(W, f"decoder.{i}")
        x = norm(x + attention(x, x, under(V, "attention"), heads, causal=True)[0], V, "norms.0")
        x = norm(x + attention(x, memory, under(V, "cross"), heads)[0], V, "norms.1")
        x = norm(x + feed_forward(x, under(V, "feed_forward")), V, "norms.2")
    return x @ W["table.weight"].T + W["bias"]


def best_sequences(
    log_probability, words: int, start: int, end: int, longest: int, alpha: float
) -> list[tuple[float, tuple[int, ...]]]:
    """Every sequence of at most `longest` words with its score, best first.

    log_probability(prefix, word); ((5 + length) / 6) ^ alpha with the end mark counted (Wu et al. 2016, Eq. 14); a
    sequence of `longest` words counts also without an end.
    """
    found = []
    others = [word for word in range(words) if word != end]
    for length in range(longest + 1):
        for sequence in product(others, repeat=length):
            total, prefix = 0.0, (start,)
            for word in sequence:
                total += log_probability(prefix, word)
                prefix = (*prefix, word)
            if length == longest:
                found.append((total / ((5 + length) / 6) ** alpha, sequence))
            else:
                ended = total + log_probability(prefix, end)
                found.append((ended / ((5 + length + 1) / 6) ** alpha, sequence))
    return sorted(found, reverse=True)


def alignment_error(rows: list[tuple[set, set, set]]) -> float:
    """Och and Ney 2000: 1 - (|A and S| + |A and P|) / (|A| + |S|) over all sentences; rows of hard links A, sure S and
    possible P, where P holds S too."""
    hits_sure = hits_possible = links = sure_links = 0
    for found, sure, possible in rows:
        for link in found:
            links += 1
            hits_sure += link in sure
            hits_possible += link in possible or link in sure
        sure_links += len(sure)
    return 1 - (hits_sure + hits_possible) / (links + sure_links)
