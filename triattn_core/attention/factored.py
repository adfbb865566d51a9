"""Outputs of Tri-Attention without the whole cube, for relevances and contextual values that are products of factors.

With relevance `sum_d q_d k_d c_d` and values `v_d c'_d`, all steps are matrix products of pairs (query, key) and
context (Tri-Attention, Eqs. 11 to 13 and 15 to 19).  On a GPU, fused attention treats a pair (key, context) as one key;
on a CPU, the cube is computed in blocks that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from triattn_core.inference.pause import pause

BLOCK = 1 << 20  # cells of the cube per block
KEPT = 1 << 27  # most cells whose weights are kept for the backward pass; beyond, they are recomputed

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
    key, value = (factor.masked_fill(~keep_key[:, None, :, None], 0.0) for factor in (key, value))
    context, context_value = (
        factor.masked_fill(~keep_context[:, None, :, None], 0.0) for factor in (context, context_value)
    )
    empty = ~keep.any(1, keepdim=True)  # attend to all, so that values and gradients stay finite, then set to zero
    outputs = attend(query, key, context, value, context_value, ~(keep | empty))
    return outputs.masked_fill(empty[..., None, None], 0.0)


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

    keep_weights: keep the weights for the backward pass; otherwise it recomputes them.
    """

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, query, key, context, value, context_value, masked: Tensor | None, keep_weights: bool) -> Tensor:
        outputs = torch.empty_like(query)
        buffers = _room(query, key, context, len(query)) if keep_weights else None
        for rows, weights, context_sums, pairs in _blocks(query, key, context):
            if buffers is not None:
                weights, context_sums = buffers[0][rows], buffers[1][rows]
            _write_weights(rows, query, key, context, context_value, masked, weights, context_sums, pairs)
            torch.mul(context_sums, value[rows][:, None], out=pairs)
            torch.sum(pairs, 2, out=outputs[rows])
        ctx.save_for_backward(query, key, context, value, context_value, masked, outputs, *(buffers or (None, None)))
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad: Tensor):  # type: ignore[override]  # once_differentiable has no types
        query, key, context, value, context_value, masked, outputs, all_weights, all_mixed = ctx.saved_tensors
        grad = grad.contiguous()
        # The term that the softmax subtracts: sum_ij A dA, which equals the output times its gradient.
        mean = (grad * outputs).sum(-1, keepdim=True)
        gradients = [torch.empty_like(factor) for factor in (query, key, context, value, context_value)]
        for rows, weights, context_sums, pairs in _blocks(query, key, context):
            if all_weights is None:
                _write_weights(rows, query, key, context, context_value, masked, weights, context_sums, pairs)
            else:
                weights, context_sums = all_weights[rows], all_mixed[rows]
            _slopes(
                rows, (query, key, context, value, context_value), grad, mean, weights, context_sums, pairs, gradients
            )
        return *gradients, None, None


def _write_weights(
    rows: slice, query, key, context, context_value, masked, weights: Tensor, context_sums: Tensor, pairs: Tensor
) -> None:
    """Write the weights [n, N, I·J] of a block, and their sums of `context_value` to `context_sums` [n, N, I, D]."""
    torch.mul(query[rows][:, :, None], key[rows][:, None], out=pairs)
    relevance = torch.bmm(pairs.flatten(1, 2), context[rows].mT).view_as(weights)
    if masked is not None:
        relevance.masked_fill_(masked[rows], -torch.inf)
    torch.softmax(relevance, -1, out=weights)
    torch.bmm(_rows(weights, context_sums), context_value[rows], out=context_sums.flatten(1, 2))


def _slopes(
    rows: slice, factors, grad: Tensor, mean: Tensor, weights, context_sums, pairs: Tensor, gradients: list[Tensor]
) -> None:
    """Write the gradients of a block into `gradients`; `pairs` is a buffer [n, N, I, D]."""
    query, key, context, value, context_value = (tensor[rows] for tensor in factors)
    of_query, of_key, of_context, of_value, of_context_value = (tensor[rows] for tensor in gradients)
    flat = pairs.flatten(1, 2)
    torch.sum(torch.mul(context_sums, grad[rows][:, :, None], out=pairs), 1, out=of_value)
    torch.mul(grad[rows][:, :, None], value[:, None], out=pairs)
    torch.bmm(_rows(weights, context_sums).mT, flat, out=of_context_value)
    slope = torch.bmm(flat, context_value.mT)
    slope.view_as(weights).sub_(mean[rows]).mul_(weights)
    torch.mul(query[:, :, None], key[:, None], out=pairs)
    torch.bmm(slope.mT, flat, out=of_context)
    of_pairs = torch.bmm(slope, context).view_as(pairs)
    torch.sum(torch.mul(of_pairs, key[:, None], out=pairs), 2, out=of_query)
    torch.sum(of_pairs.mul_(query[:, :, None]), 1, out=of_key)


def _rows(weights: Tensor, context_sums: Tensor) -> Tensor:
    """[n, N, I·J] → [n, N·I, J]."""
    return weights.view(len(weights), context_sums.shape[1] * context_sums.shape[2], -1)


def _room(query: Tensor, key: Tensor, context: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Buffers for the weights [rows, N, I·J] and for pairs (query, key) [rows, N, I, D]."""
    (_, N, D), I, J = query.shape, key.shape[1], context.shape[1]
    return query.new_empty(rows, N, I * J), query.new_empty(rows, N, I, D)


def _blocks(query: Tensor, key: Tensor, context: Tensor) -> Iterator[tuple[slice, Tensor, Tensor, Tensor]]:
    """Yield (rows, buffer for their weights, two buffers for their pairs); all blocks share the memory."""
    R, cells = len(query), query.shape[1] * key.shape[1] * context.shape[1]
    rows = max(1, min(R, BLOCK // max(1, cells)))
    weights, context_sums = _room(query, key, context, rows)
    pairs = torch.empty_like(context_sums)
    for start in range(0, R, rows):
        n = min(rows, R - start)
        yield slice(start, start + n), weights[:n], context_sums[:n], pairs[:n]
        pause()
