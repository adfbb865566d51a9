"""COIN's equations and the whole network against the oracle; what is tapped; what can be left out and ablated."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import coin as oracle
from triattn_core.attention import coin
from triattn_core.attention.tap import recording
from triattn_core.configs.coin import CoinConfig
from triattn_core.models.coin import Coin, Sentences
from triattn_core.models.coin_layers import Convolution, HeadPooling, MaxPooling, windows_of
from triattn_core.training.loop import optimizer_for

WORDS, EMBEDDING, HIDDEN, HEADS, LAYERS = 19, 7, 13, 2, 3
LENGTHS, N, I = ((5, 3), (1, 11), (2, 2)), 5, 11
ABLATIONS = {
    "whole": {},
    "without context": {"context": False},
    "simple fusion": {"fusion": "simple"},
    "without aggregation": {"aggregation": False},
    "simple pooling": {"pooling": "max"},
    "without all": {"context": False, "fusion": "simple", "aggregation": False, "pooling": "max"},
}


def build(**more) -> Coin:
    torch.manual_seed(3)
    sizes = {"embedding": EMBEDDING, "hidden": HIDDEN, "layers": LAYERS, "heads": 1}
    module = Coin(CoinConfig(**{**sizes, **more}), WORDS).double().eval()
    for name, parameter in module.named_parameters():
        if name.endswith("bias") or name == "embed.weight":
            torch.nn.init.normal_(parameter, std=0.5)
        elif parameter.ndim > 1:
            parameter.data *= 1.5  # else three pairs hardly differ
    return module


def weights(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: parameter.detach().double().numpy() for name, parameter in module.named_parameters()}


def sentences(before: bool = False, more: int = 0) -> tuple[Sentences, Sentences]:
    """Three pairs; padding is the word 2, after the tokens or before them."""
    draw, sides = torch.Generator().manual_seed(5), []
    for side, n in enumerate((N + more, I + more)):
        words, keep = torch.full((len(LENGTHS), n), 2), torch.zeros(len(LENGTHS), n, dtype=torch.bool)
        for row, lengths in enumerate(LENGTHS):
            at = slice(n - lengths[side], n) if before else slice(0, lengths[side])
            words[row, at] = torch.randint(5, WORDS, (lengths[side],), generator=draw)
            keep[row, at] = True
        sides.append(Sentences(words, keep))
    return sides[0], sides[1]


def tokens(n: int, width: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, width))


def batch(rows: np.ndarray) -> torch.Tensor:
    return torch.tensor(np.array(rows))[None]


def real(n: int) -> torch.Tensor:
    return torch.ones(1, n, dtype=torch.bool)


def test_self_alignment_is_equations_5_and_6():
    h, W = tokens(5, 7), {"context.weight": tokens(3, 7, seed=8)}
    A, shares, C = coin.self_alignment(batch(h), batch(h @ W["context.weight"].T), real(5))
    expected, context = oracle.self_alignment(list(h), W)
    np.testing.assert_allclose(shares[0], expected, atol=1e-12)
    np.testing.assert_allclose(C[0], context, atol=1e-12)
    np.testing.assert_allclose(A.softmax(-1)[0], expected, atol=1e-12)


def test_cross_attention_is_equations_1_to_4():
    h_a, h_b, c_a, c_b = (tokens(n, 7, seed) for n, seed in ((5, 1), (3, 2), (5, 3), (3, 4)))
    W = {"align.weight": tokens(11, 7, seed=5), "align.bias": tokens(1, 11, seed=6)[0]}
    for a, b in ((c_a, c_b), (0 * c_a, 0 * c_b)):
        f_a, f_b = (batch(x @ W["align.weight"].T + W["align.bias"]).relu() for x in (h_a + a, h_b + b))
        E, over_b, over_a = coin.cross_attention(f_a, f_b, real(5), real(3))
        expected = oracle.relevance(list(h_a), list(h_b), list(a), list(b), W)
        np.testing.assert_allclose(E[0], expected, atol=1e-12)
        np.testing.assert_allclose(over_b[0].numpy() @ h_b, oracle.aligned(expected, list(h_b)), atol=1e-12)
        np.testing.assert_allclose(over_a[0].numpy() @ h_a, oracle.aligned(expected.T, list(h_a)), atol=1e-12)


def test_gate_fusion_is_equations_7_to_12():
    torch.manual_seed(1)
    module = coin.GateFusion(7, 3, 0.0).double()
    h, other = tokens(5, 7), tokens(5, 7, seed=9)
    W = {f"fusion.{name}": tensor for name, tensor in weights(module).items()}
    new, f = module(torch.tensor(h), torch.tensor(other))
    for row in range(5):
        gate, expected = oracle.gate_fusion(h[row], other[row], W)
        np.testing.assert_allclose(f[row].detach(), gate, atol=1e-12)
        np.testing.assert_allclose(new[row].detach(), expected, atol=1e-12)


def test_pooling_is_equations_13_to_15():
    torch.manual_seed(1)
    module, v, w = HeadPooling(6, 3).double(), tokens(5, 6), tokens(2, 6, seed=4)
    pair = coin.Pair(coin.concatenate(batch(v), batch(w)), real(5), real(2))
    W = {f"pool.{name}": tensor for name, tensor in weights(module).items()}
    for output, rows in zip(module(pair), (v, w)):
        np.testing.assert_allclose(output[0].detach(), oracle.pooling(list(rows), W, 3), atol=1e-12)
    for output, rows in zip(MaxPooling(4, 1)(pair), (v, w)):
        np.testing.assert_allclose(output[0], rows.max(0), atol=0)


def test_a_convolution_is_that_of_torch():
    torch.manual_seed(1)
    module, v, w = Convolution(7, 3).double(), tokens(5, 7), tokens(2, 7, seed=4)
    states = module(coin.Pair(coin.concatenate(batch(v), batch(w)), real(5), real(2))).split
    for output, rows in zip(states, (v, w)):
        inner = torch.nn.functional.pad(batch(rows).mT, (1, 1))
        torch.testing.assert_close(output, module.convolution(inner).mT.relu(), rtol=0, atol=1e-12)
    assert windows_of(batch(v), real(5))[0, 0, :7].eq(0).all()


@pytest.mark.parametrize("name", ABLATIONS)
def test_the_network_is_that_of_the_paper(name):
    module, given = build(**ABLATIONS[name]), sentences()
    W, output = weights(module), module(given)
    how = {"pool" if key == "pooling" else key: setting for key, setting in ABLATIONS[name].items()}
    for row, lengths in enumerate(LENGTHS):
        a, b = ([W["embed.weight"][i] for i in one.words[row, :n]] for one, n in zip(given, lengths))
        np.testing.assert_allclose(output[row].detach(), oracle.forward(a, b, W, LAYERS, 1, **how), atol=1e-10)


def test_what_is_shown_is_what_was_computed():
    module, given = build(heads=HIDDEN), sentences()
    W, seen = weights(module), set()
    with recording() as record:
        module(given)

    def check_sites(expected: dict, at: str) -> None:
        for site, array in expected.items():
            actual, array = record.sites[at + site].tensor[0].numpy(), np.array(array)
            np.testing.assert_allclose(actual[: array.shape[0], : array.shape[1]], array, atol=1e-10, err_msg=at + site)
            seen.add(at + site)

    a, b = ([W["embed.weight"][i] for i in one.words[0, :n]] for one, n in zip(given, LENGTHS[0]))
    states = []
    for x in (a, b):
        inner = oracle.convolution(oracle.convolution(x, W, "encode.0.convolution"), W, "encode.1.convolution")
        states.append([np.concatenate(both) for both in zip(x, inner)])
    for i in range(LAYERS):
        here, (a, b) = oracle.below(W, f"layers.{i}."), states
        (self_a, c_a), (self_b, c_b) = oracle.self_alignment(a, here), oracle.self_alignment(b, here)
        nothing = [0.0 * c for c in c_a], [0.0 * c for c in c_b]
        E, plain = oracle.relevance(a, b, c_a, c_b, here), oracle.relevance(a, b, *nothing, here)
        gates = [
            [oracle.gate_fusion(h, other, here)[0] for h, other in zip(own, oracle.aligned(scores, others))]
            for own, scores, others in ((a, E, b), (b, E.T, a))
        ]
        rows = lambda E: [oracle.softmax(row) for row in E]  # noqa: E731
        expected = {
            "a_over_a/relevance": oracle.self_relevance(a, here),
            "a_over_a/weight": self_a,
            "b_over_b/relevance": oracle.self_relevance(b, here),
            "b_over_b/weight": self_b,
            "a_over_b/relevance": E,
            "a_over_b/weight": rows(E),
            "b_over_a/relevance": E.T,
            "b_over_a/weight": rows(E.T),
            "a_over_b/without_context/relevance": plain,
            "a_over_b/without_context/weight": rows(plain),
            "b_over_a/without_context/relevance": plain.T,
            "b_over_a/without_context/weight": rows(plain.T),
            "a_over_b/gate": gates[0],
            "b_over_a/gate": gates[1],
        }
        check_sites(expected, f"layer.{i}/")
        states = oracle.block(a, b, here, True, "gate")
    for name, x in zip("ab", states):
        v = oracle.convolution(x, W, "aggregate.convolution")
        check_sites({f"{name}_over_{name}/weight": [oracle.pooling_weights(v, W, z) for z in range(HIDDEN)]}, "pool/")
    assert record.sites["pool/b_over_b/weight"].axes == ("head", "key") and seen == set(map(str, record.sites))


def test_the_context_term_and_blocks_can_be_ablated():
    given, module = sentences(), build()
    shorter, plain = build(), build(context=False)
    shorter.layers = torch.nn.ModuleList([shorter.layers[0], shorter.layers[2]])
    plain.load_state_dict({name: tensor for name, tensor in module.state_dict().items() if "context" not in name})
    torch.testing.assert_close(module(given, ablated=("layer.1",)), shorter(given))
    torch.testing.assert_close(module(given, ablated=("context",)), plain(given))
    assert not torch.allclose(module(given, ablated=("context",)), module(given), atol=1e-3)
    with recording() as record:
        module(given, ablated=("context", "layer.1"))
    assert not [site for site in record.sites if site.layer == 1 or "without" in site.role or site.role == "a_over_a"]


def test_frozen_vectors_are_projected():
    torch.manual_seed(1)
    module = Coin(CoinConfig(embedding=EMBEDDING, hidden=HIDDEN, heads=1), 3, frozen=True).eval()
    own = Coin(CoinConfig(embedding=EMBEDDING, hidden=HIDDEN, heads=1), WORDS).eval()
    table = torch.randn(WORDS, 3)
    rest = {name: tensor for name, tensor in module.state_dict().items() if not name.startswith("embed.")}
    own.load_state_dict(rest | {"embed.weight": module.embed(table).detach()})
    frozen = tuple(Sentences(table[sentence.words], sentence.keep) for sentence in sentences())
    torch.testing.assert_close(module(frozen), own(sentences()))


@pytest.mark.parametrize("std", [0.1, 0.3])
def test_vectors_begin_alike_whether_learnt_or_projected(std):
    """Standardised vectors that are not made smaller overflow: h * h' in block after block."""
    torch.manual_seed(1)
    config, table = CoinConfig(initial_std=std), torch.nn.functional.layer_norm(torch.randn(300, 384), (384,))
    learnt = Coin(config, len(table)).embed(torch.arange(len(table)))
    projected = Coin(config, 384, frozen=True).embed(table)
    for vectors in (learnt, projected):
        assert vectors.std().item() == pytest.approx(std, rel=0.02)


