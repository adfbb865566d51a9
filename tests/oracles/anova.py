"""Slow float64 loops for `triattn_core.analysis.maps.anova`: group means, least squares on indicators, and p log p."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

ORDER = {"query": "q", "key": "k", "context": "c", "query_key": "qk", "query_context": "qc", "key_context": "kc"}


def parts(cube):
    """The part of each set of axes at each cell of a whole cube [N][I][J]: its mean less all parts below it."""
    sizes = len(cube), len(cube[0]), len(cube[0][0])
    terms = {}
    for name, axes in [("", ""), *ORDER.items(), ("three_way", "qkc")]:
        terms[name] = np.zeros(sizes)
        for n, i, j in product(*map(range, sizes)):
            ranges = [[at] if axis in axes else range(size) for axis, at, size in zip("qkc", (n, i, j), sizes)]
            some = [cube[x][y][z] for x, y, z in product(*ranges)]
            below = [terms[term][n, i, j] for term in terms if term != name and set(ORDER.get(term, "")) <= set(axes)]
            terms[name][n, i, j] = math.fsum(some) / len(some) - math.fsum(below)
    return terms


def added(cube, keep):
    """What each set of axes adds to the sum of squares that those before it explain, over the kept cells alone."""
    cells = [at for at in product(*map(range, np.shape(cube))) if keep[at]]
    y = np.array([cube[at] for at in cells])
    columns, left, terms = [np.ones(len(cells))], None, {}
    for name, axes in [("", ""), *ORDER.items()]:
        for values in {tuple(at["qkc".index(a)] for a in axes) for at in cells}:
            columns.append(np.array([tuple(at["qkc".index(a)] for a in axes) == values for at in cells], float))
        design = np.stack(columns, 1)
        rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        before, left = left, float(rest @ rest)
        if name:
            terms[name] = before - left
    return terms | {"three_way": left}


def information(rows):
    """I(key; context) in bits of one query's weights [I][J]; 0 where there are none."""
    total = math.fsum(map(math.fsum, rows))
    if total <= 0:
        return 0.0
    key = [math.fsum(row) / total for row in rows]
    context = [math.fsum(row[j] for row in rows) / total for j in range(len(rows[0]))]
    terms = [
        p / total * math.log2(p / total / (key[i] * context[j]))
        for i, row in enumerate(rows)
        for j, p in enumerate(row)
        if p > 0
    ]
    return math.fsum(terms)
