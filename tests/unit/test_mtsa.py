"""The layer: projections, heads and masks put together as in section 3.2, what it shows, and its ablations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.bench import mtsa as bench
from tests.oracles import tensorized as oracle
from triattn_core.attention.mtsa import Mtsa
from triattn_core.attention.tap import recording
from triattn_core.errors import ConfigError
from triattn_core.trace.site import Site

WIDTH, HEADS, SIZE, N = 6, 4, 5, 7
MASKS = ("forward", "backward", "window:2", "distance")
KEEP = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1, 1]]).bool()


def layer(**more) -> Mtsa:
    torch.manual_seed(1)
    module = Mtsa(WIDTH, HEADS, SIZE, MASKS, **more).double().eval()
    for name, parameter in module.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return module


def states() -> torch.Tensor:
    return torch.randn(2, N, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def by_hand(module: Mtsa, x: np.ndarray, keep: np.ndarray, act: str) -> np.ndarray:
    """Eq. 13 of one example, a head after the other."""
    has = {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}
    heads = []
    for c in range(HEADS):
        rows = slice(c * SIZE, (c + 1) * SIZE)
        of = {name: x @ has[f"{name}.weight"][rows].T + has[f"{name}.bias"][rows]
              for name in ("query", "key", "value") if f"{name}.weight" in has}  # fmt: skip
        v = of["value"]
        k = of.get("key", 0 * v)
        R = oracle.token2token(of.get("query", 0 * v), k)
        S = np.zeros_like(k)
        if module.source2token:
            first, second = (f"source2token.{name}" for name in ("first", "second"))
            S = oracle.source2token(k, has[f"{first}.weight"][c].T, has[f"{first}.bias"][c, 0],
                                    has[f"{second}.weight"][c].T, has[f"{second}.bias"][c, 0], act)  # fmt: skip
        M = oracle.mask(module.masks[c], N, module.include_self)
        P = oracle.weights(R, S, M, keep, module.scale_t, module.scale_s)
        heads.append(oracle.attended(P, v, keep))
    return np.concatenate(heads, -1) @ has["out.weight"].T + has["out.bias"]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"scale_t": "identity", "include_self": True},
        {"scale_s": "log_sigmoid"},
        {"activation": "elu"},
        {"token2token": False},
        {"source2token": False},
        {"token2token": False, "source2token": False},
    ],
    ids=str,
)
def test_a_layer_is_that_of_the_paper(more):
    module, x, act = layer(**more), states(), more.get("activation", "relu")
    output = module(x, KEEP)
    for b in range(2):
        np.testing.assert_allclose(output[b].detach(), by_hand(module, x[b].numpy(), KEEP[b].numpy(), act), atol=1e-10)


def test_half_of_the_heads_look_back_and_half_ahead():
    assert Mtsa(WIDTH, 4, SIZE).masks == ("forward", "forward", "backward", "backward")
    assert Mtsa(WIDTH, 3, SIZE, ["none"]).masks == ("none",) * 3
    with pytest.raises(ConfigError, match="2 masks for 3 heads"):
        Mtsa(WIDTH, 3, SIZE, ["forward", "backward"])
    with pytest.raises(ConfigError, match="'forwards'; .*forward"):
        Mtsa(WIDTH, 3, SIZE, ["forwards"])


@pytest.mark.parametrize(("scale_t", "scale_s"), [("log_sigmoid", "identity"), ("identity", "log_sigmoid")])
def test_what_is_shown_is_what_was_computed(scale_t, scale_s):
    module, x = layer(scale_t=scale_t, scale_s=scale_s), states()
    plain = module(x, KEEP)
    with recording() as record:
        output = module(x, KEEP, Site(layer=0))
    assert torch.equal(plain, output)
    sites = {str(site).removeprefix("layer.0/"): tapped for site, tapped in record.sites.items()}
    scores = [f"{a}/{b}" for a in ("source2token", "token2token") for b in ("relevance", "weight")]
    assert sorted(sites) == ["mask/contribution", *scores]
    R, S = sites["token2token/relevance"].tensor, sites["source2token/relevance"].tensor
    for b in range(2):
        keep = KEEP[b].numpy()
        for c, name in enumerate(MASKS):
            M = oracle.mask(name, N, False)
            np.testing.assert_array_equal(sites["mask/contribution"].tensor[b, c], M)
            nothing = np.zeros((N, 2))
            pairs = oracle.weights(R[b, c].numpy(), nothing, M, keep, scale_t, "identity")[..., 0]
            np.testing.assert_allclose(sites["token2token/weight"].tensor[b, c], pairs, atol=1e-12)
        S_ = np.vectorize(oracle.SCALES[scale_s])(S[b][:, keep].numpy())
        wanted = np.exp(S_) / np.exp(S_).sum(1, keepdims=True)
        np.testing.assert_allclose(sites["source2token/weight"].tensor[b][:, keep], wanted, atol=1e-12)


def test_padding_changes_nothing():
    module, x = layer(), states()
    for b in range(2):
        alone = module(x[b : b + 1, KEEP[b]], torch.ones(1, int(KEEP[b].sum()), dtype=torch.bool))
        torch.testing.assert_close(module(x, KEEP)[b, KEEP[b]], alone[0])


def test_attention_is_dropped_in_training_only():
    module, x = layer(keep=0.64), states()
    assert module.share == pytest.approx(0.2)
    assert torch.equal(module(x, KEEP), layer()(x, KEEP))
    module.train()
    assert not torch.allclose(module(x, KEEP), module(x, KEEP))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--tokens", "64", "5000"], "--tokens 5000: expected a number from 1 to 4096"),
        (["--tokens", "0"], "--tokens 0: expected a number from 1 to 4096"),
        (["--device", "cuda"], "device 'cuda' is not on this machine"),
    ],
)
def test_what_the_bench_cannot_measure_is_one_line(monkeypatch, capsys, asked, message):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(bench, "keep_freed_memory", lambda: None)  # it is of the whole process
    monkeypatch.setattr("sys.argv", ["bench", *asked])
    with pytest.raises(SystemExit, match=message):
        bench.main()
    assert not capsys.readouterr().out
