"""Both softmaxes against slow loops: masks, gradients, extreme scores, rows with nothing to attend to."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import attention as oracle
from triattn_core.attention.softmax import joint_softmax, masked_softmax

BATCH, HEADS, N, I, J = 2, 3, 5, 7, 11


def masks(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Keep-masks [BATCH, I] and [BATCH, J] with something real in every row."""
    keep_key, keep_context = rng.random((BATCH, I)) < 0.6, rng.random((BATCH, J)) < 0.6
    keep_key[:, 2] = keep_context[:, 3] = True
    return keep_key, keep_context


def test_masked_softmax_values():
    rng = np.random.default_rng(1)
    relevance, (keep, _) = 3 * rng.normal(size=(BATCH, HEADS, N, I)), masks(rng)
    expected = oracle.each(oracle.softmax, (2, 1), relevance, keep[:, None])
    weights = masked_softmax(torch.tensor(relevance), torch.tensor(keep[:, None]))
    torch.testing.assert_close(weights, torch.tensor(expected))


def test_joint_softmax_values():
    rng = np.random.default_rng(2)
    relevance, (keep_key, keep_context) = 3 * rng.normal(size=(BATCH, HEADS, N, I, J)), masks(rng)
    expected = oracle.each(oracle.joint_softmax, (3, 1, 1), relevance, keep_key[:, None], keep_context[:, None])
    weights = joint_softmax(
        torch.tensor(relevance), torch.tensor(keep_key[:, None]), torch.tensor(keep_context[:, None])
    )
    torch.testing.assert_close(weights, torch.tensor(expected))
    torch.testing.assert_close(weights.sum((-1, -2)), torch.ones(BATCH, HEADS, N, dtype=torch.float64))


def test_of_distinct_pairs_the_diagonal_gets_nothing():
    rng = np.random.default_rng(2)
    relevance, (keep, _) = 3 * rng.normal(size=(BATCH, HEADS, N, I, I)), masks(rng)
    sides = keep[:, None], keep[:, None]
    expected = oracle.each(lambda *given: oracle.joint_softmax(*given, distinct=True), (3, 1, 1), relevance, *sides)
    weights = joint_softmax(torch.tensor(relevance), *map(torch.tensor, sides), distinct=True)
    torch.testing.assert_close(weights, torch.tensor(expected))
    assert not weights.diagonal(dim1=-2, dim2=-1).any() and weights.sum() == pytest.approx(BATCH * HEADS * N)
    alone = joint_softmax(torch.ones(1, 1, 1), *[torch.ones(1, dtype=torch.bool)] * 2, distinct=True)
    assert alone.item() == 0  # a token alone has no pair


def test_both_marginals_are_distributions_and_log_sum_exp_gives_the_key_marginal():
    rng = np.random.default_rng(3)
    relevance, (keep_key, keep_context) = torch.tensor(rng.normal(size=(BATCH, N, I, J))), masks(rng)
    keep_key, keep_context = torch.tensor(keep_key), torch.tensor(keep_context)
    weights = joint_softmax(relevance, keep_key, keep_context)
    ones = torch.ones(BATCH, N, dtype=torch.float64)
    torch.testing.assert_close(weights.sum(-1).sum(-1), ones)
    torch.testing.assert_close(weights.sum(-2).sum(-1), ones)
    joined = relevance.masked_fill(~keep_context[:, None, None], -torch.inf).logsumexp(-1)
    torch.testing.assert_close(masked_softmax(joined, keep_key), weights.sum(-1))


def test_joint_softmax_is_not_a_softmax_of_softmaxes():
    """A key whose context tokens all fit outweighs one with a single fit: the sum runs over all pairs."""
    relevance = torch.tensor([[[1.0, 1.0, 1.0], [1.0, -9.0, -9.0]]])
    weights = joint_softmax(relevance, torch.ones(2, dtype=torch.bool), torch.ones(3, dtype=torch.bool))
    torch.testing.assert_close(weights.sum(-1), torch.tensor([[0.75, 0.25]]), atol=1e-4, rtol=0)


