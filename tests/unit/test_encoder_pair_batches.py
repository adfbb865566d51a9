"""Rows of post-training: what is hidden, what is mined, what is turned, and which rows are read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from tests.support.encoder_recipe import make_world, mined_pairs, read, recipe, train
from tests.support.tiny import mark
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.encoder import pair_batches as encoder_rows
from triattn_core.training.encoder import post_training, schedule

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def tokenizer(world) -> Tokenizer:
    return Tokenizer(world / "start" / "tokenizer.json")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 1.0])
def test_the_asked_share_of_ordinary_tokens_is_hidden(tokenizer, share):
    torch.manual_seed(1)
    ids = torch.randint(len(tokenizer), (400, 100))
    ordinary = ~torch.isin(ids, torch.tensor(list(tokenizer.special.values())))
    assert 0.8 < ordinary.float().mean() < 0.9
    before = ids.clone()
    masked_ids, hidden = encoder_rows.mask(ids, tokenizer, share)
    assert torch.equal(ids, before)  # the loss reads what was hidden from them
    assert not hidden[~ordinary].any()
    assert torch.equal(masked_ids[~hidden], ids[~hidden])
    assert abs(hidden[ordinary].float().mean() - share) < 0.01


def test_hidden_tokens_are_mostly_mask_and_sometimes_another_or_themselves(tokenizer):
    torch.manual_seed(2)
    ids = torch.randint(len(tokenizer), (400, 100))
    masked_ids, hidden = encoder_rows.mask(ids, tokenizer, 0.5)
    masked = (masked_ids == tokenizer.special["mask"])[hidden].float().mean()
    same = (masked_ids == ids)[hidden].float().mean()
    lucky = 0.1 / len(tokenizer)  # a random token may be [MASK], or the hidden one
    assert abs(masked - 0.8 - lucky) < 0.01
    assert abs(same - 0.1 - lucky) < 0.01
    others = masked_ids[hidden & (masked_ids != ids) & (masked_ids != tokenizer.special["mask"])]
    assert len(others.unique()) == len(tokenizer) - 1


def test_mined_pairs_are_negatives_that_no_chain_of_positives_joins(world, tokenizer):
    positives, train = read(world, "positives", tokenizer), read(world, "train", tokenizer)
    negatives = mined_pairs(world, tokenizer)
    assert len(negatives) > len(positives) / 3
    assert {row.label for row in negatives} == {0}
    meaning = {ids: {ids} for row in (*positives, *train) for ids in (row.a, row.b)}
    for row in (*positives, *train):
        if row.label == 1:
            joined = meaning[row.a] | meaning[row.b]
            meaning.update(dict.fromkeys(joined, joined))
    assert max(map(len, meaning.values())) == 6  # two chains of three, joined by a row of `train`
    for row in (row for seed in range(1, 6) for row in mined_pairs(world, tokenizer, seed)):
        assert row.a in {positive.a for positive in positives}
        assert row.b not in meaning[row.a]
    assert mined_pairs(world, tokenizer) == negatives
    assert mined_pairs(world, tokenizer, seed=2) != negatives


def test_marked_rows_are_not_trained_on_and_dev_is_whole(world, tokenizer, tmp_path, monkeypatch):
    """Neither as rows of a stage nor as positives to mine for."""
    shutil.copytree(world / "data", tmp_path / "data")
    for name in ("train", "positives", "dev"):
        mark(tmp_path / "data" / "small" / f"{name}.jsonl", in_eval=(2, 3), dup=(9,))
    measured, accuracy = [], post_training.accuracy
    monkeypatch.setattr(post_training, "accuracy", lambda *given: measured.append(len(given[1])) or accuracy(*given))
    asked, mined = [], schedule.mine_negatives
    monkeypatch.setattr(schedule, "mine_negatives", lambda *given: asked.append(given[0]) or mined(*given))
    events = train(recipe(world), tmp_path, tmp_path / "run", until=19)
    stages = next(event.values["stages"] for event in events if event.kind == "metric")
    whole = read(world, "positives", tokenizer)
    assert [stage["labelled"] for stage in stages] == [45, 45]
    assert stages[0]["positives"] == 25 and asked == [[row for at, row in enumerate(whole) if at not in (2, 3, 9)]]
    assert set(measured) == {20}


def test_a_share_of_the_pairs_is_turned_and_keeps_its_label():
    rows = [encoder_rows.Pair((number, 7), (number, 8, 9), number % 2) for number in range(2000)]
    turned = [encoder_rows.Pair(row.b, row.a, row.label) for row in rows]
    assert encoder_rows.swap_pairs(rows, 0.0) == rows
    assert encoder_rows.swap_pairs(rows, 1.0) == turned
    torch.manual_seed(1)
    swapped_rows = encoder_rows.swap_pairs(rows, 0.3)
    assert all(one in (row, other) for one, row, other in zip(swapped_rows, rows, turned))
    assert abs(sum(row == other for row, other in zip(swapped_rows, turned)) - 600) < 80
    torch.manual_seed(1)
    assert encoder_rows.swap_pairs(rows, 0.3) == swapped_rows
