"""T-additive without a tanh an element: the same numbers on every path."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import attention as oracle
from tests.unit.test_similarity import BATCH, HEADS, D, I, J, N
from triattn_core.attention.tri_similarity import blockwise, exponential


def additive_parts(scale: float = 1.0, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    """`W q + U k` [BATCH, HEADS, N, I, D], `H c` [BATCH, HEADS, J, D] and p [HEADS, D]."""
    draw = torch.Generator().manual_seed(9)
    sizes = (BATCH, HEADS, N, I, D), (BATCH, HEADS, J, D), (HEADS, D)
    pair, context, p = (torch.randn(size, generator=draw, dtype=torch.float64) for size in sizes)
    return (scale * pair).to(dtype), (scale * context).to(dtype), p.to(dtype)


def written_out(pair: torch.Tensor, context: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    pair, context, p = (one.detach().double().numpy() for one in (pair, context, p))
    eye, none = np.eye(D), np.zeros((D, D))
    one_head = lambda pair, context, p: np.array(  # noqa: E731
        [[[oracle.tadd(x, none[0], c, eye, none, eye, p) for c in context] for x in row] for row in pair]
    )
    return torch.tensor(oracle.each(one_head, (3, 2, 1), pair, context, p))


@pytest.mark.parametrize("scale", [1.0, 4.0, 15.0, 1e4])
def test_no_path_of_t_additive_changes_the_numbers(scale):
    """Within the bound in cache-sized blocks, with and without gradients; past it with tanh."""
    pair, context, p = additive_parts(scale)
    expected = written_out(pair, context, p).float()
    with torch.no_grad():
        torch.testing.assert_close(exponential.tanh_score(pair, context, p), expected, rtol=0, atol=2e-5)
    torch.testing.assert_close(exponential.tanh_score(pair, context, p), expected, rtol=0, atol=2e-5)


def test_factors_out_of_bound_on_their_own_take_the_plain_form():
    """50 and -50: the sum is 0 and so is its tanh, but the product form would say 1."""
    pair, context, p = torch.full((1, 1, D), 50.0), torch.full((1, D), -50.0), torch.ones(D)
    with torch.no_grad():
        torch.testing.assert_close(exponential.tanh_score(pair, context, p), torch.zeros(1, 1, 1))
        assert exponential.exponential(pair, context, p).abs().max() > 1  # twin: what is avoided


@pytest.mark.parametrize("blocks", [1, 100, 5000, 1 << 20])
def test_the_size_of_a_block_cannot_matter(blocks, monkeypatch):
    parts = [part.requires_grad_() for part in additive_parts()]
    monkeypatch.setattr(blockwise, "CHUNK", blocks)
    scores, plain = exponential.tanh_score(*parts), exponential.plain(*parts)
    torch.testing.assert_close(scores, written_out(*parts).float(), rtol=0, atol=2e-5)
    onto = torch.randn(BATCH, HEADS, N, I, J, generator=torch.Generator().manual_seed(2))
    for ours, expected in zip(*(torch.autograd.grad((one * onto).sum(), parts) for one in (scores, plain))):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("form", [exponential.tanh_score, exponential.exponential])
@pytest.mark.parametrize("scale", [1.0, 6.0])
def test_each_product_form_has_the_gradients_of_the_plain_one(form, scale):
    """In blocks, and as the compiler is given it."""
    parts = [part.requires_grad_() for part in additive_parts(scale)]
    onto = torch.randn(BATCH, HEADS, N, I, J, generator=torch.Generator().manual_seed(1))
    plain = torch.autograd.grad((exponential.plain(*parts) * onto).sum(), parts)
    product = torch.autograd.grad((form(*parts) * onto).sum(), parts)
    for ours, expected in zip(product, plain):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_t_additive_in_half_precision_is_computed_in_float32(dtype):
    pair, context, p = additive_parts(3.0, dtype)
    with torch.no_grad():
        scores = exponential.tanh_score(pair, context, p)
    assert scores.dtype == dtype
    torch.testing.assert_close(scores, written_out(pair, context, p).to(dtype))


@pytest.mark.slow
@pytest.mark.skipif(not exponential.has_compiler(), reason="no C++ compiler, and so no compiled form")
@pytest.mark.timeout(400)
def test_the_compiled_form_has_the_numbers_and_gradients_of_the_plain_one(monkeypatch):
    monkeypatch.setattr(exponential, "WORTH_COMPILING", 0)
    parts = [part.requires_grad_() for part in additive_parts()]
    onto = torch.randn(BATCH, HEADS, N, I, J, generator=torch.Generator().manual_seed(2))
    scores, expected = exponential.tanh_score(*parts), exponential.plain(*parts)
    assert exponential.compiled_kernel.cache_info().currsize == 1  # it was taken
    torch.testing.assert_close(scores, expected, rtol=0, atol=2e-5)
    for ours, plain in zip(*(torch.autograd.grad((one * onto).sum(), parts) for one in (scores, expected))):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("sizes", [(3, 11, 7, 5), (2, 1009, 61, 13)])  # rows in a block, blocks in a row
def test_gradients_beside_frozen_weights_are_the_plain_ones(sizes):
    from triattn_core.attention.tri_similarity.exponential import plain

    rows, pairs, places, features = sizes
    torch.manual_seed(2)
    given = [torch.randn(rows, pairs, 1, features), torch.randn(rows, places, features), torch.randn(rows, features)]
    weights, gradients = torch.randn(rows, pairs, places), []
    for score in (lambda a, c, p: blockwise.Score.apply(a[:, :, 0], c, p), lambda a, c, p: plain(a, c, p)[:, :, 0]):
        pair, context = given[0].clone().requires_grad_(), given[1].clone().requires_grad_()
        gradients.append(torch.autograd.grad(score(pair, context, given[2]), (pair, context), weights))
    for ours, theirs in zip(*gradients):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
