"""Outputs of Tri-Attention without the whole cube, for relevances and contextual values that are products of factors.

With relevance `sum_d q_d k_d c_d` and values `v_d c'_d`, all steps are matrix products of pairs (query, key) and
context (Tri-Attention, Eqs. 11 to 13 and 15 to 19).  On a GPU, fused attention treats a pair (key, context) as one key;
on a CPU, the cube is computed in blocks that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from triattn_core.inference.pause import pause

BLOCK = 1 << 18  # cells of the cube per block: their scores stay in a core's cache
DROPPED = 1 << 18  # cells of an example from which on masked tokens are left out: a mask costs a pass over the cube
KEPT = 1 << 22  # most cells whose weights are kept for the backward pass: reading more is slower than computing anew

Factors = tuple[Tensor, Tensor, Tensor]  # query [.., N, D], key [.., I, D] and context [.., J, D] of the products


def product_attention(
    query: Float[Tensor, "B H N D"],
    key: Float[Tensor, "B H I D"],
    context: Float[Tensor, "B H J D"],
    value: Float[Tensor, "B H I D"],
    context_value: Float[Tensor, "B H J D"],
    keep_key: Bool[Tensor, "B I"],
    keep_context: Bool[Tensor, "B J"],
) -> Float[Tensor, "B H N D"]:
    """`sum_ij A[n,i,j] (v_i * b_j)`, A the softmax of `sum_d q_d k_d c_d` over the kept (i, j) (Eqs. 15 to 19).

    context_value: b, the context's factor of the contextual value.  A query with nothing to attend to gives zeros.
    Masked values have no effect, even if infinite.
    """
    keep = (keep_key[:, :, None] & keep_context[:, None, :]).flatten(1)
    if not keep.numel():
        return query * 0.0
    attend = in_blocks if query.device.type == "cpu" else fused_attention
    if keep.all():
        return attend(query, key, context, value, context_value, None)
    if attend is in_blocks and query[0, ..., 0].numel() * keep.shape[1] >= DROPPED:
        tensors = zip(*(part.split(1) for part in (query, key, context, value, context_value)), keep_key, keep_context)
        return torch.cat([_without_masked(*row) for row in tensors])
    key, value = (factor.masked_fill(~keep_key[:, None, :, None], 0.0) for factor in (key, value))
    context, context_value = (
        factor.masked_fill(~keep_context[:, None, :, None], 0.0) for factor in (context, context_value)
    )
    empty = ~keep.any(1, keepdim=True)  # attend to all, so that values and gradients stay finite, then set to zero
    outputs = attend(query, key, context, value, context_value, ~(keep | empty))
    return outputs.masked_fill(empty[..., None, None], 0.0)


def _without_masked(query, key, context, value, context_value, keep_key: Tensor, keep_context: Tensor) -> Tensor:
    """`product_attention` of one example [1, H, n, D], with its masked tokens left out."""
    if not (keep_key.any() and keep_context.any()):
        return query * 0.0
    key, value = (part[:, :, keep_key] for part in (key, value))
    context, context_value = (part[:, :, keep_context] for part in (context, context_value))
    return in_blocks(query, key, context, value, context_value, None)


def in_blocks(query, key, context, value, context_value, masked: Tensor | None) -> Tensor:
    """`product_attention` on a CPU, block by block, gradients too; `masked` [B, I·J] is not all True in any row."""
    # In-place writes need one type: at least float32.
    dtype = torch.promote_types(query.dtype, torch.float32)
    factors = [factor.to(dtype).flatten(0, 1).contiguous() for factor in (query, key, context, value, context_value)]
    (B, H, N, _), I, J = query.shape, key.shape[2], context.shape[2]
    if masked is not None:
        masked = masked[:, None].expand(B, H, I * J).reshape(B * H, 1, I * J)
    keep_weights = torch.is_grad_enabled() and B * H * N * I * J <= KEPT
    return Products.apply(*factors, masked, keep_weights).view(query.shape).to(query.dtype)


def fused_attention(query, key, context, value, context_value, masked: Tensor | None) -> Tensor:
    """`product_attention` by fused attention, with a pair (key, context) as one key; the cube is never formed."""
    keys = (key[..., :, None, :] * context[..., None, :, :]).flatten(-3, -2)
    values = (value[..., :, None, :] * context_value[..., None, :, :]).flatten(-3, -2)
    allowed = None if masked is None else ~masked[:, None, None].expand(-1, 1, query.shape[-2], -1)  # True: attended to
    return scaled_dot_product_attention(query, keys, values, attn_mask=allowed, scale=1.0)


class Products(torch.autograd.Function):
    """query [R, N, D], key, value [R, I, D], context, context_value [R, J, D], masked [R, 1, I·J] bool or None
    → [R, N, D].

    keep_weights: keep the weights for the backward pass; otherwise it computes those of each block anew.
    """

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, query, key, context, value, context_value, masked: Tensor | None, keep_weights: bool) -> Tensor:
        outputs = torch.empty_like(query)
        kept = room_for_weights(query, key, context) if keep_weights else None
        for rows, queries, weights, context_sums, pairs in blocks(query, key, context):
            part = query[rows, queries], key[rows], context[rows], context_value[rows]
            _write_weights(*part, None if masked is None else masked[rows], weights, context_sums, pairs)
            if kept is not None:
                kept[0][rows, queries], kept[1][rows, queries] = weights, context_sums
            torch.sum(context_sums.mul_(value[rows][:, None]), 2, out=outputs[rows, queries])
        ctx.save_for_backward(query, key, context, value, context_value, masked, outputs, *(kept or (None, None)))
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad: Tensor):  # type: ignore[override]  # once_differentiable has no types
        query, key, context, value, context_value, masked, outputs, all_weights, all_sums = ctx.saved_tensors
        # The term that the softmax subtracts: sum_ij A dA, which equals the output times its gradient.
        mean = (grad * outputs).sum(-1, keepdim=True)
        gradients = [torch.zeros_like(factor) for factor in (query, key, context, value, context_value)]
        for rows, queries, weights, context_sums, pairs in blocks(query, key, context):
            part = query[rows, queries], key[rows], context[rows], context_value[rows]
            if all_weights is None:
                _write_weights(*part, None if masked is None else masked[rows], weights, context_sums, pairs)
            else:
                weights = all_weights[rows, queries]
                context_sums.copy_(all_sums[rows, queries])
                torch.mul(part[0][:, :, None], part[1][:, None], out=pairs)
            slopes = _slopes(*part, value[rows], grad[rows, queries], mean[rows, queries], weights, context_sums, pairs)
            gradients[0][rows, queries] = slopes[0]
            for gradient, slope in zip(gradients[1:], slopes[1:]):
                gradient[rows] += slope
        return *gradients, None, None


def _write_weights(
    query, key, context, context_value, masked: Tensor | None, weights: Tensor, context_sums: Tensor, pairs: Tensor
) -> None:
    """Write the weights [n, N, I·J] of a block, and their sums of `context_value` to `context_sums` [n, N, I, D]."""
    torch.mul(query[:, :, None], key[:, None], out=pairs)
    torch.bmm(pairs.flatten(1, 2), context.mT, out=_rows(weights, context_sums))
    if masked is not None:
        weights.masked_fill_(masked, -torch.inf)
    torch.softmax(weights, -1, out=weights)
    torch.bmm(_rows(weights, context_sums), context_value, out=context_sums.flatten(1, 2))


def _slopes(
    query, key, context, context_value, value, grad: Tensor, mean: Tensor, weights, context_sums, pairs: Tensor
) -> tuple[Tensor, ...]:
    """What a block adds to the gradients of query, key, context, value and context_value.

    `pairs` still holds the products of query and key; `context_sums` becomes a buffer.
    """
    of_value = context_sums.mul_(grad[:, :, None]).sum(1)
    valued = torch.mul(grad[:, :, None], value[:, None], out=context_sums).flatten(1, 2)
    of_context_value = torch.bmm(_rows(weights, context_sums).mT, valued)
    slope = torch.bmm(valued, context_value.mT).view_as(weights).sub_(mean).mul_(weights)
    slope = _rows(slope, context_sums)
    of_context = torch.bmm(slope.mT, pairs.flatten(1, 2))
    of_pairs = torch.bmm(slope, context).view_as(pairs)
    of_query = torch.mul(of_pairs, key[:, None], out=pairs).sum(2)
    return of_query, of_pairs.mul_(query[:, :, None]).sum(1), of_context, of_value, of_context_value


def room_for_weights(query: Tensor, key: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
    """Room for all weights [R, N, I·J] and sums [R, N, I, D]."""
    (R, N, D), I, J = query.shape, key.shape[1], context.shape[1]
    return query.new_empty(R, N, I * J), query.new_empty(R, N, I, D)


def _rows(weights: Tensor, context_sums: Tensor) -> Tensor:
    """[n, N, I·J] → [n, N·I, J]."""
    return weights.view(len(weights), context_sums.shape[1] * context_sums.shape[2], -1)


def blocks(query: Tensor, key: Tensor, context: Tensor) -> Iterator[tuple[slice, slice, Tensor, Tensor, Tensor]]:
    """Yield (rows, queries, buffer for their weights [n, N, I·J], two for their pairs [n, N, I, D]).

    A block is several small rows, or some queries of a large one; all share the memory.
    """
    (R, N, D), I, J = query.shape, key.shape[1], context.shape[1]
    rows = max(1, min(R, BLOCK // max(1, N * I * J)))
    queries = max(1, min(N, BLOCK // max(1, I * J))) if rows == 1 else N
    room = [query.new_empty(rows * queries * size) for size in (I * J, I * D, I * D)]
    for row in range(0, R, rows):
        for start in range(0, N, queries):
            n, m = min(rows, R - row), min(queries, N - start)
            sizes = (I * J,), (I, D), (I, D)
            weights, left, right = (part[: n * m * prod(size)].view(n, m, *size) for part, size in zip(room, sizes))
            yield slice(row, row + n), slice(start, start + m), weights, left, right
            pause()
