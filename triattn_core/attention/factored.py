"""Outputs without the whole cube, where the relevance and the contextual value are products of factors.

With relevance `sum_d q_d k_d c_d` and values `v_d c'_d` all is matrix products between pairs (query, key) and context
(Tri-Attention, Eqs. 11 to 13 and 15 to 19).  On a GPU fused attention takes a pair (key, context) as one key; on a CPU
blocks of the cube pass through memory that stays in its caches.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from triattn_core.inference.pause import pause

BLOCK = 1 << 20  # cells of the cube at once
KEPT = 1 << 27  # cells whose weights are kept for the backward pass; beyond, they are made again

Factors = tuple[Tensor, Tensor, Tensor]  # query [.., N, D], key [.., I, D] and context [.., J, D] of the products


def product_attention(
    query: Float[Tensor, "B H N D"],
    key: Float[Tensor, "B H I D"],
    context: Float[Tensor, "B H J D"],
    value: Float[Tensor, "B H I D"],
    beside: Float[Tensor, "B H J D"],
    keep_key: Bool[Tensor, "B I"],
    keep_context: Bool[Tensor, "B J"],
) -> Float[Tensor, "B H N D"]:
    """`sum_ij A[n,i,j] (v_i * b_j)`, A the softmax of `sum_d q_d k_d c_d` over the kept (i, j) (Eqs. 15 to 19).

    `beside` holds b, the context's factor of the contextual value. A query with nothing to attend to gives zeros.
    What is masked does not matter, be it infinite.
    """
    keep = (keep_key[:, :, None] & keep_context[:, None, :]).flatten(1)
    if not keep.numel():
        return query * 0.0
    attend = in_blocks if query.device.type == "cpu" else fused
    if keep.all():
        return attend(query, key, context, value, beside, None)
    key, value = (one.masked_fill(~keep_key[:, None, :, None], 0.0) for one in (key, value))
    context, beside = (one.masked_fill(~keep_context[:, None, :, None], 0.0) for one in (context, beside))
    empty = ~keep.any(1, keepdim=True)  # attends to all, so that it stays finite with its gradients, and is then zeros
    found = attend(query, key, context, value, beside, ~(keep | empty))
    return found.masked_fill(empty[..., None, None], 0.0)


def in_blocks(query, key, context, value, beside, masked: Tensor | None) -> Tensor:
    """The same with `masked` [B, I·J], some of a row False, on a CPU: a block of the cube at a time, gradients too."""
    # What is written in place has one type: float32 at least, whatever comes.
    dtype = torch.promote_types(query.dtype, torch.float32)
    factors = [one.to(dtype).flatten(0, 1).contiguous() for one in (query, key, context, value, beside)]
    (B, H, N, _), I, J = query.shape, key.shape[2], context.shape[2]
    if masked is not None:
        masked = masked[:, None].expand(B, H, I * J).reshape(B * H, 1, I * J)
    kept = torch.is_grad_enabled() and B * H * N * I * J <= KEPT
    return Products.apply(*factors, masked, kept).view(query.shape).to(query.dtype)


def fused(query, key, context, value, beside, masked: Tensor | None) -> Tensor:
    """The same by fused attention, a pair (key, context) taken as one key: the cube itself is never there."""
    keys = (key[..., :, None, :] * context[..., None, :, :]).flatten(-3, -2)
    values = (value[..., :, None, :] * beside[..., None, :, :]).flatten(-3, -2)
    part = None if masked is None else ~masked[:, None, None].expand(-1, 1, query.shape[-2], -1)  # True: takes part
    return scaled_dot_product_attention(query, keys, values, attn_mask=part, scale=1.0)


class Products(torch.autograd.Function):
    """query [R, N, D], key, value [R, I, D], context, beside [R, J, D], masked [R, 1, I·J] bool or None → [R, N, D].

    `kept`: whether the weights wait for a backward pass; otherwise it makes them again.
    """

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, query, key, context, value, beside, masked: Tensor | None, kept: bool) -> Tensor:
        found = torch.empty_like(query)
        weights, mixed = _room(query, key, context, len(query)) if kept else (None, None)
        for at, *room, pairs in _blocks(query, key, context):
            room = room if weights is None else (weights[at], mixed[at])
            _weigh(at, query, key, context, beside, masked, *room, pairs)
            torch.mul(room[1], value[at][:, None], out=pairs)
            torch.sum(pairs, 2, out=found[at])
        ctx.save_for_backward(query, key, context, value, beside, masked, found, weights, mixed)
        return found

    @staticmethod
    @torch.autograd.function.once_differentiable
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad: Tensor):
        query, key, context, value, beside, masked, found, weights, mixed = ctx.saved_tensors
        grad = grad.contiguous()
        # What the softmax subtracts: sum_ij A dA, which is the output times its gradient.
        mean = (grad * found).sum(-1, keepdim=True)
        of = [torch.empty_like(one) for one in (query, key, context, value, beside)]
        for at, *room, pairs in _blocks(query, key, context):
            if weights is None:
                _weigh(at, query, key, context, beside, masked, *room, pairs)
            else:
                room = weights[at], mixed[at]
            _slopes(at, (query, key, context, value, beside), grad, mean, *room, pairs, of)
        return *of, None, None


def _weigh(at: slice, query, key, context, beside, masked, weights: Tensor, mixed: Tensor, pairs: Tensor) -> None:
    """Writes the weights [n, N, I·J] of a block, and what they make of `beside`: [n, N, I, D]."""
    torch.mul(query[at][:, :, None], key[at][:, None], out=pairs)
    relevance = torch.bmm(pairs.flatten(1, 2), context[at].mT).view_as(weights)
    if masked is not None:
        relevance.masked_fill_(masked[at], -torch.inf)
    torch.softmax(relevance, -1, out=weights)
    torch.bmm(_rows(weights, mixed), beside[at], out=mixed.flatten(1, 2))


def _slopes(at: slice, factors, grad: Tensor, mean: Tensor, weights, mixed, pairs: Tensor, of: list[Tensor]) -> None:
    """Writes the gradients of a block into `of`; `pairs` is room for [n, N, I, D]."""
    query, key, context, value, beside = (one[at] for one in factors)
    of_query, of_key, of_context, of_value, of_beside = (one[at] for one in of)
    flat = pairs.flatten(1, 2)
    torch.sum(torch.mul(mixed, grad[at][:, :, None], out=pairs), 1, out=of_value)
    torch.mul(grad[at][:, :, None], value[:, None], out=pairs)
    torch.bmm(_rows(weights, mixed).mT, flat, out=of_beside)
    slope = torch.bmm(flat, beside.mT)
    slope.view_as(weights).sub_(mean[at]).mul_(weights)
    torch.mul(query[:, :, None], key[:, None], out=pairs)
    torch.bmm(slope.mT, flat, out=of_context)
    of_pairs = torch.bmm(slope, context).view_as(pairs)
    torch.sum(torch.mul(of_pairs, key[:, None], out=pairs), 2, out=of_query)
    torch.sum(of_pairs.mul_(query[:, :, None]), 1, out=of_key)


def _rows(weights: Tensor, mixed: Tensor) -> Tensor:
    """[n, N, I·J] → [n, N·I, J]."""
    return weights.view(len(weights), mixed.shape[1] * mixed.shape[2], -1)


def _room(query: Tensor, key: Tensor, context: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """Room for the weights [rows, N, I·J] and for something of each pair (query, key): [rows, N, I, D]."""
    (_, N, D), I, J = query.shape, key.shape[1], context.shape[1]
    return query.new_empty(rows, N, I * J), query.new_empty(rows, N, I, D)


def _blocks(query: Tensor, key: Tensor, context: Tensor) -> Iterator[tuple[slice, Tensor, Tensor, Tensor]]:
    """(rows, room for their weights, and twice for their pairs), the same memory for every block."""
    R, each = len(query), query.shape[1] * key.shape[1] * context.shape[1]
    rows = max(1, min(R, BLOCK // max(1, each)))
    weights, mixed = _room(query, key, context, rows)
    pairs = torch.empty_like(mixed)
    for start in range(0, R, rows):
        n = min(rows, R - start)
        yield slice(start, start + n), weights[:n], mixed[:n], pairs[:n]
        pause()
