"""Information in attention weights, in bits: whether the query matters, and what a cube adds to its marginals.

For a head with weights A[n,i,j] (two-way: no j), `K[n,i] = sum_j A[n,i,j]`, `C[n,j] = sum_i A[n,i,j]` and
`K_mean = mean_n K[n]`:

    query information      mean_n KL(K[n] || K_mean)       mutual information of key and query, for uniform queries;
                                                           0 if all queries attend equally, at most log2 N
    mutual information     KL(A[n] || K[n] x C[n])         I(key; context | query = n): 0 if the distribution over keys
                                                           is the same for every context token
    context information    its mean over n                 I(key; context | query), for uniform queries

In a cube that is normalised over keys alone, for each context token, contexts are uniform.  Rows are divided by their
sums; queries without weights are left out of means.  Query information is the generalised
Jensen-Shannon divergence of the rows with equal shares (Lin 1991, Eq. 5.1); mutual information: Cover and Thomas 2006,
Eq. 2.28.
"""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-9  # bits: below, a rounding error


def query_information(weights: np.ndarray) -> np.ndarray:
    """Bits [...] of weights [..., query, key]; of a cube sum over context, or flatten key and context into one axis."""
    shares, filled = row_shares(weights)
    mean = shares.sum(-2, keepdims=True) / np.maximum(filled.sum(-1), 1)[..., None, None]
    ratio = np.divide(shares, mean, out=np.ones_like(shares), where=shares > 0)
    return np.asarray(np.maximum(row_mean((shares * np.log2(ratio)).sum(-1), filled), 0.0))


def mutual_information(weights: np.ndarray) -> np.ndarray:
    """Bits [..., query] of weights [..., query, key, context]; 0 for a query without weights."""
    joint = row_shares(weights.reshape(*weights.shape[:-2], -1))[0].reshape(weights.shape)
    independent = joint.sum(-1, keepdims=True) * joint.sum(-2, keepdims=True)
    ratio = np.divide(joint, independent, out=np.ones_like(joint), where=joint > 0)
    bits = np.maximum((joint * np.log2(ratio)).sum((-2, -1)), 0.0)
    return np.where(bits < ROUNDING, 0.0, bits)


def context_information(weights: np.ndarray) -> np.ndarray:
    """Bits [...] of weights [..., query, key, context]: the mean of `mutual_information` over queries with weights."""
    return row_mean(mutual_information(weights), weights.sum((-2, -1)) > 0)


def row_shares(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows [..., query, key] divided by their sums, float64, and which of them are not empty [..., query]."""
    rows = np.clip(weights.astype(np.float64), 0.0, None)
    total = rows.sum(-1, keepdims=True)
    return np.divide(rows, total, out=np.zeros_like(rows), where=total > 0), total[..., 0] > 0


def row_mean(values: np.ndarray, filled: np.ndarray) -> np.ndarray:
    """The mean of values [..., query] over nonempty rows; 0 if there is none."""
    return np.asarray((values * filled).sum(-1) / np.maximum(filled.sum(-1), 1))
