"""What is said of the tensor of one MTSA head, written out as slow loops in float64: Hellinger distances of features,
a profile over features, and the sum behind one cell."""

from __future__ import annotations

import numpy as np

from tests.oracles.tensorized import SCALES

Array = np.ndarray


def hellinger(P: Array, a: int, b: int) -> float:
    """Twice the squared Hellinger distance of two features' maps, summed over queries; P [query, key, feature]."""
    n, m, _ = P.shape
    return sum((np.sqrt(P[j, i, a]) - np.sqrt(P[j, i, b])) ** 2 for j in range(n) for i in range(m))


def prototype(P: Array, members: list[int]) -> Array:
    """The mean map of some features [query, key]."""
    n, m, _ = P.shape
    return np.array([[sum(P[j, i, f] for f in members) / len(members) for i in range(m)] for j in range(n)])


def terms(R: Array, S: Array, M: Array, cell: tuple[int, int, int], scale_t: str, scale_s: str) -> dict[str, float]:
    """Eqs. 10 and 11 for one cell (query, key, feature), term by term; nothing flows where M is -inf."""
    j, i, f = cell
    scores = [SCALES[scale_t](R[j, k]) + SCALES[scale_s](S[k, f]) + M[j, k] for k in range(len(R))]
    whole = float(np.logaddexp.reduce(scores))
    parts = {"token2token": SCALES[scale_t](R[j, i]), "source2token": SCALES[scale_s](S[i, f]), "mask": M[j, i]}
    return parts | {"score": scores[i], "whole": whole, "probability": float(np.exp(scores[i] - whole))}
