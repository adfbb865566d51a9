"""Promises that COIN keeps, whole and in each of its ablations."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.unit.test_coin import ABLATIONS, LENGTHS, build, sentences
from triattn_core.attention.tap import recording
from triattn_core.models.coin import Sentences
from triattn_core.trace.axes import AXES, QUANTITIES

pytestmark = pytest.mark.parametrize("name", ABLATIONS)


@torch.no_grad()
def test_padding_changes_nothing(name):
    module = build(**ABLATIONS[name])
    output = module(sentences())
    torch.testing.assert_close(module(sentences(before=True)), output, rtol=0, atol=1e-10)
    torch.testing.assert_close(module(sentences(more=13)), output, rtol=0, atol=1e-10)
    torch.testing.assert_close(module(sentences(before=True, more=13)), output, rtol=0, atol=1e-10)
    for row, lengths in enumerate(LENGTHS):
        single = tuple(
            Sentences(side.words[row : row + 1, :n], side.keep[row : row + 1, :n])
            for side, n in zip(sentences(), lengths)
        )
        torch.testing.assert_close(module(single)[0], output[row], rtol=0, atol=1e-10)


@torch.no_grad()
def test_recording_changes_nothing_and_shows_what_it_says(name):
    module, given = build(**ABLATIONS[name]), sentences()
    plain, keeps = module(given), {"a": given[0].keep, "b": given[1].keep}
    with recording() as record:
        assert torch.equal(module(given), plain)
    assert {"layer.0/a_over_b/weight", "layer.2/b_over_a/relevance"} <= set(map(str, record.sites))
    for site, tapped in record.sites.items():
        assert site.quantity == tapped.quantity and tapped.quantity in QUANTITIES and set(tapped.axes) <= set(AXES)
        query, key = site.sides
        if tapped.quantity == "gate":
            assert tapped.tensor.min() >= 0 and tapped.tensor.max() <= 1 and tapped.axes == ("query", "feature")
            assert tapped.tensor.shape[1] == keeps[query].shape[1]
        if tapped.quantity == "weight":
            assert tapped.sums_over == ("key",) and (tapped.tensor >= 0).all()
            torch.testing.assert_close(tapped.tensor.sum(-1), torch.ones_like(tapped.tensor[..., 0]))
            assert not tapped.tensor.movedim(-1, 1)[~keeps[key]].any()


@torch.no_grad()
def test_save_and_load_changes_nothing(name, tmp_path):
    module, other, given = build(**ABLATIONS[name]), build(**ABLATIONS[name]), sentences()
    for parameter in other.parameters():
        torch.nn.init.normal_(parameter)
    assert not torch.equal(module(given), other(given))
    save_file(module.state_dict(), tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(module(given), other(given))


def test_every_weight_learns_and_dropout_is_of_training_alone(name):
    module, given = build(**ABLATIONS[name]), sentences()
    assert torch.equal(module(given), module(given))
    module.train()
    assert not torch.equal(module(given), module(given))
    module(given).square().sum().backward()
    for key, parameter in module.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.any(), key


def test_a_sentence_without_a_real_token_is_finite(name):
    module, (a, b) = build(**ABLATIONS[name]), sentences()
    out = module((Sentences(a.words, torch.zeros_like(a.keep)), b))
    out.sum().backward()
    assert out.isfinite().all()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in module.parameters())
