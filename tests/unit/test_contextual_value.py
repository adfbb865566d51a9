"""Contextual values, and the sums of them, against slow loops."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

from tests.oracles import attention as oracle
from triattn_core.attention import contextual_value
from triattn_core.attention.tri_similarity import SIMILARITIES

BATCH, HEADS, N, I, J, D = 2, 3, 5, 7, 11, 13
# Ours, the oracle's, and how many matrices it takes.
KINDS = {
    "additive": (contextual_value.additive, oracle.additive_value, 0),
    "multiplicative": (contextual_value.multiplicative, oracle.multiplicative_value, 0),
    "bilinear": (contextual_value.bilinear, oracle.bilinear_value, 2),
    "plain": (contextual_value.plain, oracle.plain_value, 0),
    "context": (contextual_value.context_alone, oracle.context_value, 0),
    "modulated": (contextual_value.modulated, oracle.modulated_value, 0),
    "value_and_product": (contextual_value.value_and_product, oracle.value_and_product, 0),
}


def slow(integrate, weights, value, context, *matrices):
    return oracle.mix(weights, value, context, lambda v, c: integrate(v, c, *matrices))


def weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Weights [..., N, I, J] that sum to one over the last two axes."""
    drawn = rng.random(shape)
    return drawn / drawn.sum((-1, -2), keepdims=True)


def arrays(rng: np.random.Generator, kind: str, lead: tuple[int, ...], n: int, i: int, j: int, d: int) -> list:
    values = [weights(rng, *lead, n, i, j), rng.normal(size=(*lead, i, d)), rng.normal(size=(*lead, j, d))]
    return values + [rng.normal(size=(*lead[1:], d, d)) / d**0.5 for _ in range(KINDS[kind][2])]


def test_the_table_is_what_is_tested():
    assert set(contextual_value.VALUES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_values(kind):
    ours, integrate, matrices = KINDS[kind]
    given = arrays(np.random.default_rng(1), kind, (BATCH, HEADS), N, I, J, D)
    expected = oracle.each(partial(slow, integrate), (3, 2, 2, *[2] * matrices), *given)
    torch.testing.assert_close(ours(*map(torch.tensor, given)), torch.tensor(expected))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind):
    ours, integrate, _ = KINDS[kind]
    rng = np.random.default_rng(2)
    given = arrays(rng, kind, (), 2, 5, 7, 3)
    onto = rng.normal(size=(2, 3 * contextual_value.VALUES[kind].vectors))
    leaves = [torch.tensor(array, requires_grad=True) for array in given]
    (ours(*leaves) * torch.tensor(onto)).sum().backward()
    for leaf, expected in zip(leaves, oracle.gradients(partial(slow, integrate), given, onto)):
        slope = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad  # where a value reads one of the two
        torch.testing.assert_close(slope, torch.tensor(expected), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_no_context_is_neutral_row_by_row(kind):
    """Without context the value is `v`, or `U' v`; a row with context beside it is untouched."""
    ours, integrate, matrices = KINDS[kind]
    given = arrays(np.random.default_rng(3), kind, (2,), N, I, J, D)
    output = ours(*map(torch.tensor, given), has_context=torch.tensor([True, False]))
    first = slow(integrate, given[0][0], given[1][0], given[2][0], *given[3:])
    # The weights of all context places lie on one neutral place.
    second = slow(integrate, given[0][1].sum(-1, keepdims=True), given[1][1], None, *given[3:])
    torch.testing.assert_close(output[0], torch.tensor(first))
    torch.testing.assert_close(output[1], torch.tensor(second))
    plain = given[0][1].sum(-1) @ (given[1][1] @ given[3].T if matrices else given[1][1])
    for vector in output[1].chunk(contextual_value.VALUES[kind].vectors, -1):
        torch.testing.assert_close(vector, torch.tensor(plain))


@pytest.mark.parametrize("kind", KINDS)
def test_modules_are_the_functions(kind):
    torch.manual_seed(4)
    module = contextual_value.VALUES[kind](HEADS, D)
    attended, value, context = (
        torch.rand(BATCH, HEADS, N, I, J),
        torch.randn(BATCH, HEADS, I, D),
        torch.randn(BATCH, HEADS, J, D),
    )
    there = torch.tensor([True, False])
    matrices = [module.U, module.H] if kind == "bilinear" else []
    for flag in ((), (there,)):
        torch.testing.assert_close(
            module(attended, value, context, *flag), KINDS[kind][0](attended, value, context, *matrices, *flag)
        )


def test_every_relevance_has_the_value_of_its_own_family():
    """Section IV-E: additive with additive, the dot products with multiplicative, trilinear with bilinear."""
    assert {name: kind.value for name, kind in SIMILARITIES.items()} == {
        "additive": "additive",
        "dot": "multiplicative",
        "scaled_dot": "multiplicative",
        "bilinear": "bilinear",
        "full_trilinear": "bilinear",
        "strassen": "multiplicative",
        "tree": "multiplicative",
        "determinant": "multiplicative",
    }
