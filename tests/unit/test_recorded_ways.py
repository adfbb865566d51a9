"""`record` of one attention in the many ways to write it: the map is the same; what is lost on the way is named."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from tests.architectures import sentence_of, small_model
from triattn_core.errors import TraceError
from triattn_core.recording.tape import record


def scores_of(states):
    return torch.einsum("bhid,bhjd->bhij", states, states) / 2


def map_of(states):
    return scores_of(states).softmax(-1)


def heads_in_turn(states):
    maps = [torch.softmax(states[:, head] @ states[:, head].mT / 2, -1) for head in range(states.shape[1])]
    return maps


def largest(states):
    values, places = scores_of(states).topk(3)
    return torch.zeros_like(scores_of(states)).scatter(-1, places, values.softmax(-1))


def copied(states):
    weights = map_of(states)
    kept = torch.empty_like(weights)
    kept.copy_(weights)
    return kept


def head_by_head(states):
    kept = torch.zeros(*states.shape[:3], states.shape[2])
    for head, weights in enumerate(heads_in_turn(states)):
        kept[:, head] = weights
    return kept


WAYS = {
    "reshape_as": lambda x: map_of(x).reshape_as(scores_of(x)) @ x,
    "einsum without an arrow": lambda x: torch.einsum("...ij,...jd", map_of(x), x).mT,
    "multiply and sum": lambda x: (map_of(x).unsqueeze(-1) * x.unsqueeze(-3)).sum(-2),
    "values first": lambda x: torch.sum(x[:, :, None] * map_of(x)[..., None], dim=3),
    "expanded": lambda x: (map_of(x)[..., None].expand(-1, -1, -1, -1, 4) * x[:, :, None]).sum(-2),
    "stack of heads": lambda x: torch.stack(heads_in_turn(x), 1) @ x,
    "cat of heads": lambda x: torch.cat([weights[:, None] for weights in heads_in_turn(x)], dim=1) @ x,
    "log_softmax, exp": lambda x: scores_of(x).log_softmax(-1).exp() @ x,
    "special.softmax": lambda x: torch.special.softmax(scores_of(x), -1) @ x,
    "softmin": lambda x: functional.softmin(-scores_of(x), dim=-1) @ x,
    "copy_": lambda x: copied(x) @ x,
    "head by head": lambda x: head_by_head(x) @ x,
    "roll": lambda x: map_of(x).roll(1, -1).roll(-1, -1) @ x,
}


def by_logsumexp(states):
    scores = scores_of(states)
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True)) @ states


WAYS["logsumexp, exp"] = by_logsumexp


class Written(nn.Module):
    def __init__(self, write):
        super().__init__()
        self.write = write

    def forward(self, states):
        return self.write(states)


@pytest.mark.parametrize("way", WAYS)
def test_one_attention_in_many_ways_is_one_map(way):
    torch.manual_seed(0)
    states = torch.randn(2, 3, 7, 4)
    plain = WAYS[way](states)
    with record(model := Written(WAYS[way]), example=1) as tape:
        assert torch.equal(model(states), plain)
    [(site, array)] = tape.trace(tokens=list("abcdefg")).sites.items()
    assert str(site) == "attention/weight" and array.dims == ("head", "query", "key") and tape.error < 1e-5
    np.testing.assert_allclose(array, map_of(states)[1], atol=1e-6)
    assert "was not seen" not in tape.trace().meta["notes"]


ONE_HEAD = {
    "einsum without an arrow": lambda p, v: torch.einsum("ij,jd", p, v),
    "linear": lambda p, v: functional.linear(p, v.T),
    "addmm": lambda p, v: torch.addmm(torch.ones(4), p, v, beta=2),
    "tensordot": lambda p, v: torch.tensordot(p, v, dims=1),
    "tensordot of axes": lambda p, v: torch.tensordot(p, v.T, ([1], [1])),
    "multi_dot": lambda p, v: torch.linalg.multi_dot([p, v, torch.ones(4, 5)]),
}


@pytest.mark.parametrize("way", ONE_HEAD)
def test_one_attention_of_matrices_in_many_ways_is_one_map(way):
    torch.manual_seed(0)
    states = torch.randn(7, 4)
    with record(model := Written(lambda x: ONE_HEAD[way]((x @ x.T).softmax(-1), x))) as tape:
        model(states)
    [array] = tape.trace().sites.values()
    np.testing.assert_allclose(array[0], (states @ states.T).softmax(-1), atol=1e-6)
    assert tape.error < 1e-5


def test_gumbel_weights_are_those_that_were_drawn_and_the_largest_are_one_map():
    torch.manual_seed(0)
    states = torch.randn(1, 3, 7, 4)
    with record(model := Written(lambda x: functional.gumbel_softmax(scores_of(x), hard=True) @ x)) as tape:
        model(states)
    [array] = tape.trace().sites.values()
    assert set(np.unique(np.round(array, 5))) == {0, 1} and tape.error < 1e-5
    with record(model := Written(lambda x: largest(x) @ x)) as tape:
        model(states)
    [array] = tape.trace().sites.values()
    np.testing.assert_allclose(array, largest(states)[0], atol=1e-6)
    assert "sink" not in tape.trace().meta["notes"]


@pytest.mark.parametrize("way", ["reshape_as", "multiply", "stack"])
def test_a_cube_in_many_ways_is_one_cube(way):
    def write(x):
        scores = torch.einsum("bhid,bhjd,bhkd->bhijk", x, x, x)
        cube = scores.flatten(3).softmax(-1).reshape_as(scores)
        if way == "multiply":
            return (cube[..., None] * x[:, :, None, :, None] * x[:, :, None, None]).sum((-3, -2))
        if way == "stack":
            cube = torch.stack([cube[:, 0], cube[:, 1]], 1)
        return torch.einsum("bhijk,bhjd,bhkd->bhid", cube, x, x)

    torch.manual_seed(0)
    states = torch.randn(1, 2, 5, 3)
    with record(model := Written(write)) as tape:
        model(states)
    [array] = tape.trace().sites.values()
    expected = torch.einsum("hid,hjd,hkd->hijk", *[states[0]] * 3).flatten(2).softmax(-1).view(2, 5, 5, 5)
    np.testing.assert_allclose(array, expected, atol=1e-6)
    assert array.dims == ("head", "query", "key", "context") and tape.error < 1e-5


class Lost(nn.Module):
    """A softmax of tokens over tokens whose weights go to values by a function that nobody reads."""

    def forward(self, states):
        return torch.cumsum((states @ states.mT).softmax(-1), -1) @ states


def test_a_softmax_that_is_lost_on_its_way_is_named_alone_and_beside_others():
    states = torch.randn(1, 7, 4)
    said = r"A softmax of \w+ \(1 × 7 × 7\) was not seen to weigh values: what follows it is not read"
    with record(model := Lost()) as tape:
        model(states)
    with pytest.raises(TraceError, match="Lost: " + said):
        tape.trace()
    with record(model := nn.Sequential(Written(lambda x: (x @ x.mT).softmax(-1) @ x), Lost())) as tape:
        model(states)
    trace = tape.trace()
    assert len(trace.sites) == 1
    assert "A softmax of 1 (1 × 7 × 7) was not seen to weigh values" in trace.meta["notes"]


class Routed(nn.Module):
    """Attention beside what is none: a router of experts, a pooling, a head over a vocabulary, each by a softmax."""

    def __init__(self):
        super().__init__()
        self.experts, self.pool, self.head = nn.Parameter(torch.randn(7, 4, 4)), nn.Linear(4, 1), nn.Linear(4, 7)
        self.router = nn.Parameter(torch.randn(7, 4))

    def forward(self, states):
        states = (states @ states.mT).softmax(-1) @ states
        chosen = (states @ self.router.T).softmax(-1)
        made = torch.einsum("bnd,edf->bnef", states, self.experts)
        states = (chosen[..., None] * made).sum(-2)
        pooled = (self.pool(states).softmax(1) * states).sum(1)
        gated = chosen[..., :2].permute(2, 0, 1)[..., None] * states  # by two experts, and their matrices
        states = (gated @ self.experts[:2, None]).sum(0)
        return self.head(states).softmax(-1), pooled, self.head(states).log_softmax(-1).exp()


def test_routers_pooling_and_heads_are_neither_recorded_nor_named():
    with record(model := Routed()) as tape:
        model(torch.randn(2, 7, 4))
    trace = tape.trace()
    assert len(trace.sites) == 1 and "softmax" not in trace.meta["notes"]


class Mapped(nn.Module):
    """Attention inside `torch.vmap`, by a softmax or fused."""

    def __init__(self, fused):
        super().__init__()
        self.fused = fused

    def forward(self, states):
        def attend(x):
            if self.fused:
                return functional.scaled_dot_product_attention(x, x, x)
            return torch.softmax(x @ x.mT, -1) @ x

        return torch.vmap(attend)(states)


@pytest.mark.parametrize("fused", [True, False])
def test_what_runs_inside_vmap_is_left_alone_with_a_note(fused):
    states, model = torch.randn(2, 3, 7, 4), nn.Sequential(Mapped(fused), Written(lambda x: map_of(x) @ x))
    plain = model(states)
    with record(model) as tape:
        assert torch.equal(model(states), plain)
    trace = tape.trace()
    assert len(trace.sites) == 1
    assert "0 runs inside torch.vmap, where its numbers cannot be read: it is not recorded" in trace.meta["notes"]
    with record(model[0]) as tape:
        model[0](states)
    with pytest.raises(TraceError, match="Mapped: the model runs inside torch.vmap"):
        tape.trace()
    with record(model[1]) as tape:
        torch.vmap(lambda x: model[1](x[None]))(states)
    with pytest.raises(TraceError, match="Written: the model runs inside torch.vmap"):
        tape.trace()


@pytest.mark.parametrize("kind", ["softmax", "fused"])
def test_a_model_without_numbers_is_refused_in_a_line(kind):
    states = torch.randn(1, 7, 4, device="meta")
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, device="meta").eval()
    model = layer if kind == "fused" else Written(lambda x: (x @ x.mT).softmax(-1) @ x)
    with torch.no_grad(), record(model) as tape:
        assert model(states).is_meta
    with pytest.raises(TraceError, match="is on the meta device and has no numbers: it is not recorded$"):
        tape.trace()


def test_a_block_inside_compiled_code_is_refused_in_a_line():
    model = Written(lambda x: (x @ x.mT).softmax(-1) @ x)

    @torch.compile(backend="eager")
    def run(states):
        with record(model):
            return model(states)

    with pytest.raises(TraceError, match="record: the block is inside a function of torch.compile"):
        run(torch.randn(1, 7, 4))


def test_a_model_that_ran_twice_says_which_run_is_shown():
    with record(model := Written(lambda x: (x @ x.mT).softmax(-1) @ x)) as tape:
        model(torch.randn(1, 7, 4))
        model(torch.randn(1, 5, 4))
    assert "The model ran 2 times: this is run 2 of 2" in tape.trace().meta["notes"]
    assert "this is run 1 of 2" in tape.trace(step=0).meta["notes"]
    with record(model) as tape:
        model(torch.randn(1, 7, 4))
    assert "The model ran" not in tape.trace().meta["notes"]


def test_reformer_has_maps_of_one_chunk_and_is_refused_beyond():
    """Its weights are exp(scores - logsumexp); in chunks of hash buckets keys have another order than tokens."""
    model = small_model("reformer", max_position_embeddings=256)
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    assert len(tape.trace().sites) == 4 and tape.error < 1e-5
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model, 100))
    with pytest.raises(TraceError, match="ReformerModel: on a text of this length attention goes by chunks"):
        tape.trace()
