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
    pairs = (SCALES[scale_t](R) + M).masked_fill(~keep, -torch.inf)
    return pairs[..., None] + SCALES[scale_s](S)[..., None, :, :]


def _softmax(T: Tensor) -> Tensor:
    """Over keys, the last axis but one; a query that may attend to nothing has zeros, and so has its gradient."""
    nothing = T.isneginf().all(-2, keepdim=True)
    return T.masked_fill(nothing, 0.0).softmax(-2).masked_fill(nothing, 0.0)


def attend(
    q: Float[Tensor, "B H n D"],
    k: Float[Tensor, "B H n D"],
    v: Float[Tensor, "B H n D"],
    S: Float[Tensor, "B H n D"],
    M: Float[Tensor, "n n"],
    keep: Bool[Tensor, "B n"],
    scale_t: str,
    scale_s: str,
    share: float = 0.0,
) -> Float[Tensor, "B H n D"]:
    """s of Eq. 12 in time and memory of matrices: (G (v E)) / (G E), with G = exp(scale_t(R) + M), E = exp(scale_s(S)).

    share: of each of the dividend's two matrices that is dropped (Appendix A.3).  Where a divisor is too small to be
    trusted although something may be attended to, that row is computed exactly.
    """
    real = keep[:, None, :, None]
    scores = SCALES[scale_s](S).masked_fill(~real, -torch.inf)
    top = scores.detach().amax(-2, keepdim=True)
    E = (scores - top.masked_fill(top.isneginf(), 0.0)).exp()
    R = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    G = _pairs(R, M, keep, scale_t)
    above = dropout(G, share) @ dropout(v * E, share) if share else G @ (v * E)
    below = G @ E
    return _ratio(above, below, lambda at: _exactly(R, S, v, M, keep, scale_t, scale_s, at), _open(M, keep))


def _pairs(R: Tensor, M: Tensor, keep: Tensor, scale_t: str) -> Tensor:
    """G [B, H, query, key], each row up to a factor of its own."""
    if scale_t == "log_sigmoid":
        return R.sigmoid() * M.exp()  # of padding E is nothing
    R = R + M.masked_fill(~keep[:, None, None, :], -torch.inf)
    top = R.detach().amax(-1, keepdim=True)
    return (R - top.masked_fill(top.isneginf(), 0.0)).exp()


def _open(M: Tensor, keep: Tensor) -> Tensor:
    """Whether a query is real and may attend to anything: [B, 1, query, 1]."""
    anything = (~M.isneginf() & keep[:, None, :]).any(-1) & keep
    return anything[:, None, :, None]


def _ratio(above: Tensor, below: Tensor, exactly: Callable[[tuple], Tensor], something: Tensor) -> Tensor:
    """above / below; zeros where there is nothing to attend to, exact rows where `below` has lost its digits."""
    kind = torch.finfo(below.dtype)
    sound = below >= kind.tiny / kind.eps
    found = (above / below.where(sound, 1.0)) * (sound & something)
    lost = (something & ~sound).any(-1)
    if not lost.any():
        return found
    at = lost.nonzero(as_tuple=True)
    return found.index_put(at, exactly(at).to(found.dtype))


def _exactly(
    R: Tensor, S: Tensor, v: Tensor, M: Tensor, keep: Tensor, scale_t: str, scale_s: str, at: tuple[Tensor, ...]
) -> Tensor:
    """s of the rows `at` (example, head, query), [rows, D], by the tensor of a few rows at a time."""

    def some(b: Tensor, h: Tensor, j: Tensor) -> Tensor:
        T = _rows(R[b, h, j][:, None], S[b, h], M[j][:, None], keep[b][:, None], scale_t, scale_s)
        return (_softmax(T)[:, 0] * v[b, h]).sum(-2)

    size = max(1, EXACT // v[0, 0].numel())
    parts = zip(*(one.split(size) for one in at))
    return torch.cat([checkpoint(some, *part, use_reentrant=False) for part in parts])
