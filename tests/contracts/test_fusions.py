"""Promises that every context-fusion block keeps, in a whole sentence model: walks the table and the ablations."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file

from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.configs.sentence import SentenceConfig
from triattn_core.models.fusion import FUSIONS
from triattn_core.models.sentence import SentenceModel
from triattn_core.trace.axes import AXES, QUANTITIES

WORDS, N = 11, 7
SMALL = {"width": 6, "out": 10, "hidden": 5}
HEADED = {"heads": 2}
# Table 3 of the MTSA paper.
ABLATIONS = {
    "without masks": {"masks": ("none",)},
    "without token2token": {"token2token": False},
    "without source2token": {"source2token": False},
    "without all": {"masks": ("none",), "token2token": False, "source2token": False},
}
OWN = {"mtsa": HEADED, "multi_head": HEADED, "bi_blosa": {"block": 3}}
EVERY = {
    **{name: {"mechanism": name, **OWN.get(name, {})} for name in FUSIONS},
    **{f"mtsa {name}": {"mechanism": "mtsa", **HEADED, **settings} for name, settings in ABLATIONS.items()},
    "mtsa stacked": {"mechanism": "mtsa", "layers": 3, **HEADED},
}
TAPPED = {"mtsa", "multi_head", "disa"}
pytestmark = pytest.mark.parametrize("name", EVERY)


def build(name: str, texts: tuple[str, ...] = ("text",), seed: int = 1, **more) -> SentenceModel:
    torch.manual_seed(seed)
    module = SentenceModel(SentenceConfig(**SMALL, **EVERY[name], **more), WORDS, 3, texts).eval()
    for parameter in module.parameters():
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return module


def states(*lengths: int, before: bool = False, n: int = N) -> States:
    """Texts of so many tokens, padded to n with large numbers, before or after."""
    draw = torch.Generator().manual_seed(2)
    vectors, keep = torch.full((len(lengths), n, WORDS), 1e3), torch.zeros(len(lengths), n, dtype=torch.bool)
    for row, length in enumerate(lengths):
        at = slice(n - length, n) if before else slice(0, length)
        vectors[row, at] = torch.randn(length, WORDS, generator=draw)
        keep[row, at] = True
    return States(vectors, keep)


@torch.no_grad()
def test_padding_changes_nothing(name):
    module, lengths = build(name), (7, 4, 1)
    output = module((states(*lengths),))
    torch.testing.assert_close(module((states(*lengths, before=True),)), output, rtol=0, atol=1e-5)
    torch.testing.assert_close(module((states(*lengths, n=23),)), output, rtol=0, atol=1e-5)
    for row, length in enumerate(lengths):
        whole = states(*lengths)
        alone = States(whole.vectors[row : row + 1, :length], whole.keep[row : row + 1, :length])
        torch.testing.assert_close(module((alone,))[0], output[row], rtol=0, atol=1e-5)


@torch.no_grad()
def test_the_block_alone_gives_each_token_the_same(name):
    settings = SentenceConfig(**SMALL, **EVERY[name])
    torch.manual_seed(1)
    block = FUSIONS[settings.mechanism](WORDS, settings).eval()
    after, before = states(7, 4, 1), states(7, 4, 1, before=True)
    left, right = block(after.vectors, after.keep), block(before.vectors, before.keep)
    assert left.shape == (3, N, SMALL["out"])
    torch.testing.assert_close(left[after.keep], right[before.keep], rtol=0, atol=1e-5)


def test_learning_is_finite_with_one_token_three_hundred_and_none(name):
    for lengths in ((1,), (300, 2), (3, 0)):
        module = build(name).train()
        given = states(*lengths, n=max(lengths) + 2)
        given.vectors.requires_grad_()
        out = module((given,))
        out.square().sum().backward()
        assert out.isfinite().all()
        for key, parameter in module.named_parameters():
            assert parameter.grad is None or parameter.grad.isfinite().all(), key
        assert not given.vectors.grad[~given.keep].any()


def test_every_weight_learns(name):
    """Texts of several blocks of Bi-BloSA, of which the query is not zero: a block of one token has nothing within."""
    module = build(name, ("premise", "hypothesis"))
    module((states(13, 4, 5, n=13), states(3, 6, 12, n=13))).square().sum().backward()
    for key, parameter in module.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), key
        assert key.endswith("bias") or parameter.grad.abs().max() > 1e-9, key


@torch.no_grad()
def test_recording_changes_nothing_and_shows_what_it_says(name):
    module, given = build(name, ("premise", "hypothesis")), (states(7, 4), states(5, 6))
    plain = module(given)
    with recording() as record:
        assert torch.equal(module(given), plain)
    assert {"premise/pool/weight", "hypothesis/pool/weight"} <= set(map(str, record.sites))
    assert any(site.is_under("premise/layer.0") for site in record.sites) == (EVERY[name]["mechanism"] in TAPPED)
    for site, tapped in record.sites.items():
        states_ = given[site.is_under("hypothesis")]
        assert site.quantity == tapped.quantity and tapped.quantity in QUANTITIES and set(tapped.axes) <= set(AXES)
        if tapped.quantity == "weight":
            assert tapped.sums_over == ("key",) and (tapped.tensor >= 0).all()
            total = tapped.tensor.sum(1 + tapped.axes.index("key"))
            assert ((total - 1).abs().lt(1e-5) | total.eq(0)).all()
            hidden = tapped.tensor.movedim(1 + tapped.axes.index("key"), 1)[~states_.keep]
            assert not hidden.any()


@torch.no_grad()
def test_save_and_load_changes_nothing(name, tmp_path):
    module, other, given = build(name), build(name, seed=9), (states(7, 4, 1),)
    assert not torch.equal(module(given), other(given))
    save_file(module.state_dict(), tmp_path / "model.safetensors")
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert torch.equal(module(given), other(given))


def test_dropout_is_of_training_alone(name):
    module, given = build(name, keep=0.5), (states(7, 4, 1),)
    assert torch.equal(module(given), module(given))
    module.train()
    assert not torch.equal(module(given), module(given))
