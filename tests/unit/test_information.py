"""Information and alignment of attention maps against slow loops, and at their ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.oracles import living as oracle
from triattn_core.analysis.maps import batch_information, same_word_alignment
from triattn_core.text.roles import Role
from triattn_core.trace.information import context_information, mutual_information, query_information

B, H, N, I, J = 3, 2, 5, 7, 11


def weights(draw: int, *shape: int) -> torch.Tensor:
    values = torch.rand(*shape, generator=torch.Generator().manual_seed(draw), dtype=torch.float64) ** 3
    axes = tuple(range(3, len(shape)))
    return values / values.sum(axes, keepdim=True)


KEEP = torch.tensor([[True] * N, [True] * 3 + [False] * 2, [True] * 2 + [False] * 3])


@pytest.mark.parametrize("shape", [(B, H, N, I), (B, H, N, I, J)])
def test_query_information(shape):
    given = weights(1, *shape)
    bits = batch_information.query_information(given, KEEP)
    slow = [[oracle.query_information(one.numpy(), KEEP[b].numpy()) for one in given[b]] for b in range(B)]
    torch.testing.assert_close(bits, torch.tensor(slow))


def test_context_information():
    given = weights(2, B, H, N, I, J)
    bits = batch_information.context_information(given, KEEP)
    slow = [[oracle.context_information(one.numpy(), KEEP[b].numpy()) for one in given[b]] for b in range(B)]
    torch.testing.assert_close(bits, torch.tensor(slow))


def test_maps_cubes_and_batches_have_one_number():
    """A map alone, the map of a cube, and both in a padded batch; so did the entropies of the first version."""
    cubes = weights(5, B, H, N, I, J)
    maps = cubes.sum(4).numpy()
    alone = query_information(maps[0])
    np.testing.assert_allclose(batch_information.query_information(cubes, KEEP)[0], alone)
    rows = maps[0, 0]
    by_entropy = (rows * np.log2(rows)).sum(1).mean() - (rows.mean(0) * np.log2(rows.mean(0))).sum()
    assert alone[0] == pytest.approx(by_entropy, rel=1e-12)
    cube = cubes[1, :, :3].numpy()
    np.testing.assert_allclose(batch_information.context_information(cubes, KEEP)[1], context_information(cube))
    np.testing.assert_allclose(mutual_information(cube).mean(-1), context_information(cube))


def test_queries_without_weights_do_not_count():
    cube = weights(6, 1, H, N, I, J)[0].numpy()
    empty = np.concatenate([cube, np.zeros((H, 2, I, J))], 1)
    np.testing.assert_allclose(query_information(empty.sum(-1)), query_information(cube.sum(-1)))
    np.testing.assert_allclose(context_information(empty), context_information(cube))
    assert query_information(np.zeros((2, 3, 4))).tolist() == [0, 0]


def test_the_ends():
    """Alike queries tell nothing, one key each tells log2 N; a product of marginals adds nothing, a diagonal log2 I."""
    keep = torch.ones(1, 4, dtype=torch.bool)
    alike = weights(3, 1, 1, 1, 4).expand(1, 1, 4, 4)
    torch.testing.assert_close(batch_information.query_information(alike, keep), torch.zeros(1, 1, dtype=torch.float64))
    torch.testing.assert_close(
        batch_information.query_information(torch.eye(4)[None, None], keep), torch.tensor([[2.0]])
    )
    cube = weights(4, 1, 1, 4, 8, 8)
    product = cube.sum(4, keepdim=True) * cube.sum(3, keepdim=True)
    nothing = batch_information.context_information(product, keep)
    torch.testing.assert_close(nothing, torch.zeros(1, 1, dtype=torch.float64), rtol=0, atol=1e-12)
    diagonal = (torch.eye(8) / 8).expand(1, 1, 4, 8, 8)
    torch.testing.assert_close(batch_information.context_information(diagonal, keep), torch.tensor([[3.0]]))


def role(*strings: str) -> Role:
    n = len(strings)
    return Role(tuple(range(n)), strings, ("a",) * n, ((0, 1),) * n, (False,) * n, tuple(range(n)), (0,) * n, ("",) * n)


def test_same_words_find_each_other():
    query, key = role("Play", "##ers", "win", "."), role("they", "players", ".", "lose")
    asking = np.zeros((2, 4, 4))
    asking[0, 0] = [0.4, 0.6, 0, 0]
    asking[0, 1] = [0.5, 0.45, 0, 0.05]  # the mean of the two pieces: 0.45 and 0.525
    asking[1, :2, 3] = 1
    asking[:, 2:, 0] = 1
    word_alignment = same_word_alignment.align_words(asking, query, key)
    assert word_alignment.aligned.tolist() == [1, 0] and word_alignment.count == 1  # the full stop does not count
    assert word_alignment.chance == pytest.approx(1 / 4)
    assert same_word_alignment.align_words(asking, query, replace(key, strings=("x", "y", ".", "z"))).count == 0


def test_pieces_of_a_key_are_summed():
    query, key = role("players"), role("other", "play", "##ers")
    word_alignment = same_word_alignment.align_words(np.array([[[0.4, 0.3, 0.3]]]), query, key)
    assert word_alignment.aligned.tolist() == [1]


def test_the_best_head_is_reported_on_other_maps_than_it_was_chosen_on():
    first = same_word_alignment.Alignment(np.array([2.0, 0.0]), 2, 0.5)
    second = same_word_alignment.Alignment(np.array([0.0, 2.0]), 2, 0.5)
    assert same_word_alignment.total([first, second]) == {"mean": 50.0, "best_head": 0.0, "chance": 25.0}
    assert same_word_alignment.total([first]) is None