def test_gates_begin_where_the_config_says():
    for bias in (0.0, 2.0):
        module = Coin(CoinConfig(embedding=EMBEDDING, hidden=HIDDEN, heads=1, gate_bias=bias), WORDS)
        for layer in module.layers:
            torch.nn.init.zeros_(layer.fusion.gate_own.weight)
            torch.nn.init.zeros_(layer.fusion.gate_new.weight)
            h = torch.randn(3, EMBEDDING + HIDDEN)
            _, gate = layer.fusion(h, torch.randn(3, EMBEDDING + HIDDEN))
            torch.testing.assert_close(gate, torch.full_like(gate, bias).sigmoid())
    Coin(CoinConfig(embedding=EMBEDDING, hidden=HIDDEN, heads=1, gate_bias=2.0, fusion="simple"), WORDS)  # has none


def test_each_block_has_its_share_of_the_learning_rate():
    module = Coin(CoinConfig(embedding=EMBEDDING, hidden=HIDDEN, heads=1, layers=3, block_rate=4.0), WORDS)
    shares = {
        id(parameter): group["rate_share"]
        for group in optimizer_for(module, 0.01, "adam").param_groups
        for parameter in group["params"]
    }
    for number, layer in enumerate(module.layers):
        assert {shares[id(parameter)] for parameter in layer.parameters()} == {4.0**number}
    assert {shares[id(parameter)] for parameter in module.predict.parameters()} == {1.0}


def test_an_answer_after_a_block_is_that_of_the_model_cut_there():
    sizes = {"embedding": EMBEDDING, "hidden": HIDDEN, "heads": 1}
    each = (module := Coin(CoinConfig(**sizes, layers=3), WORDS).eval())(sentences(), each_block=True)
    for layers, answer in enumerate(each, 1):
        cut = Coin(CoinConfig(**sizes, layers=layers), WORDS).eval()
        cut.load_state_dict({name: w for name, w in module.state_dict().items() if name in cut.state_dict()})
        torch.testing.assert_close(answer, cut(sentences()))
    assert len(each) == 3 and not torch.allclose(each[0], each[-1])