@pytest.mark.parametrize("joint", [False, True])
def test_gradients(joint):
    rng = np.random.default_rng(4)
    keep_key, keep_context = np.array([True, False, True]), np.array([True, True, False, True, False])
    shape = (2, 3, 5) if joint else (2, 3)
    relevance, onto = rng.normal(size=shape), rng.normal(size=shape)
    keeps = (keep_key, keep_context) if joint else (keep_key,)
    slow, fast = (oracle.joint_softmax, joint_softmax) if joint else (oracle.softmax, masked_softmax)
    (expected,) = oracle.gradients(lambda scores: slow(scores, *keeps), [relevance], onto)
    leaf = torch.tensor(relevance, requires_grad=True)
    (fast(leaf, *map(torch.tensor, keeps)) * torch.tensor(onto)).sum().backward()
    torch.testing.assert_close(leaf.grad, torch.tensor(expected), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("joint", [False, True])
def test_a_fully_masked_row_is_zeros_and_so_is_its_gradient(joint, dtype):
    shape = (2, N, I, J) if joint else (2, N, I)
    relevance = torch.randn(shape, dtype=dtype).requires_grad_()
    keep_key = torch.tensor([[False] * I, [True] * I])
    keep_context = torch.ones(2, J, dtype=torch.bool)
    weights = joint_softmax(relevance, keep_key, keep_context) if joint else masked_softmax(relevance, keep_key)
    assert weights.dtype == dtype
    (weights * torch.randn_like(weights)).sum().backward()
    assert torch.count_nonzero(weights[0]) == 0
    assert torch.count_nonzero(relevance.grad[0]) == 0
    assert weights[1].isfinite().all()
    assert relevance.grad.isfinite().all()
    assert torch.count_nonzero(relevance.grad[1]) > 0
    if joint:  # no context token either way is nothing to attend to
        nothing = torch.zeros_like(keep_context)
        assert torch.count_nonzero(joint_softmax(relevance, torch.ones_like(keep_key), nothing)) == 0


EXTREME = {
    "one far above": [1e4, 0.0, -1e4],
    "all far below": [-1e4, -1e4, -1e4],
    "all equal and large": [1e4, 1e4, 1e4],
    "largest of float32": [3e38, -3e38, 0.0],
}


@pytest.mark.parametrize("name", EXTREME)
@pytest.mark.parametrize("joint", [False, True])
def test_extreme_scores_stay_finite(name, joint):
    scores = torch.tensor([EXTREME[name]])
    keep = torch.tensor([True, True, False])
    relevance = (scores[..., None].expand(1, 3, 2).clone() if joint else scores.clone()).requires_grad_()
    both = torch.tensor([True, True])
    weights = joint_softmax(relevance, keep, both) if joint else masked_softmax(relevance, keep)
    weights.square().sum().backward()
    assert relevance.grad.isfinite().all()
    keys = weights.sum(-1) if joint else weights
    expected = torch.tensor([[1.0, 0.0, 0.0]]) if scores[0, 0] > scores[0, 1] else torch.tensor([[0.5, 0.5, 0.0]])
    torch.testing.assert_close(keys, expected)


@pytest.mark.parametrize("loud", [3e38, torch.inf, torch.nan])
@pytest.mark.parametrize("joint", [False, True])
def test_a_masked_score_cannot_matter_however_large(loud, joint):
    """The mask takes the place of the score: added to it, an infinite score would stay infinite."""
    keep, both = torch.tensor([True, True, False]), torch.tensor([True, True])
    results = []
    for masked in (0.0, loud):
        scores = torch.tensor([[2.0, -1.0, masked]])
        relevance = (scores[..., None].expand(1, 3, 2).clone() if joint else scores).requires_grad_()
        weights = joint_softmax(relevance, keep, both) if joint else masked_softmax(relevance, keep)
        weights.square().sum().backward()
        results.append((weights, relevance.grad))
    for expected, actual in zip(*results):
        torch.testing.assert_close(actual, expected)
    assert not results[1][0].detach()[0, 2].any()


def test_one_key_takes_all():
    relevance = torch.full((N, 1, 1), -1e4)
    keep_one = torch.tensor([True])
    torch.testing.assert_close(joint_softmax(relevance, keep_one, keep_one), torch.ones(N, 1, 1))
    torch.testing.assert_close(masked_softmax(relevance[..., 0], keep_one), torch.ones(N, 1))
