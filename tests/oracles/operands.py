"""Slow float64 loops for `tasks.operands`, `models.operands` and `training.operands`, from their definitions."""

from __future__ import annotations

import math


def fits(values, result, tolerance=0.01):
    """The pairs (i, j), i < j, that make a result by a sum, a difference, a product or a quotient."""
    found = []
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            a, b = values[i], values[j]
            made = [a + b, a - b, b - a, a * b] + ([a / b] if b else []) + ([b / a] if a else [])
            if any(abs(value - result) <= tolerance * max(min(abs(result), 1.0), 1e-9) for value in made):
                found.append((i, j))
    return found


def waves(value, octaves, periods):
    """Cosines, then sines, of the turns of log10 of a value and of the value itself."""
    turns = [math.log10(value) * 0.1 * 2**k for k in range(octaves)] + [value / period for period in periods]
    return [math.cos(2 * math.pi * turn) for turn in turns] + [math.sin(2 * math.pi * turn) for turn in turns]


def cube(q, k, c, strassen=False):
    """Weights [I][J] of one head, of one query [D], keys [I][D] and context [J][D]; no weight on the diagonal."""
    size, features = len(k), len(q)
    scores = {}
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            score = 0.0
            for d in range(features):
                if strassen:
                    score += q[d] * k[i][d] + q[d] * c[j][d] + k[i][d] * c[j][d]
                else:
                    score += q[d] * k[i][d] * c[j][d]
            scores[i, j] = score / math.sqrt(features)
    total = sum(math.exp(score) for score in scores.values())
    return [[math.exp(scores[i, j]) / total if i != j else 0.0 for j in range(size)] for i in range(size)]


def products(first, second):
    """The pairs [n][n] of two distributions [heads][n]: each head's product without its diagonal, then their mean."""
    size, heads = len(first[0]), len(first)
    cells = [[0.0] * size for _ in range(size)]
    for one, two in zip(first, second):
        total = sum(one[i] * two[j] for i in range(size) for j in range(size) if i != j)
        for i in range(size):
            for j in range(size):
                if i != j:
                    cells[i][j] += one[i] * two[j] / total / heads
    return cells


def operations(cells, answers, vectors, answer_of, by):
    """Probabilities of the operations, of one row.

    cells: [n][n], the weight of each ordered pair.  vectors: the vector [D] of each pair (i, j), i < j, by its
    positions.  answers: the probabilities [operations] that each such pair alone would give.  answer_of: probabilities
    of any vector.  by: where the mean is taken: `mean` of vectors, `choice` of the heaviest pair alone, `pairs` of
    answers.
    """
    weights = {pair: cells[pair[0]][pair[1]] + cells[pair[1]][pair[0]] for pair in vectors}
    if by == "pairs":
        count = len(next(iter(answers.values())))
        return [sum(weights[pair] * answers[pair][o] for pair in weights) for o in range(count)]
    if by == "choice":
        heaviest = max(weights, key=lambda pair: weights[pair])
        return answer_of(vectors[heaviest])
    size = len(next(iter(vectors.values())))
    return answer_of([sum(weights[pair] * vectors[pair][d] for pair in weights) for d in range(size)])
