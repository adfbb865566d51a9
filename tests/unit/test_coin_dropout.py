"""COIN's dropout and its heads."""

from __future__ import annotations

import pytest
import torch

from tests.unit.test_coin import EMBEDDING, HIDDEN, LENGTHS, I, N, build, sentences
from triattn_core.attention.dropout import Dropout
from triattn_core.errors import ConfigError


def test_heads_that_do_not_share_the_features_are_refused():
    with pytest.raises(ConfigError, match="13 features are not divisible by 3 heads: change heads"):
        build(heads=3)


def test_dropout_stands_where_it_is_said_to_stand(monkeypatch):
    """The widths that are dropped, in their order; and what is dropped at any of these places changes what is said."""
    module, given, seen = build(layers=2), sentences(), []
    whole, rows, pairs = module(given), len(LENGTHS) * (N + I), len(LENGTHS)

    def forward(self, x, dropped=None):
        seen.append(tuple(x.shape))
        return x * (len(seen) - 1 != dropped)

    monkeypatch.setattr(Dropout, "forward", forward)
    torch.testing.assert_close(module.train()(given), whole)
    inner = EMBEDDING + HIDDEN
    block = [(rows, inner), (rows, 3 * HIDDEN)]
    places = [(rows, EMBEDDING), *block, *block, (rows, inner), (pairs, 4 * HIDDEN), (pairs, HIDDEN)]
    assert seen == places
    for place in range(len(places)):
        seen.clear()
        monkeypatch.setattr(Dropout, "forward", lambda self, x, at=place: forward(self, x, at))
        assert not torch.allclose(module(given), whole, atol=1e-6), places[place]


def test_dropout_keeps_the_mean_and_drops_its_share():
    layer, x = Dropout(0.2), torch.ones(401, 503)
    torch.manual_seed(1)
    dropped = layer(x)
    assert layer(x).ne(dropped).any()
    assert abs(dropped.eq(0).double().mean().item() - 51 / 256) < 0.003
    assert abs(dropped.mean().item() - 1) < 0.005 and dropped.unique().numel() == 2
    columns = dropped.eq(0).double().mean(0)
    assert columns.std() < 0.03, "no column is dropped more than another"
    assert torch.equal(layer.eval()(x), x) and torch.equal(Dropout(0.0)(x), x)
