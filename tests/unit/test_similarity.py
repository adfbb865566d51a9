"""Every relevance function, values and gradients, against the slow loops of `tests/oracles/attention.py`."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from tests.oracles import attention as oracle
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.attention.tri_similarity.additive import add, tadd
from triattn_core.attention.tri_similarity.bilinear import bili, trili
from triattn_core.attention.tri_similarity.determinant import determinant
from triattn_core.attention.tri_similarity.dot import dp, tdp
from triattn_core.attention.tri_similarity.full_trilinear import FullTrilinear, trili_full
from triattn_core.attention.tri_similarity.scaled_dot import sdp, tsdp
from triattn_core.attention.tri_similarity.strassen import strassen
from triattn_core.attention.tri_similarity.tree import tree
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
    "strassen": (strassen, oracle.strassen, ()),
    "tree": (tree, oracle.tree, ()),
    "determinant": (determinant, oracle.determinant, ()),
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
    scores = ours(*map(torch.tensor, arrays))
    assert scores.shape == (BATCH, HEADS, N, I)
    torch.testing.assert_close(scores, torch.tensor(expected))


@pytest.mark.parametrize("name", THREE)
def test_three_way_values(name):
    ours, three, shapes = THREE[name]
    rng = np.random.default_rng(2)
    # One context for all heads: leading dims broadcast.
    arrays = [rng.normal(size=size) for size in ((BATCH, HEADS, N, D), (BATCH, HEADS, I, D), (BATCH, 1, J, D))]
    arrays += weights(rng, shapes, D, HEADS)
    expected = oracle.each(partial(whole_cube, three), (2, 2, 2, *map(len, shapes)), *arrays)
    scores = ours(*map(torch.tensor, arrays))
    assert scores.shape == (BATCH, HEADS, N, I, J)
    torch.testing.assert_close(scores, torch.tensor(expected))


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
    scores = ours(*map(torch.tensor, [*arrays, *parameters]), has_context=torch.tensor([True, False]))
    query, key, context = arrays
    with_context = whole_cube(three, query[0], key[0], context[0], *parameters)
    without = whole_cube(three, query[1], key[1], None, *parameters)
    torch.testing.assert_close(scores[0], torch.tensor(with_context))
    torch.testing.assert_close(scores[1], torch.tensor(np.broadcast_to(without, (N, I, J)).copy()))


@pytest.mark.parametrize("name", THREE)
def test_three_way_degrades_to_two_way(name):
    """Section IV-A: without context TAdd, TDP, TSDP are Add, DP, SDP; Trili is `q' (W' U) k`."""
    ours, _, shapes = THREE[name]
    rng = np.random.default_rng(5)
    query, key, context = (torch.tensor(rng.normal(size=(1, size, D))) for size in (N, I, 1))
    parameters = [torch.tensor(array) for array in weights(rng, shapes, D)]
    scores = ours(query, key, context, *parameters, has_context=torch.tensor([False]))[..., 0]
    two_way = {
        "tadd": lambda: add(query, key, parameters[0], parameters[1], parameters[3]),
        "tdp": lambda: dp(query, key),
        "tsdp": lambda: sdp(query, key),
        "trili": lambda: bili(query, key, parameters[0].T @ parameters[1]),
        "trili_full": lambda: bili(query, key, parameters[0].sum(-1)),
        "strassen": lambda: sdp(query, key),
        "tree": lambda: sdp(query, key),
        "determinant": lambda: sdp(query, key),
    }
    torch.testing.assert_close(scores, two_way[name]())


def test_dot_products_are_special_cases_of_the_trilinear_forms():
    """Section IV-B: TDP is the full form with the identity tensor, and the economic form with identity matrices."""
    rng = np.random.default_rng(6)
    query, key, context = (torch.tensor(rng.normal(size=(size, D))) for size in (N, I, J))
    eye = torch.eye(D, dtype=torch.float64)
    diagonal = torch.einsum("de,df->def", eye, eye)
    torch.testing.assert_close(trili(query, key, context, eye, eye, eye), tdp(query, key, context))
    torch.testing.assert_close(trili_full(query, key, context, diagonal), tdp(query, key, context))
    torch.testing.assert_close(tsdp(query, key, context) * D**0.5, tdp(query, key, context))


def test_strassen_scores_have_no_term_of_three():
    """The change that a context token makes to a key's score is the same for every query: mixed differences vanish."""
    rng = np.random.default_rng(9)
    query, key, context = (torch.tensor(rng.normal(size=(size, D))) for size in (N, I, J))
    mixed = lambda cube: cube.diff(dim=0).diff(dim=1).diff(dim=2).abs().max()  # noqa: E731
    assert mixed(strassen(query, key, context)) < 1e-12 < 0.1 < mixed(tsdp(query, key, context))


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
        "strassen": (sdp, "", strassen, ""),
        "tree": (sdp, "", tree, ""),
        "determinant": (sdp, "", determinant, ""),
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
