"""Tensorized self-attention: a score for every pair of tokens and every feature (MTSA, sections 3.1 and 3.3).

R [query, key] is the token2token score, S [key, feature] the source2token score, M [query, key] the positional mask:

    T[j, i, l] = scale_t(R[j, i]) + scale_s(S[i, l]) + M[j, i]          Eq. 10
    P = softmax of T over keys i                                         Eq. 11
    s[j, l] = sum_i P[j, i, l] v[i, l]                                   Eq. 12

`tensor` builds P, to be looked at; `attend` gives s by matrix products alone (Algorithm 1).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import dropout, logsigmoid
from torch.utils.checkpoint import checkpoint

SCALES: dict[str, Callable[[Tensor], Tensor]] = {"log_sigmoid": logsigmoid, "identity": lambda scores: scores}
EXACT = 1 << 22  # numbers of a tensor that are held at once where rows are computed exactly


def lowest(x: Tensor) -> float:
    """In place of -inf among numbers of its type: a row of it is even, and finite."""
    return torch.finfo(x.dtype).min / 2


def tensor(
    R: Float[Tensor, "*b n n"],
    S: Float[Tensor, "*b n D"],
    M: Float[Tensor, "n n"],
    keep: Bool[Tensor, "*m n"],
    scale_t: str,
    scale_s: str,
) -> Float[Tensor, "*b n n D"]:
    """P [query, key, feature] of Eqs. 10 and 11: sums to one over key; zeros where a query may attend to nothing."""
    return _softmax(_rows(R, S, M, keep[..., None, :], scale_t, scale_s))


def _rows(R: Tensor, S: Tensor, M: Tensor, keep: Tensor, scale_t: str, scale_s: str) -> Tensor:
    """T [..., query, key, feature] of Eq. 10, -inf where a key may not be attended to; `keep` as the pairs."""
    pairs = torch.where(keep & ~M.isneginf(), SCALES[scale_t](R) + M, -torch.inf)
    return pairs[..., None] + SCALES[scale_s](S)[..., None, :, :]


def _softmax(T: Tensor) -> Tensor:
    """Over keys, the last axis but one; a query that may attend to nothing has zeros, and so has its gradient."""
    nothing = T.isneginf().all(-2, keepdim=True)
    return T.masked_fill(nothing, 0.0).softmax(-2).masked_fill(nothing, 0.0)


def attend(
    q: Float[Tensor, "H B n D"],
    k: Float[Tensor, "H B n D"],
    v: Float[Tensor, "H B n D"],
    S: Float[Tensor, "H B n D"],
    M: Float[Tensor, "H n n"],
    keep: Bool[Tensor, "B n"],
    scale_t: str,
    scale_s: str,
    share: float = 0.0,
) -> Float[Tensor, "H B n D"]:
    """s of Eq. 12 in time and memory of matrices: (G (v E)) / (G E), with G = exp(scale_t(R) + M), E = exp(scale_s(S)).

    Heads first: then each has its weights and its mask without a copy for every example.
    share: of each of the dividend's two matrices that is dropped (Appendix A.3).  Where a divisor is too small to be
    trusted although something may be attended to, that row is computed exactly.
    """
    S, real = SCALES[scale_s](S), keep[..., None]
    if keep.all():
        E = S.softmax(-2)  # its divisor cancels
    else:
        E = S.masked_fill(~real, lowest(S)).softmax(-2) * real
    G = _pairs(q, k, M, keep, scale_t)
    if share:
        above, below = dropout(G, share) @ dropout(v * E, share), G @ E
    else:
        above, below = (G @ torch.cat([v * E, E], -1)).chunk(2, -1)
    kind, something = torch.finfo(below.dtype), _open(M, keep)
    lost = something & (below.detach().amin(-1) < kind.tiny / kind.eps)
    found = above / below.masked_fill((lost | ~something)[..., None], torch.inf)
    if not lost.any():
        return found
    at = lost.nonzero(as_tuple=True)
    return found.index_put(at, _exactly(q, k, S, v, M, keep, scale_t, at).to(found.dtype))


def _pairs(q: Tensor, k: Tensor, M: Tensor, keep: Tensor, scale_t: str) -> Tensor:
    """G [H, B, query, key], each row up to a factor of its own; finite where a query may attend to nothing."""
    R, M = q / q.shape[-1] ** 0.5 @ k.mT, M[:, None]
    closed = M.isneginf()
    graded = M.masked_fill(closed, 0.0)
    if scale_t == "log_sigmoid":
        G = R.masked_fill_(closed, lowest(R)).sigmoid_()  # of padding E is nothing
        return G * graded.exp() if graded.any() else G
    R = (R if scale_t == "identity" else SCALES[scale_t](R)) + graded
    return R.masked_fill_(closed if keep.all() else closed | ~keep[:, None, :], lowest(R)).softmax(-1)


def _open(M: Tensor, keep: Tensor) -> Tensor:
    """Whether a query is real and may attend to anything: [H, B, query]."""
    can = ~M.isneginf()
    keys = keep.to(M.dtype) @ can.to(M.dtype).mT  # how many, [H, B, query]
    return (keys > 0) & keep


def _exactly(
    q: Tensor, k: Tensor, S: Tensor, v: Tensor, M: Tensor, keep: Tensor, scale_t: str, at: tuple[Tensor, ...]
) -> Tensor:
    """s of the rows `at` (head, example, query), [rows, D], by the tensor of a few rows at a time; S is scaled."""

    def some(h: Tensor, b: Tensor, j: Tensor) -> Tensor:
        R = q[h, b, j][:, None] @ k[h, b].mT / q.shape[-1] ** 0.5
        T = _rows(R, S[h, b], M[h, j][:, None], keep[b][:, None], scale_t, "identity")
        return (_softmax(T)[:, 0] * v[h, b]).sum(-2)

    size = max(1, EXACT // v[0, 0].numel())
    parts = zip(*(one.split(size) for one in at))
    return torch.cat([checkpoint(some, *part, use_reentrant=False) for part in parts])
