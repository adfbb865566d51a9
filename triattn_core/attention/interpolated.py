"""Outputs of additive Tri-Attention without the whole cube: tanh at a few nodes, interpolated to the context tokens.

One feature of the context's term lies between c - R and c + R.  With K Chebyshev nodes t_k there and their Lagrange
polynomials L_k (Trefethen 2013, "Approximation Theory and Approximation Practice", chapters 4 and 8),

    tanh(x + y) = sum_k tanh(x + t_k) L_k(y)

for every x, up to an error of 2.55 rho^-K with rho = q + sqrt(q² + 1) and q = pi / 2R: the poles of tanh are pi / 2
away from the real line.  The relevance (Tri-Attention, Eq. 10) is then a product of matrices, and so are its gradients,
with the slope 1 - tanh² interpolated at the same nodes.  A trained context varies little: seven to ten nodes stand for
a hundred tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from triattn_core.attention.tri_similarity.exponential import compiles
from triattn_core.inference.pause import pause

BLOCK = 1 << 19  # elements of a block, which stays in the cache
ERROR = 1e-6  # of p tanh in one feature, at most
NARROW = 1e-3  # ranges R below it are taken as this
WORTH = 1 << 14  # cells of one cube from which on this is faster
TOKENS = 4  # for each node of a feature, from which on this is faster
TOKENS_COMPILED = 24  # the same beside compiled code (`tests.bench.long_attribution`)


class Additive(NamedTuple):
    """The terms `W q` [B, H, N, D], `U k` [B, H, I, D] and `H c` [B, H, J, D] of `p · tanh(W q + U k + H c)`, p [H, D],
    and the contextual value's `v` [B, H, I, D] and `c` [B, H, J, D], which are added."""

    query: Tensor
    key: Tensor
    context: Tensor
    p: Tensor
    value: Tensor
    context_value: Tensor


def is_worth_it(query: Tensor, key: Tensor, context: Tensor, p: Tensor) -> bool:
    """Whether interpolation is faster for these terms (see `Additive`): on a CPU, for long texts whose context varies
    little."""
    cells = query.shape[-2] * key.shape[-2] * context.shape[-2]
    if query.device.type != "cpu" or query.dtype != torch.float32 or cells < WORTH or not len(query):
        return False
    with torch.no_grad():
        half = _range(context.flatten(0, 1))[1]
        counts = _counts(half.view(*context.shape[:2], -1), p)
        tokens = TOKENS_COMPILED if compiles(len(query), query.shape[1] * cells * query.shape[-1]) else TOKENS
        return bool(half.isfinite().all()) and tokens * float(counts.mean()) <= context.shape[-2]


def additive_attention(
    terms: Additive, keep_key: Bool[Tensor, "B I"], keep_context: Bool[Tensor, "B J"]
) -> Float[Tensor, "B H N D"]:
    """`sum_ij A[n,i,j] (v_i + c_j)`, A the softmax of the relevance over the kept (i, j) (Eqs. 10, 15, 16 and 19).

    A query with nothing to attend to gives zeros; masked values have no effect, even if infinite.
    """
    query, key, context, p, value, context_value = terms
    keep = keep_key[:, :, None] & keep_context[:, None, :]
    empty = ~keep.flatten(1).any(1)
    masked = None if keep.all() else ~(keep | empty[:, None, None])  # attends to all, then set to zero
    key, value = (tensor.masked_fill(~keep_key[:, None, :, None], 0.0) for tensor in (key, value))
    context, context_value = (
        tensor.masked_fill(~keep_context[:, None, :, None], 0.0) for tensor in (context, context_value)
    )
    p = p.expand(*query.shape[:2], -1)
    rows = [tensor.flatten(0, 1) for tensor in (query, key, context, p, value, context_value)]
    outputs = Interpolated.apply(*rows, masked, torch.is_grad_enabled()).view(*query.shape[:3], -1)
    return outputs.masked_fill(empty[:, None, None, None], 0.0) if masked is not None else outputs


