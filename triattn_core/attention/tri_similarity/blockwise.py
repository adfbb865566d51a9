"""The product form of `p · tanh(pair + context)` without a compiler, in blocks that stay in a core's cache.

With `r = 1 / (1 + exp(2 pair) exp(2 context))` the score is `sum(p) - 2 sum_d p_d r_d`, and its slope in `pair` and
in `context` is `4 p_d r_d (1 - r_d)`: the backward pass recomputes each block of r; nothing of size [M, J, D] is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from triattn_core.inference.pause import pause

CHUNK = 1 << 18  # elements of a block


class Score(torch.autograd.Function):
    """pair [R, M, D], context [R, J, D], p [R, D], all in float32 and bounded, to scores [R, M, J]."""

    @staticmethod
    def forward(ctx, pair: Tensor, context: Tensor, p: Tensor) -> Tensor:
        ctx.save_for_backward(pair, context, p)
        left, right = torch.exp(2 * pair), torch.exp(2 * context)
        scores = pair.new_empty(*pair.shape[:2], context.shape[1])
        for rows, cells, r in _reciprocals(left, right):
            scores[rows, cells] = (r.flatten(1, 2) @ p[rows, :, None]).view(r.shape[:3])
        return scores.mul_(-2).add_(p.sum(-1)[:, None, None])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        pair, context, p = ctx.saved_tensors
        left, right, grad = torch.exp(2 * pair), torch.exp(2 * context), grad.contiguous()
        of_pair, of_context, of_r = torch.empty_like(pair), torch.zeros_like(context), torch.zeros_like(p)
        for rows, cells, r in _reciprocals(left, right):
            g = grad[rows, cells]
            if ctx.needs_input_grad[2]:  # not if parameters are frozen, as in attribution
                of_r[rows] += (g.flatten(1)[:, None] @ r.flatten(1, 2))[:, 0]
            slope = r.addcmul_(r, r, value=-1)
            of_pair[rows, cells] = (g[..., None, :] @ slope)[..., 0, :]  # the sum over context as a product
            of_context[rows] += slope.mul_(g[..., None]).sum(1)
        scale = 4 * p[:, None]
        of_p = grad.sum((1, 2))[:, None] - 2 * of_r if ctx.needs_input_grad[2] else None
        return of_pair.mul_(scale), of_context.mul_(scale), of_p


def _reciprocals(left: Tensor, right: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """Yield (rows, cells, r [rows, cells, J, D]) of each block; all r share memory, so use one before the next.

    A block is several small rows, or a part of a large one.
    """
    (R, M, D), J = left.shape, right.shape[1]
    rows = max(1, min(R, CHUNK // max(1, M * J * D)))
    cells = max(1, min(M, CHUNK // max(1, J * D))) if rows == 1 else M
    block = left.new_empty(rows, cells, J, D)
    for row in range(0, R, rows):
        for cell in range(0, M, cells):
            part = slice(row, row + rows), slice(cell, cell + cells)
            r = block[: min(rows, R - row), : min(cells, M - cell)]
            torch.mul(left[part][:, :, None], right[part[0]][:, None], out=r)
            yield *part, r.add_(1).reciprocal_()
            pause()
