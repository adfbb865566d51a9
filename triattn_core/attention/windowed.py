"""Product attention in a causal window: each query sees the last w1 keys and the last w2 context tokens (Roy et al.
2025, arXiv 2507.02754, section 5).  Time grows as n · w1 · w2, and memory not with n beyond inputs and outputs."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad
from torch.utils.checkpoint import checkpoint

from triattn_core.inference.pause import pause

CELLS = 1 << 20  # of all windows at once: their scores, and the products of query and key, stay small
WINDOWS = 512, 32  # keys and context tokens, as in the paper


def windowed_product_attention(
    query: Float[Tensor, "*b n D"],
    key: Float[Tensor, "*b n D"],
    context: Float[Tensor, "*b n D"],
    value: Float[Tensor, "*b n D"],
    context_value: Float[Tensor, "*b n D"],
    windows: tuple[int, int] = WINDOWS,
    shifted: bool = False,
) -> Float[Tensor, "*b n D"]:
    """`sum_ij A[t,i,j] (v_i * b_j)`, A the softmax of `sum_d q_d k_d c_d / sqrt(D)` over t - w1 < i <= t and
    t - w2 < j <= t, all of one text; b is `context_value`.

    windows: w1 and w2, at least 1.  shifted: 1/D is added to context and 1 to context_value, as FBGEMM's kernels do, so
    that a context of zeros leaves two-way attention.  No cube is built, and none is kept for the gradient.  Half
    precision is summed in float32.
    Raises ValueError for a window below 1.
    """
    w1, w2 = windows
    if min(windows) < 1:
        raise ValueError(f"windows {windows}: each must hold a token at least")
    given, dtype = query.dtype, torch.promote_types(query.dtype, torch.float32)
    query, key, context, value, context_value = (
        tensor.to(dtype) for tensor in (query, key, context, value, context_value)
    )
    if shifted:
        context, context_value = context + 1 / context.shape[-1], context_value + 1
    n, scale = query.shape[-2], query.shape[-1] ** -0.5
    if not n:
        return query.to(given) * 0.0
    w1, w2 = min(w1, n), min(w2, n)
    queries, *others = (
        tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (query * scale, key, value, context, context_value)
    )
    keys, values = (_windows(tensor, w1) for tensor in others[:2])
    contexts, context_values = (_windows(tensor, w2) for tensor in others[2:])
    rows = max(1, CELLS // max(1, len(queries) * w1 * max(w2, query.shape[-1])))
    outputs = []
    for start in range(0, n, rows):
        pause()
        part = slice(start, start + rows)
        seen = torch.arange(start, min(n, start + rows), device=query.device)
        tensors = (tensor[:, part] for tensor in (queries, keys, contexts, values, context_values))
        outputs.append(checkpoint(_attend, *tensors, seen, use_reentrant=False))
    return torch.cat(outputs, 1).reshape(query.shape).to(given)


def window_mask(n: int, windows: tuple[int, int] = WINDOWS) -> Bool[Tensor, "n n n"]:
    """Which (query, key, context) a window lets attend: its cube, of texts short enough for one."""
    offset = torch.arange(n)[:, None] - torch.arange(n)
    first, second = ((offset >= 0) & (offset < window) for window in windows)
    return first[:, :, None] & second[:, None, :]


def _windows(tensor: Tensor, window: int) -> Tensor:
    """[R, n, D] → [R, n, window, D], a view: the tokens up to each, zeros before the first."""
    return pad(tensor, (0, 0, window - 1, 0)).unfold(1, window, 1).mT


def _attend(query, keys, contexts, values, context_values, places: Tensor) -> Tensor:
    """query [R, m, D], keys and values [R, m, w1, D], the context's [R, m, w2, D], places [m] → [R, m, D]."""
    (w1, w2), shape = (keys.shape[2], contexts.shape[2]), (*query.shape[:2], -1)
    scores = (query[:, :, None] * keys) @ contexts.mT
    first, second = (_before_start(places, window) for window in (w1, w2))
    scores = scores.masked_fill(first[:, :, None] | second[:, None, :], -torch.inf)
    weights = scores.reshape(shape).softmax(-1).view_as(scores)
    return ((weights @ context_values) * values).sum(2)


def _before_start(places: Tensor, window: int) -> Tensor:
    """[m, window]: which places of a query's window lie before the text."""
    return places[:, None] + torch.arange(1 - window, 1, device=places.device) < 0
