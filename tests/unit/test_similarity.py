"""Every relevance function, values and gradients, against the slow loops of `tests/oracles/attention.py`."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from tests.oracles import attention as oracle
from triattn_core.attention.similarity import SIMILARITIES, blockwise, exponential
from triattn_core.attention.similarity.additive import add, tadd
from triattn_core.attention.similarity.bilinear import bili, trili
from triattn_core.attention.similarity.dot import dp, tdp
from triattn_core.attention.similarity.full_trilinear import FullTrilinear, trili_full
from triattn_core.attention.similarity.scaled_dot import sdp, tsdp
from triattn_core.errors import ConfigError

# Per function: ours, the oracle's, and the shapes of its weights in D.
TWO = {
    "add": (add, oracle.add, ("DD", "DD", "D")),
    "dp": (dp, oracle.dp, ()),
    "sdp": (sdp, oracle.sdp, ()),
    "bili": (bili, oracle.bili, ("DD",)),
}
THREE = {
    "tadd": (tadd, oracle.tadd, ("DD", "DD", "DD", "D")),
    "tdp": (tdp, oracle.tdp, ()),
    "tsdp": (tsdp, oracle.tsdp, ()),
    "trili": (trili, oracle.trili, ("DD", "DD", "DD")),
    "trili_full": (trili_full, oracle.trili_full, ("DDD",)),
}
BATCH, HEADS, N, I, J, D = 2, 3, 5, 7, 11, 13
SMALL = {"N": 2, "I": 5, "J": 7, "D": 3}  # for gradients, one number at a time


def weights(rng: np.random.Generator, shapes: tuple[str, ...], features: int, *lead: int) -> list[np.ndarray]:
    return [rng.normal(size=(*lead, *(features for _ in shape))) / features**0.5 for shape in shapes]


def tensors(arrays: list[np.ndarray]) -> list[torch.Tensor]:
    return [torch.tensor(array, requires_grad=True) for array in arrays]


def whole_matrix(two, query, key, *parameters):
    return oracle.matrix(lambda q, k: two(q, k, *parameters), query, key)


def whole_cube(three, query, key, context, *parameters):
    return oracle.cube(lambda q, k, c: three(q, k, c, *parameters), query, key, context)


@pytest.mark.parametrize("name", TWO)
def test_two_way_values(name):
    ours, two, shapes = TWO[name]
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=(BATCH, HEADS, N, D)), rng.normal(size=(BATCH, HEADS, I, D))]
    arrays += weights(rng, shapes, D, HEADS)
    expected = oracle.each(partial(whole_matrix, two), (2, 2, *map(len, shapes)), *arrays)
    found = ours(*map(torch.tensor, arrays))
    assert found.shape == (BATCH, HEADS, N, I)
    torch.testing.assert_close(found, torch.tensor(expected))


@pytest.mark.parametrize("name", THREE)
def test_three_way_values(name):
    ours, three, shapes = THREE[name]
    rng = np.random.default_rng(2)
    # One context for all heads: leading dims broadcast.
    arrays = [rng.normal(size=size) for size in ((BATCH, HEADS, N, D), (BATCH, HEADS, I, D), (BATCH, 1, J, D))]
    arrays += weights(rng, shapes, D, HEADS)
    expected = oracle.each(partial(whole_cube, three), (2, 2, 2, *map(len, shapes)), *arrays)
    found = ours(*map(torch.tensor, arrays))
    assert found.shape == (BATCH, HEADS, N, I, J)
    torch.testing.assert_close(found, torch.tensor(expected))


@pytest.mark.parametrize("name", [*TWO, *THREE])
def test_gradients(name):
    ours, theirs, shapes = (TWO | THREE)[name]
    rng = np.random.default_rng(3)
    roles = "NI" if name in TWO else "NIJ"
    arrays = [rng.normal(size=(SMALL[role], SMALL["D"])) for role in roles] + weights(rng, shapes, SMALL["D"])
    whole = partial(whole_matrix if name in TWO else whole_cube, theirs)
    onto = rng.normal(size=[SMALL[role] for role in roles])
    leaves = tensors(arrays)
    (ours(*leaves) * torch.tensor(onto)).sum().backward()
    for leaf, expected in zip(leaves, oracle.gradients(whole, arrays, onto)):
        torch.testing.assert_close(leaf.grad, torch.tensor(expected), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", THREE)
def test_no_context_is_neutral_row_by_row(name):
    """The first row has context, the second none: its scores do not depend on what stands in the context's place."""
    ours, three, shapes = THREE[name]
    rng = np.random.default_rng(4)
    arrays = [rng.normal(size=(2, size, D)) for size in (N, I, J)]
    parameters = weights(rng, shapes, D)
    found = ours(*map(torch.tensor, [*arrays, *parameters]), has_context=torch.tensor([True, False]))
    query, key, context = arrays
    with_context = whole_cube(three, query[0], key[0], context[0], *parameters)
    without = whole_cube(three, query[1], key[1], None, *parameters)
    torch.testing.assert_close(found[0], torch.tensor(with_context))
    torch.testing.assert_close(found[1], torch.tensor(np.broadcast_to(without, (N, I, J)).copy()))


