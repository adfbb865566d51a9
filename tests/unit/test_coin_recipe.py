"""How a COIN is trained: rates, decay, dropout, the weight of labels; and what its card says."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch

from tests.support.tiny import change
from tests.unit.test_coin_training import make
from triattn_core.attention.dropout import Dropout, steps
from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import SHIPPED
from triattn_core.configs.coin import CoinConfig
from triattn_core.configs.parts import CoinTraining
from triattn_core.errors import ConfigError
from triattn_core.models.coin import Coin
from triattn_core.training import batching
from triattn_core.training.coin.model_card import coin_card
from triattn_core.training.loop import optimizer_for
from triattn_core.training.tan.trainer import balance

pytestmark = pytest.mark.slow


MODEL = {"embedding": 7, "hidden": 10, "layers": 2, "heads": 5}


def test_the_rate_decays_by_the_epoch():
    rate = batching.schedule(CoinTraining(epochs=4, rate=0.5, batch=1, decay=0.5), steps=12)
    np.testing.assert_allclose([rate(step) for step in (0, 3, 6, 9)], [0.5, 0.25, 0.125, 0.0625])
    constant = batching.schedule(CoinTraining(epochs=4, rate=0.5, batch=1, schedule="constant"), steps=12)
    assert {constant(step) for step in range(12)} == {0.5}


def test_vectors_of_words_and_biases_do_not_decay():
    module = Coin(CoinConfig(**MODEL), 11)
    decays, stays = optimizer_for(module, 0.5, "adam").param_groups
    assert decays["weight_decay"] == 0.5 and stays["weight_decay"] == 0
    assert any(one is module.embed.weight for one in stays["params"])
    assert any(one is module.predict.weight for one in decays["params"])


COIN = SHIPPED / "lcqmc" / "lcqmc-coin"


def test_the_card_of_the_shipped_checkpoint_is_that_of_its_records():
    assert (COIN / "README.md").read_text("utf-8") == coin_card(COIN)
    assert "matrix products in bfloat16" in coin_card(COIN)


@pytest.mark.parametrize(
    ("left_out", "omission", "unsaid"),
    [
        ({"fusion": "simple"}, "fusion simple.", "each G"),
        ({"context": False, "pooling": "max"}, "context false, pooling max.", "fusion simple"),
        ({"aggregation": False}, "aggregation false.", "the aggregation"),
    ],
)
def test_the_card_tells_what_is_left_out_and_nothing_of_it_else(tmp_path, left_out, omission, unsaid):
    for name in ("config.json", "metrics.json"):
        shutil.copy(COIN / name, tmp_path)
    change(tmp_path, model=left_out)
    card_text = " ".join(coin_card(tmp_path).split())
    assert f"Other than in the paper's network: {omission}" in card_text and unsaid not in card_text
    assert "Other than" not in coin_card(COIN)


def test_the_card_tells_how_training_differs_from_the_paper(tmp_path):
    for name in ("config.json", "metrics.json"):
        shutil.copy(COIN / name, tmp_path)
    change(tmp_path, model={"gate_bias": 2.0, "block_rate": 1.0, "block_loss": 0.5})
    expected = "Unlike in the paper: gates begin with a bias of 2, which keeps 0.88 of each feature; the loss after"
    assert expected in " ".join(coin_card(tmp_path).split())
    change(tmp_path, model={"gate_bias": 0.0, "block_loss": 0.0})
    assert "Unlike in the paper" not in coin_card(tmp_path)


@pytest.mark.parametrize("share", [0.9985, 0.999999])
def test_some_of_what_is_dropped_stays(share):
    """A share next to 1 is rounded to 255 in 256, not to all."""
    drop, x = Dropout(share), torch.ones(1000, 64)
    assert steps(share) == 255 and drop(x).mean().item() == pytest.approx(1, abs=0.3)


def test_labels_weigh_the_same():
    weight = balance(np.array([0, 1, 1, 1]))
    np.testing.assert_allclose(weight * torch.tensor([1, 3]), [2, 2])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"encoder": "tiny"}, "name a vocabulary"),
        ({"vocabulary": None}, "name a vocabulary"),
        ({"model.fusion": "sample"}, "model.fusion"),
        ({"model.width": 3}, "unknown key 'model.width'"),
        ({"vocabulary.tokens": "letters"}, "vocabulary.tokens"),
        ({"task": "inference"}, "task"),
    ],
)
def test_what_no_coin_can_have_is_refused(tmp_path, changed, message):
    with pytest.raises(ConfigError, match=message):
        read_config(make(tmp_path, "refused") / "config.json", changed)
