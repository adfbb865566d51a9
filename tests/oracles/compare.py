"""Slow float64 loops for `triattn_core.analysis.compare`, written from the equations, one cell at a time."""

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