@pytest.mark.parametrize("name", THREE)
def test_three_way_degrades_to_two_way(name):
    """Section IV-A: without context TAdd, TDP, TSDP are Add, DP, SDP; Trili is `q' (W' U) k`."""
    ours, _, shapes = THREE[name]
    rng = np.random.default_rng(5)
    query, key, context = (torch.tensor(rng.normal(size=(1, size, D))) for size in (N, I, 1))
    parameters = [torch.tensor(array) for array in weights(rng, shapes, D)]
    found = ours(query, key, context, *parameters, has_context=torch.tensor([False]))[..., 0]
    two_way = {
        "tadd": lambda: add(query, key, parameters[0], parameters[1], parameters[3]),
        "tdp": lambda: dp(query, key),
        "tsdp": lambda: sdp(query, key),
        "trili": lambda: bili(query, key, parameters[0].T @ parameters[1]),
        "trili_full": lambda: bili(query, key, parameters[0].sum(-1)),
    }
    torch.testing.assert_close(found, two_way[name]())


def test_dot_products_are_special_cases_of_the_trilinear_forms():
    """Section IV-B: TDP is the full form with the identity tensor, and the economic form with identity matrices."""
    rng = np.random.default_rng(6)
    query, key, context = (torch.tensor(rng.normal(size=(size, D))) for size in (N, I, J))
    eye = torch.eye(D, dtype=torch.float64)
    diagonal = torch.einsum("de,df->def", eye, eye)
    torch.testing.assert_close(trili(query, key, context, eye, eye, eye), tdp(query, key, context))
    torch.testing.assert_close(trili_full(query, key, context, diagonal), tdp(query, key, context))
    torch.testing.assert_close(tsdp(query, key, context) * D**0.5, tdp(query, key, context))


def test_economic_form_is_a_full_form_of_low_rank():
    rng = np.random.default_rng(7)
    query, key, context = (torch.tensor(rng.normal(size=(size, D))) for size in (N, I, J))
    W, U, H = (torch.tensor(rng.normal(size=(D, D))) / D**0.5 for _ in range(3))
    w = torch.einsum("gd,ge,gf->def", W, U, H)
    torch.testing.assert_close(trili(query, key, context, W, U, H), trili_full(query, key, context, w))


@pytest.mark.parametrize("name", SIMILARITIES)
def test_modules_are_the_functions(name):
    """The module gives its own weights, head by head, to the function of its family."""
    functions = {
        "additive": (add, "WUp", tadd, "WUHp"),
        "dot": (dp, "", tdp, ""),
        "scaled_dot": (sdp, "", tsdp, ""),
        "bilinear": (bili, "W", trili, "WUH"),
        "full_trilinear": (bili, "W", trili_full, "w"),
    }
    two, two_weights, three, three_weights = functions[name]
    torch.manual_seed(8)
    query, key, context = (torch.randn(BATCH, HEADS, size, D) for size in (N, I, J))
    module = SIMILARITIES[name](HEADS, D, context=False)
    assert {n for n, _ in module.named_parameters()} == set(two_weights)
    torch.testing.assert_close(module.two(query, key), two(query, key, *(getattr(module, n) for n in two_weights)))
    module = SIMILARITIES[name](HEADS, D, context=True)
    assert {n for n, _ in module.named_parameters()} == set(three_weights)
    there = torch.tensor([True, False])
    parameters = [getattr(module, n) for n in three_weights]
    for flag in ((), (there,)):
        torch.testing.assert_close(
            module.three(query, key, context, *flag), three(query, key, context, *parameters, *flag)
        )


def test_full_trilinear_is_refused_above_64_features():
    FullTrilinear(1, 64, context=False)
    with pytest.raises(ConfigError, match="64 features a head, got 65"):
        FullTrilinear(1, 65, context=True)


# --- T-additive without a tanh an element: the same numbers on every path ---


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
    found, plain = exponential.tanh_score(*parts), exponential.plain(*parts)
    torch.testing.assert_close(found, written_out(*parts).float(), rtol=0, atol=2e-5)
    onto = torch.randn(BATCH, HEADS, N, I, J, generator=torch.Generator().manual_seed(2))
    for ours, expected in zip(*(torch.autograd.grad((one * onto).sum(), parts) for one in (found, plain))):
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
        found = exponential.tanh_score(pair, context, p)
    assert found.dtype == dtype
    torch.testing.assert_close(found, written_out(pair, context, p).to(dtype))


@pytest.mark.skipif(not exponential._compiler(), reason="no C++ compiler, and so no compiled form")
@pytest.mark.timeout(400)
def test_the_compiled_form_has_the_numbers_and_gradients_of_the_plain_one(monkeypatch):
    monkeypatch.setattr(exponential, "WORTH_COMPILING", 0)
    parts = [part.requires_grad_() for part in additive_parts()]
    onto = torch.randn(BATCH, HEADS, N, I, J, generator=torch.Generator().manual_seed(2))
    found, expected = exponential.tanh_score(*parts), exponential.plain(*parts)
    assert exponential._compiled.cache_info().currsize == 1  # it was taken
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-5)
    for ours, plain in zip(*(torch.autograd.grad((one * onto).sum(), parts) for one in (found, expected))):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("sizes", [(3, 11, 7, 5), (2, 1009, 61, 13)])  # rows in a block, blocks in a row
def test_gradients_beside_frozen_weights_are_the_plain_ones(sizes):
    from triattn_core.attention.similarity.exponential import plain

    rows, pairs, places, features = sizes
    torch.manual_seed(2)
    given = [torch.randn(rows, pairs, 1, features), torch.randn(rows, places, features), torch.randn(rows, features)]
    weights, found = torch.randn(rows, pairs, places), []
    for score in (lambda a, c, p: blockwise.Score.apply(a[:, :, 0], c, p), lambda a, c, p: plain(a, c, p)[:, :, 0]):
        pair, context = given[0].clone().requires_grad_(), given[1].clone().requires_grad_()
        found.append(torch.autograd.grad(score(pair, context, given[2]), (pair, context), weights))
    for ours, theirs in zip(*found):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
