"""Tensorized self-attention: a score for every pair of tokens and every feature (MTSA, sections 3.1 and 3.3).

R [query, key] is the token2token score, S [key, feature] the source2token score, M [query, key] the positional mask:

    T[j, i, l] = scale_t(R[j, i]) + scale_s(S[i, l]) + M[j, i]          Eq. 10
    P = softmax of T over keys i                                         Eq. 11
    s[j, l] = sum_i P[j, i, l] v[i, l]                                   Eq. 12

`tensor` builds P for inspection; `attend` computes s by matrix products alone (Algorithm 1).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import dropout, logsigmoid
from torch.utils.checkpoint import checkpoint

SCALES: dict[str, Callable[[Tensor], Tensor]] = {"log_sigmoid": logsigmoid, "identity": lambda scores: scores}
BLOCKS, LEAST_ROWS = 4, 64  # blocks of queries at most, queries in a block at least
EXACT = 1 << 22  # most elements in memory at once when rows are computed exactly


def finite_minimum(x: Tensor) -> float:
    """A finite stand-in for -inf in the type of x: a row of it has an even softmax."""
    return torch.finfo(x.dtype).min / 2


def tensor(
    R: Float[Tensor, "*b n n"],
    S: Float[Tensor, "*b n D"],
    M: Float[Tensor, "n n"],
    keep: Bool[Tensor, "*m n"],
    scale_t: str,
    scale_s: str,
) -> Float[Tensor, "*b n n D"]:
    """P [query, key, feature] of Eqs. 10 and 11: sums to one over key; zeros if a query may attend to nothing."""
    return _softmax(_rows(R, S, M, keep[..., None, :], scale_t, scale_s))


def _rows(R: Tensor, S: Tensor, M: Tensor, keep: Tensor, scale_t: str, scale_s: str) -> Tensor:
    """T [..., query, key, feature] of Eq. 10, -inf where a key may not be attended to, whatever
    its scores; `keep` in the shape of pairs."""
    allowed = keep & ~M.isneginf()
    pairs = SCALES[scale_t](torch.where(allowed, R, 0.0)) + torch.where(allowed, M, 0.0)
    features = SCALES[scale_s](torch.where(keep.mT, S, 0.0))
    return (pairs[..., None] + features[..., None, :, :]).masked_fill(~allowed[..., None], -torch.inf)


def _softmax(T: Tensor) -> Tensor:
    """Softmax over keys, the second-last axis; a query that may attend to nothing has zeros and zero gradient."""
    empty = T.isneginf().all(-2, keepdim=True)
    return T.masked_fill(empty, 0.0).softmax(-2).masked_fill(empty, 0.0)


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
    """s of Eq. 12 by matrix products: (G (v E)) / (G E), with G = exp(scale_t(R) + M), E = exp(scale_s(S)).

    Heads come first, so that each has its mask without a copy per example.
    share: the share of each of the numerator's two matrices that is dropped (Appendix A.3).  Rows whose denominator is
    too small, although they have keys, are computed exactly.
    """
    S, real = SCALES[scale_s](S), keep[..., None]
    if keep.all():
        E = S.softmax(-2)  # the normalisation cancels
    else:  # what stands at padding, infinite say, takes no part
        E = S.masked_fill(~real, finite_minimum(S)).softmax(-2) * real
        k, v = k.masked_fill(~real, 0.0), v.masked_fill(~real, 0.0)
    learns = torch.is_grad_enabled() and any(part.requires_grad for part in (q, k, v, E))
    if learns or share or E.device.type != "cpu":
        outputs, unstable = _at_once(q, k, v, E, M, keep, scale_t, share)
    else:
        outputs, unstable = _in_blocks(q, k, v, E, M, keep, scale_t)
    if not unstable.any():
        return outputs
    rows = unstable.nonzero(as_tuple=True)
    return outputs.index_put(rows, _exact_rows(q, k, S, v, M, keep, scale_t, rows).to(outputs.dtype))


def _pairs(q: Tensor, k: Tensor, M: Tensor, keep: Tensor, scale_t: str) -> Tensor:
    """G [H, B, query, key], each row up to its own factor; finite even if a query may attend to nothing."""
    R, M = q / q.shape[-1] ** 0.5 @ k.mT, M[:, None]
    closed = M.isneginf()
    finite_mask = M.masked_fill(closed, 0.0)
    if scale_t == "log_sigmoid":
        G = R.masked_fill_(closed, finite_minimum(R)).sigmoid_()  # padding is removed by E = 0
        return G * finite_mask.exp() if finite_mask.any() else G
    R = R if scale_t == "identity" else SCALES[scale_t](R)
    R = R + finite_mask if finite_mask.any() else R
    return R.masked_fill_(closed if keep.all() else closed | ~keep[:, None, :], finite_minimum(R)).softmax(-1)


def _at_once(
    q: Tensor, k: Tensor, v: Tensor, E: Tensor, M: Tensor, keep: Tensor, scale_t: str, share: float
) -> tuple[Tensor, Tensor]:
    """s, zeros in unstable rows, and [H, B, query]: whether a row is unstable, its denominator too small."""
    G, has_keys = _pairs(q, k, M, keep, scale_t), _open(M, keep)
    if share:
        numerator, denominator = dropout(G, share) @ dropout(v * E, share), G @ E
    else:
        numerator, denominator = (G @ torch.cat([v * E, E], -1)).chunk(2, -1)
    unstable = has_keys & (denominator.detach().amin(-1) < _least(denominator))
    return numerator / denominator.masked_fill((unstable | ~has_keys)[..., None], torch.inf), unstable


def _in_blocks(
    q: Tensor, k: Tensor, v: Tensor, E: Tensor, M: Tensor, keep: Tensor, scale_t: str
) -> tuple[Tensor, Tensor]:
    """As `_at_once`, without gradients: by blocks of queries, each with the keys that its mask opens, of a forward or
    backward mask hardly more than half.  The outputs of all heads of a token stand side by side in memory."""
    (H, B, n, D), closed, has_keys = E.shape, M.isneginf(), _open(M, keep)
    values = torch.cat([v * E, E], -1)
    outputs, unstable = E.new_empty(B, n, H, D).movedim(2, 0), has_keys.clone()
    size = max(LEAST_ROWS, -(-n // BLOCKS))
    for start in range(0, n, size):
        rows = slice(start, start + size)
        for heads, keys in _open_keys(closed[:, rows]) if size < n else [(slice(H), slice(n))]:
            G = _pairs(q[heads, :, rows], k[heads, :, keys], M[heads, rows, keys], keep[:, keys], scale_t)
            numerator, denominator = (G @ values[heads, :, keys]).chunk(2, -1)
            unstable[heads, :, rows] &= denominator.amin(-1) < _least(denominator)
            outputs[heads, :, rows] = numerator.div_(denominator)
    outputs[unstable | ~has_keys] = 0.0
    return outputs, unstable


def _least(denominator: Tensor) -> float:
    """The least denominator that is exact enough."""
    limits = torch.finfo(denominator.dtype)
    return limits.tiny / limits.eps


def _open_keys(closed: Tensor) -> list[tuple[slice, slice]]:
    """Heads in a row, and the keys from the first to the last that one of their queries may attend to; closed:
    [H, queries, n]."""
    is_open = (~closed.all(1)).int()
    after = (closed.shape[-1] - is_open.flip(-1).argmax(-1)) * is_open.any(-1)
    parts, head = [], 0
    for span, same in groupby(zip(is_open.argmax(-1).tolist(), after.tolist())):
        count = len(list(same))
        parts.append((slice(head, head + count), slice(*span)))
        head += count
    return parts


def _open(M: Tensor, keep: Tensor) -> Tensor:
    """[H, B, query]: whether a query is real and has a key to attend to."""
    allowed = ~M.isneginf()
    keys = keep.to(M.dtype) @ allowed.to(M.dtype).mT  # number of keys [H, B, query]
    return (keys > 0) & keep


def _exact_rows(
    q: Tensor, k: Tensor, S: Tensor, v: Tensor, M: Tensor, keep: Tensor, scale_t: str, rows: tuple[Tensor, ...]
) -> Tensor:
    """s [rows, D] of the given rows (head, example, query), from the tensor of a few rows at a time; S is scaled."""

    def attend_rows(h: Tensor, b: Tensor, j: Tensor) -> Tensor:
        R = q[h, b, j][:, None] @ k[h, b].mT / q.shape[-1] ** 0.5
        T = _rows(R, S[h, b], M[h, j][:, None], keep[b][:, None], scale_t, "identity")
        return (_softmax(T)[:, 0] * v[h, b]).sum(-2)

    size = max(1, EXACT // v[0, 0].numel())
    parts = zip(*(indices.split(size) for indices in rows))
    return torch.cat([checkpoint(attend_rows, *part, use_reentrant=False) for part in parts])
