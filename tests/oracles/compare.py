"""Slow float64 loops for `triattn_core.analysis.maps.compare`, written from the equations, one cell at a time."""

from __future__ import annotations

import math


def marginal(cube):
    """W[n][i] = sum_j A[n][i][j]."""
    return [[math.fsum(cell) for cell in row] for row in cube]


def joined(cube):
    """R[n][i] = log sum_j exp S[n][i][j]."""
    return [[_log_sum_exp(cell) for cell in row] for row in cube]


def _log_sum_exp(scores):
    finite = [score for score in scores if score > -math.inf]
    if not finite:
        return -math.inf
    top = max(finite)
    return top + math.log(math.fsum(math.exp(score - top) for score in finite))


def centred(matrix):
    """Each row less the mean of its finite cells; a row without one is zeros."""
    result = []
    for row in matrix:
        finite = [value for value in row if math.isfinite(value)]
        mean = math.fsum(finite) / len(finite) if finite else 0.0
        result.append([value - mean for value in row] if finite else [0.0] * len(row))
    return result


def softmax(row):
    """exp over its sum; zeros where everything is masked."""
    total = _log_sum_exp(row)
    return [math.exp(value - total) if total > -math.inf else 0.0 for value in row]


def entropy(row):
    """-sum p log2 p of a row divided by its sum."""
    total = math.fsum(row)
    return -math.fsum(p / total * math.log2(p / total) for p in row if p > 0) if total > 0 else 0.0


def jensen_shannon(left, right):
    """Half KL(P||M) plus half KL(Q||M), M the mean of P and Q; 0 where one of them is empty."""
    if math.fsum(left) <= 0 or math.fsum(right) <= 0:
        return 0.0
    p = [value / math.fsum(left) for value in left]
    q = [value / math.fsum(right) for value in right]
    terms = []
    for a, b in zip(p, q, strict=True):
        terms += [share * math.log2(share / ((a + b) / 2)) for share in (a, b) if share > 0]
    return math.fsum(terms) / 2


def rank(row):
    """The place of each cell when the row is sorted downwards, equal cells on the better place; 0 in an empty row."""
    if not any(value > 0 for value in row):
        return [0] * len(row)
    order = sorted(row, reverse=True)
    return [order.index(value) + 1 for value in row]


def overlap(left, right, k):
    """How many of the k strongest keys of both rows are the same, of equal weights the first."""
    tops = [sorted(range(len(row)), key=lambda i: (-row[i], i))[:k] for row in (left, right)]
    return sum(i in tops[1] for i in tops[0])


def between_seeds(maps, n, i):
    """The greatest difference of one cell between any two of the maps."""
    return max(abs(a[n][i] - b[n][i]) for a in maps for b in maps)


def parts(spans, length):
    """Tokens belong together where no place of the text is free of tokens that go on over it, in all tokenizers."""
    free = [p for p in range(length + 1) if not any(a < p < b for one in spans for a, b in one)]
    clusters = [[max(p for p in free if p <= a) for a, _ in one] for one in spans]
    order = sorted({c for cluster in clusters for c in cluster})
    return [[order.index(c) for c in cluster] for cluster in clusters]


def in_parts(weights, queries, keys):
    """mean over the queries of a part of the sum over the keys of a part; queries, keys: the part of each token."""
    sums = [[0.0] * (max(keys) + 1) for _ in range(max(queries) + 1)]
    for n, m in enumerate(queries):
        for i, part in enumerate(keys):
            sums[m][part] += weights[n][i] / queries.count(m)
    return sums


def kappa(left, right):
    """(observed - expected agreement) / (1 - expected), from the answers of two, one row at a time."""
    rows = len(left)
    same = sum(a == b for a, b in zip(left, right)) / rows
    chance = sum(left.count(one) / rows * right.count(one) / rows for one in set(left) | set(right))
    return (same - chance) / (1 - chance)