class Interpolated(torch.autograd.Function):
    """query [R, N, D], key [R, I, D], context [R, J, D], p [R, D], value [R, I, V], context_value [R, J, V] and masked
    [B, I, J] bool or None, R a multiple of B → [R, N, V].

    keep: whether gradients may be asked for.
    """

    @staticmethod
    def forward(ctx, query, key, context, p, value, context_value, masked: Tensor | None, keep: bool) -> Tensor:
        nodes = _nodes(context, p)
        # The marginals of the weights are all that the outputs need.
        of_key, of_context = (query.new_empty(*query.shape[:2], side.shape[1]) for side in (key, context))
        keep = keep and any(ctx.needs_input_grad)
        weights = query.new_empty(*query.shape[:2], key.shape[1], context.shape[1]) if keep else query
        for row, queries, tanh, node, _ in _blocks(query, key, nodes):
            scores = torch.mm(tanh.T, node.basis * p[row, node.features, None]).view(queries.stop - queries.start, -1)
            if masked is not None:
                scores.masked_fill_(masked[row * len(masked) // len(query)].flatten(), -torch.inf)
            row_weights = weights[row, queries] if keep else scores.view(-1, key.shape[1], context.shape[1])
            torch.softmax(scores, -1, out=row_weights.view(scores.shape))
            torch.sum(row_weights, 2, out=of_key[row, queries])
            torch.sum(row_weights, 1, out=of_context[row, queries])
        outputs = of_key @ value + of_context @ context_value
        if keep:  # otherwise `weights` stands for nothing
            saved = query, key, context, p, value, context_value, of_key, of_context, outputs, weights
            ctx.save_for_backward(*saved, *nodes)
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad: Tensor):
        query, key, context, p, value, context_value, on_key, on_context, outputs, weights, *nodes = ctx.saved_tensors
        # Of the relevance: A (dA - mean), where mean = sum_ij A dA is the output times its gradient.
        of_cell = grad @ value.mT - (grad * outputs).sum(-1, keepdim=True), grad @ context_value.mT
        of_query, of_key, of_context, of_p = (torch.zeros_like(tensor) for tensor in (query, key, context, p))
        for row, queries, tanh, node, spread in _blocks(query, key, nodes):
            slope = of_cell[0][row, queries, :, None] + of_cell[1][row, queries, None]
            slope = slope.mul_(weights[row, queries]).flatten(0, 1)
            torch.mm(node.basis, slope.T, out=spread)
            if ctx.needs_input_grad[3]:  # not if parameters are frozen, as in attribution
                of_p[row].index_add_(0, node.features, torch.linalg.vecdot(spread, tanh))
            steep = torch.addcmul(tanh.new_ones(1), tanh, tanh, value=-1, out=tanh)
            of_context[row].addmm_((steep @ slope).mul_(node.basis).T, node.sums)
            of_pair = torch.mm(spread.mul_(steep).T, node.sums).view(queries.stop - queries.start, -1, p.shape[-1])
            torch.sum(of_pair, 1, out=of_query[row, queries])
            of_key[row] += of_pair.sum(0)
        for gradient in (of_query, of_key, of_context):
            gradient.mul_(p[:, None])
        return of_query, of_key, of_context, of_p, on_key.mT @ grad, on_context.mT @ grad, None, None


class _RowNodes(NamedTuple):
    """Of one row: the feature [C] of each node, as ones and zeros [C, D], values [C, 1], and polynomials [C, J]."""

    features: Tensor
    sums: Tensor
    values: Tensor
    basis: Tensor


def _range(context: Tensor) -> tuple[Tensor, Tensor]:
    """Centre and half range [R, D] of the features of a context [R, J, D]."""
    high, low = context.amax(1), context.amin(1)
    return (high + low) / 2, ((high - low) / 2).clamp_min(NARROW)


def _counts(half: Tensor, p: Tensor) -> Tensor:
    """The number of nodes [R, D] for ERROR."""
    return torch.ceil(torch.log(2.55 / ERROR * p.abs()) / torch.asinh(pi / 2 / half)).clamp_min(1)


def _nodes(context: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The nodes of a context [R, J, D] with p [R, D], of most features more than are used: which are used [R, D, K]
    bool, their values [R, D, K], and the polynomials at the context tokens [R, D, K, J]."""
    centre, half = _range(context.double())  # in float32, orders of ten and more would lose what ERROR promises
    counts = _counts(half, p)[..., None]
    number = torch.arange(int(counts.max()), dtype=torch.float64)
    angles = pi * (2 * number + 1) / (2 * counts)
    values = centre[..., None] + half[..., None] * angles.cos()
    # L_k(y) = (T_0 + 2 sum_m T_m(t_k) T_m(y)) / K, m from 1 to K - 1, with T_m(y) = 2 y T_(m-1) - T_(m-2)
    factors = (angles[..., None] * number).cos() * (2 - (number == 0).double()) / counts[..., None]
    factors = factors.masked_fill(number >= counts[..., None], 0.0)
    scaled = ((context - centre[:, None]) / half[:, None]).mT  # [R, D, J], from -1 to 1
    terms = [torch.ones_like(scaled), scaled]
    while len(terms) < len(number):
        terms.append(2 * scaled * terms[-1] - terms[-2])
    basis = factors @ torch.stack(terms[: len(number)], 2)
    return number < counts, values.float(), basis.float()


def _blocks(query: Tensor, key: Tensor, nodes) -> Iterator[tuple[int, slice, Tensor, _RowNodes, Tensor]]:
    """Yield (row, queries, tanh [C, queries * I], the row's nodes, a buffer of the tanh's shape); all blocks share the
    memory."""
    used, values, basis = nodes
    N, I, D = query.shape[1], key.shape[1], query.shape[2]
    largest = int(used.sum((1, 2)).max()) * I
    buffers = query.new_empty(2, min(max(BLOCK, largest), N * largest))
    for row in range(len(query)):
        features = used[row].nonzero()[:, 0]
        sums = torch.eye(D)[features]
        node = _RowNodes(features, sums, values[row][used[row], None], basis[row][used[row]])
        size = max(1, BLOCK // (len(features) * I))
        left, right = query[row].T[features] + node.values, key[row].T[features]
        for start in range(0, N, size):
            queries = slice(start, min(N, start + size))
            count = len(features) * I * (queries.stop - start)
            tanh, spread = (buffer[:count].view(len(features), -1) for buffer in buffers)
            torch.add(left[:, queries, None], right[:, None], out=tanh.view(len(features), -1, I))
            yield row, queries, tanh.tanh_(), node, spread
            pause()
