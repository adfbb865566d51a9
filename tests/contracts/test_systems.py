"""Promises that every QA system keeps, with its own similarity and with T-trilinear in its place: walks the table."""

from __future__ import annotations

from math import gcd

import numpy as np
import pytest
import torch

from tests.oracles import systems as oracle
from tests.unit.test_reader import LENGTHS, WORDS, M, N, texts
from triattn_core.attention import qa_flows
from triattn_core.attention.tap import recording
from triattn_core.configs.reader import ReaderConfig
from triattn_core.models.systems import SYSTEMS, dcn
from triattn_core.models.systems.dcn import GUESSES, POOL, Maxout
from triattn_core.models.systems.qanet import BLOCKS, HEADS

B, D = 3, 11
OWN = {"bidaf": "trilinear", "dcn": "dot", "qanet": "trilinear"}
both = pytest.mark.parametrize("similarity", ["own", "t_trilinear"])
every = pytest.mark.parametrize("name", SYSTEMS)


def build(name: str, similarity: str = "own", seed: int = 1, dropout: float = 0.0) -> torch.nn.Module:
    torch.manual_seed(seed)
    function = OWN[name] if similarity == "own" else similarity
    config = ReaderConfig(mechanism=name, similarity=function, width=13, hidden=6, dropout=dropout)
    return SYSTEMS[name](config, WORDS).eval()


@pytest.mark.parametrize("flow", ["attention_flow", "coattention", "context_query"])
def test_flows_are_those_of_the_papers(flow):
    draw = torch.Generator().manual_seed(3)
    H, U, S = (torch.randn(B, *size, generator=draw, dtype=torch.float64) for size in ((M, D), (N, D), (M, N)))
    keeps = [
        torch.arange(size) < torch.tensor([[length[side]] for length in LENGTHS]) for side, size in ((0, M), (1, N))
    ]
    with recording() as record:
        output = getattr(qa_flows, flow)(H, U, 3 * S, *keeps)
    back = record.sites[qa_flows.OVER_PASSAGE]
    assert back.sums_over == ("query",)
    for row, (m, n) in enumerate(LENGTHS):
        expected = getattr(oracle, flow)(H[row, :m].numpy(), U[row, :n].numpy(), 3 * S[row, :m, :n].numpy())
        np.testing.assert_allclose(output[row, :m].numpy(), expected, atol=1e-12)
        weights = back.tensor[row, :m] if back.tensor.ndim == 2 else back.tensor[row, :m, :n]
        np.testing.assert_allclose(weights, oracle.over_passage(flow, 3 * S[row, :m, :n].numpy()), atol=1e-12)


def test_sentinels_are_not_shown_but_keep_their_share():
    draw = torch.Generator().manual_seed(3)
    passage, question, L = (torch.randn(1, *size, generator=draw) for size in ((M, D), (N, D), (M, N)))
    keeps = torch.ones(1, M, dtype=torch.bool), torch.ones(1, N, dtype=torch.bool)
    with recording() as record:
        qa_flows.coattention(passage, question, L, *keeps, beyond=1)
    back = record.sites[qa_flows.OVER_PASSAGE]
    assert back.tensor.shape == (1, M - 1, N - 1) and back.sums_over == ()
    np.testing.assert_allclose(back.tensor[0], L[0].softmax(0)[:-1, :-1], atol=1e-6)


@torch.no_grad()
def test_the_maxout_network_is_that_of_the_paper():
    torch.manual_seed(5)
    module = Maxout(D).double()
    weights = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    U, state, guess = (torch.randn(2, *size, dtype=torch.float64) for size in ((M, 2 * D), (D,), (4 * D,)))
    scores = module(module.of_words(U), state, guess)
    for row, place in ((0, 0), (0, M - 1), (1, 3)):
        expected = oracle.maxout(U[row, place].numpy(), state[row].numpy(), guess[row].numpy(), weights, POOL)
        assert scores[row, place].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "guesses"), [("bidaf", GUESSES), ("dcn", GUESSES), ("dcn", 1), ("qanet", GUESSES)])
