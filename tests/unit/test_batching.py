"""What a run reads, and when: the batches of an epoch, the learning rate, and the mining of negatives."""

from __future__ import annotations

import numpy as np
import pytest

from triattn_core.training import batching
from triattn_core.training.encoder import hard_negatives

# --- the plan ---


@pytest.mark.parametrize("rows", [1, 7, 64, 1009])
def test_an_epoch_has_every_row_once(rows):
    lengths = np.random.default_rng(1).integers(3, 60, rows)
    batches = batching.batches(lengths, 8, seed=1, epoch=0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(rows))
    assert all(0 < len(batch) <= 8 for batch in batches)
    assert sum(len(batch) < 8 for batch in batches) <= -(-rows // (8 * batching.WINDOW))


def test_the_order_follows_from_seed_and_epoch_alone():
    lengths = np.random.default_rng(2).integers(3, 60, 101)

    def order(seed: int, epoch: int) -> list[int]:
        return np.concatenate(batching.batches(lengths, 8, seed, epoch)).tolist()

    first = order(1, 0)
    np.random.seed(5)
    assert order(1, 0) == first
    assert len({tuple(order(seed, epoch)) for seed in (1, 2) for epoch in (0, 1, 2)}) == 6


def test_rows_of_like_length_go_together_and_short_batches_do_not_come_first():
    lengths = np.random.default_rng(3).integers(3, 100, 4000)
    batches = batching.batches(lengths, 8, seed=1, epoch=0)
    spread = np.mean([np.ptp(lengths[batch]) for batch in batches])
    assert spread < 0.1 * np.ptp(lengths)
    tops = [lengths[batch].max() for batch in batches]
    assert abs(np.corrcoef(tops, range(len(tops)))[0, 1]) < 0.2


@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_processes_share_a_batch_and_none_is_idle(rows, count):
    parts = [batching.share(np.arange(rows), number, count).tolist() for number in range(count)]
    assert all(parts)
    assert set(sum(parts, [])) == set(range(rows))
    if rows >= count:
        assert sum(map(len, parts)) == rows


@pytest.mark.parametrize("steps", [1, 2, 10, 997])
def test_the_rate_rises_then_falls_to_almost_nothing(steps):
    rates = np.array([batching.learning_rate(step, steps, peak=2e-5) for step in range(steps)])
    rising = max(1, round(steps * 0.1))
    assert rates.max() == 2e-5 == rates[rising - 1]
    assert (rates > 0).all()
    assert (np.diff(rates[:rising]) > 0).all()
    assert (np.diff(rates[rising:]) < 0).all()
    assert rates[-1] <= 2e-5 / max(1, steps - rising)
    assert batching.learning_rate(steps, steps, peak=1.0) == 0


# --- mining ---


def meanings(groups: int, each: int, seed: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Unit vectors in groups of like meaning; the positive pairs are a chain through each group."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(groups, 8))
    vectors = np.repeat(centres, each, axis=0) + 0.3 * rng.normal(size=(groups * each, 8))
    links = [(g * each + i, g * each + i + 1) for g in range(groups) for i in range(each - 1)]
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), links


def test_a_chain_of_positives_is_one_cluster():
    clusters = hard_negatives.clusters([(0, 1), (1, 2), (4, 5)], 6)
    assert len({clusters[0], clusters[1], clusters[2]}) == 1
    assert len({clusters[0], clusters[3], clusters[4]}) == 3
    assert clusters[4] == clusters[5]


def test_negatives_are_near_and_never_linked():
    vectors, links = meanings(60, 3, seed=1)
    cluster = hard_negatives.clusters(links, len(vectors))
    negatives = hard_negatives.negatives(vectors, links, links, seed=1)
    assert len(negatives) > len(links) / 2
    for one, other in negatives:
        assert cluster[one] != cluster[other]
        assert hard_negatives.COSINE[0] <= vectors[one] @ vectors[other] <= hard_negatives.COSINE[1]
    assert hard_negatives.negatives(vectors, links, links, seed=1) == negatives
    assert hard_negatives.negatives(vectors, links, links, seed=2) != negatives


def test_mining_few_questions():
    vectors, links = meanings(4, 2, seed=2)
    assert all(one // 2 != other // 2 for one, other in hard_negatives.negatives(vectors, links, links, seed=1))
