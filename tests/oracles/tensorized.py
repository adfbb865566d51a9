"""Sections 3.1 and 3.2 of Shen et al., "Tensorized Self-Attention", written out as slow loops in float64.

One example and one head: q, k [n, D_i], v [n, D], S [n, D]; `keep` [n] says which tokens are real.  i is the token that
is attended to (the dependent), j the one that attends (the governor).  Written from the paper, never from the package.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def log_sigmoid(x: float) -> float:
    return -float(np.logaddexp(0.0, -x))


SCALES = {"identity": lambda x: float(x), "log_sigmoid": log_sigmoid}


def token2token(q: Array, k: Array) -> Array:
    """Eq. 8: f^t(k_i, q_j), as [j, i]."""
    return np.array([[sum(k[i] * q[j]) / np.sqrt(len(q[j])) for i in range(len(k))] for j in range(len(q))])


ACTIVATIONS = {"relu": lambda x: max(0.0, x), "elu": lambda x: x if x > 0 else np.exp(x) - 1}


def source2token(k: Array, W1: Array, b1: Array, W2: Array, b2: Array, act: str = "relu") -> Array:
    """Eq. 9: f^s(k_i), as [i, l]."""
    return np.array([W2 @ [ACTIVATIONS[act](x) for x in W1 @ one + b1] + b2 for one in k])


def mask(name: str, n: int, include_self: bool) -> Array:
    """M as [j, i], from the text: forward lets j see what stands before it, backward what stands after it."""
    M = np.zeros((n, n))
    for j in range(n):
        for i in range(n):
            if name == "forward" and i > j or name == "backward" and i < j:
                M[j, i] = -np.inf
            if name.startswith("window:") and abs(i - j) > int(name[7:]):
                M[j, i] = -np.inf
            if name == "distance":
                M[j, i] = -abs(i - j)
            if i == j and not include_self and name != "none":
                M[j, i] = -np.inf
    return M


def weights(R: Array, S: Array, M: Array, keep: Array, scale_t: str, scale_s: str) -> Array:
    """Eqs. 10 and 11: P as [j, i, l]; zeros where j may attend to nothing."""
    n, D = S.shape
    P = np.zeros((n, n, D))
    for j in range(n):
        for l in range(D):
            open_ = [i for i in range(n) if keep[i] and not np.isneginf(M[j, i])]
            if not open_:
                continue
            scores = [SCALES[scale_t](R[j, i]) + SCALES[scale_s](S[i, l]) + M[j, i] for i in open_]
            whole = np.logaddexp.reduce(scores)
            for i, score in zip(open_, scores):
                P[j, i, l] = np.exp(score - whole)
    return P


def attended(P: Array, v: Array, keep: Array) -> Array:
    """Eq. 12: s as [j, l]; zeros for a governor that is not real."""
    n, D = v.shape
    return np.array(
        [[sum(P[j, i, l] * v[i, l] for i in range(n)) if keep[j] else 0.0 for l in range(D)] for j in range(n)]
    )