@torch.no_grad()
def test_the_whole_system_is_that_of_its_paper(name, guesses, monkeypatch):
    """One guess: later ones mostly stay what they were, and do not show from which start an end is told."""
    monkeypatch.setattr(dcn, "GUESSES", guesses)
    module, given = build(name).double(), texts(torch.float64)
    draw = torch.Generator().manual_seed(10)
    for parameter in module.parameters():  # far from where training begins, so that every part counts
        parameter.copy_(0.7 * torch.randn(parameter.shape, generator=draw, dtype=torch.float64))
    weights, output = {key: tensor.numpy() for key, tensor in module.state_dict().items()}, module(given)
    sizes = {"bidaf": (), "dcn": (POOL, guesses), "qanet": (gcd(HEADS, 6), BLOCKS)}[name]
    for row, (m, n) in enumerate(LENGTHS):
        passage, question = given[0].vectors[row, :m].numpy(), given[1].vectors[row, :n].numpy()
        expected = np.stack(getattr(oracle, name)(passage, question, weights, *sizes), -1)
        np.testing.assert_allclose(output[row, :m].numpy(), expected, rtol=1e-4, atol=1e-4)


@every
@both
@torch.no_grad()
def test_padding_changes_nothing(name, similarity):
    module = build(name, similarity)
    after, before = texts(), texts(before=True)
    left, right = module(after), module(before)
    keep = after[0].keep
    torch.testing.assert_close(left[keep], right[before[0].keep], rtol=0, atol=2e-5)
    assert left.shape == (B, M, 2) and (left[~keep] < -1e30).all() and left[keep].abs().max() < 1e3
    for row, (m, n) in enumerate(LENGTHS):
        alone = module([type(one)(one.vectors[row : row + 1, :s], one.keep[row : row + 1, :s]) for one, s in
                        zip(after, (m, n))])  # fmt: skip
        torch.testing.assert_close(left[row, :m], alone[0], rtol=0, atol=2e-5)


@every
@torch.no_grad()
def test_recording_changes_nothing_and_shows_the_words_alone(name):
    module, given = build(name), texts()
    plain = module(given)
    with recording() as record:
        assert torch.equal(module(given), plain)
    parts = {f"{part}/{what}" for part in ("attention", "start", "end") for what in ("relevance", "weight")}
    assert set(map(str, record.sites)) == parts | {str(qa_flows.OVER_PASSAGE)}
    back = record.sites[qa_flows.OVER_PASSAGE]
    assert back.tensor.shape == ((B, M) if name == "bidaf" else (B, M, N))
    scores, weights = (record.sites[f"attention/{what}"] for what in ("relevance", "weight"))
    assert scores.tensor.shape == weights.tensor.shape == (B, M, N)
    sums = weights.tensor.sum(-1)
    assert (sums < 1 - 1e-6).all() if name == "dcn" else torch.allclose(sums, torch.ones(B, M))
    assert weights.sums_over == (() if name == "dcn" else ("key",))
    # What `span_decoding.score_terms` shows of a cell is its score.
    passage, question = module.states(given)
    for query, key in ((4, 3), (0, 1)):
        parts = module.attention.similarity.terms(passage.vectors[0, query], question.vectors[0, key])
        total = sum(part.sum() for part in parts.values())
        torch.testing.assert_close(total, scores.tensor[0, query, key], rtol=1e-4, atol=1e-5)


@every
@both
def test_every_weight_learns(name, similarity):
    module = build(name, similarity).train()
    torch.manual_seed(1)
    total = 0
    for _ in range(3):  # QANet leaves layers out by chance
        output = module(texts())[texts()[0].keep]
        total = total + (output * torch.randn(output.shape)).sum()
    total.backward()
    for parameter_name, parameter in module.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), parameter_name
        assert parameter.grad.abs().max() > 1e-12, parameter_name


@every
def test_the_function_changes_what_is_found(name):
    own, other = build(name), build(name, "t_trilinear")
    shared = {k: v for k, v in own.state_dict().items() if not k.startswith("attention.")}
    other.load_state_dict(shared, strict=False)
    with torch.no_grad():
        assert not torch.allclose(own(texts()), other(texts()), atol=1e-4)


def test_an_output_is_the_baselines():
    with pytest.raises(ValueError, match="O_1 is the baseline's"):
        ReaderConfig(mechanism="dcn", similarity="dot", output="O_1")
