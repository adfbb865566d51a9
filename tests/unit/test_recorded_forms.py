"""`record` of attention in another form than softmax, then values: each form a small module, against its equation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from tests.architectures import sentence_of, small_model
from triattn_core.errors import TraceError
from triattn_core.recording.tape import record


class TalkingHeads(nn.Module):
    """Shazeer et al. 2020 (arXiv 2003.02436): heads are mixed after the softmax; here each way to write it."""

    def __init__(self, way: str, heads: int = 3, mixed: int = 3):
        super().__init__()
        self.heads, self.way = heads, way
        self.project, self.mix = nn.Linear(12, 36), nn.Parameter(torch.randn(heads, mixed))
        self.norm = nn.BatchNorm2d(mixed).eval()

    def maps(self, states):
        query, key, _ = (x.unflatten(-1, (3, 4)).transpose(1, 2) for x in self.project(states).chunk(3, -1))
        return (query @ key.mT / 2).softmax(-1)

    def mixed(self, maps):
        if self.way == "einsum":
            return torch.einsum("bhij,hg->bgij", maps, self.mix)
        if self.way == "einsum, heads last":
            return torch.einsum("bijh,hg->bijg", maps.permute(0, 2, 3, 1), self.mix).permute(0, 3, 1, 2)
        if self.way == "linear":
            return nn.functional.linear(maps.permute(0, 2, 3, 1), self.mix.T).permute(0, 3, 1, 2)
        if self.way == "convolution":
            return nn.functional.conv2d(maps, self.mix.T[:, :, None, None])
        if self.way == "product":
            return (self.mix.T @ maps.flatten(2)).unflatten(-1, maps.shape[2:])
        return self.norm(torch.einsum("bhij,hg->bgij", maps, self.mix))  # DeepViT

    def forward(self, states):
        value = self.project(states).chunk(3, -1)[2].unflatten(-1, (3, 4)).transpose(1, 2)
        return (self.mixed(self.maps(states)) @ value).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize(
    "way", ["einsum", "einsum, heads last", "linear", "convolution", "product", "einsum, normalised"]
)
def test_heads_that_are_mixed_after_the_softmax_are_the_map_that_is_used(way, batch):
    torch.manual_seed(0)
    model, states = TalkingHeads(way), torch.randn(batch, 7, 12)
    with torch.no_grad(), record(model, example=batch - 1) as tape:
        model(states)
        maps = model.maps(states)
        mixed = model.mixed(maps)
    trace = tape.trace(tokens=list("abcdefg"))
    assert trace.sites["attention/contribution"].dims == ("head", "query", "key")
    np.testing.assert_allclose(trace.sites["attention/contribution"], mixed[-1], atol=1e-6)
    np.testing.assert_allclose(trace.sites["attention/weight"], maps[-1], atol=1e-6)
    assert len(trace.sites) == 2 and trace.sites["attention/weight"].attrs["kind"] == "part"
    assert tape.error < 1e-5 and "sink" not in trace.meta["notes"]
    assert "a mix of the maps of its heads" in trace.meta["notes"]


def test_a_mix_of_shares_is_a_weight_and_may_have_fewer_heads():
    torch.manual_seed(0)
    model, states = TalkingHeads("einsum"), torch.randn(1, 7, 12)
    model.mix.data = torch.rand(3, 3).softmax(0)
    with torch.no_grad(), record(model) as tape:
        model(states)
        mixed = model.mixed(model.maps(states))
    [first, *_] = tape.trace().sites.items()
    assert str(first[0]) == "attention/weight" and first[1].attrs["sums_over"] == "key"
    np.testing.assert_allclose(first[1], mixed[0], atol=1e-6)


class OverQueries(nn.Module):
    """Keys are shared out among the queries; `even`: then made even over the keys (Locatello et al. 2020, slots)."""

    def __init__(self, heads: int, even: bool, written: str):
        super().__init__()
        self.heads, self.even, self.written = heads, even, written

    def forward(self, slots, states):
        query, key = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in (slots, states))
        if self.written == "transposed":
            weights = (key @ query.mT).softmax(-1).mT
        else:
            weights = (query @ key.mT).softmax(-2)
        if self.even:
            weights = weights / weights.sum(-1, keepdim=True)
        return torch.einsum("bhqk,bhkd->bhqd", weights, key) if self.written == "einsum" else weights @ key


@pytest.mark.parametrize("written", ["einsum", "product", "transposed"])
@pytest.mark.parametrize("slots", [3, 7])
@pytest.mark.parametrize("heads", [1, 2])
def test_a_softmax_over_queries_says_so(heads, slots, written):
    torch.manual_seed(0)
    model, given = OverQueries(heads, False, written), (torch.randn(1, slots, 8), torch.randn(1, 7, 8))
    with record(model) as tape:
        model(*given)
    trace = tape.trace(key=list("abcdefg"))
    [array] = trace.sites.values()
    assert array.sizes == {"head": heads, "query": slots, "key": 7} and array.attrs["sums_over"] == "query"
    query, key = (x[0].unflatten(-1, (heads, -1)).transpose(0, 1) for x in given)
    np.testing.assert_allclose(array, (query @ key.mT).softmax(-2), atol=1e-6)
    assert "The softmax runs over the queries: a column sums to one, not a row." in trace.meta["notes"]


def test_slots_that_are_made_even_over_keys_sum_over_keys():
    with record(model := OverQueries(1, True, "einsum")) as tape:
        model(torch.randn(1, 3, 8), torch.randn(1, 7, 8))
    [array] = tape.trace().sites.values()
    assert array.attrs["sums_over"] == "key"


class Blocks(nn.Module):
    """Tokens that attend within blocks of w; `beside`: and to tokens of all blocks, in one softmax."""

    def __init__(self, width: int, beside: int = 0):
        super().__init__()
        self.width, self.beside, self.project = width, beside, nn.Linear(8, 8)

    def forward(self, states):
        heads = self.project(states).unflatten(-1, (2, 4)).transpose(1, 2)
        blocks = heads.unflatten(2, (-1, self.width))
        if not self.beside:
            return (blocks @ blocks.mT).softmax(-1) @ blocks
        shared = heads[:, :, : self.beside]
        scores = torch.cat([torch.einsum("bhnkf,bhgf->bhnkg", blocks, shared), blocks @ blocks.mT], -1)
        weights = scores.softmax(-1)
        far = torch.einsum("bhnkg,bhgf->bhnkf", weights[..., : self.beside], shared)
        return far + weights[..., self.beside :] @ blocks


@pytest.mark.parametrize("width", [4, 5])  # as many blocks as tokens in one, and not
def test_blocks_are_no_cube(width):
    model = Blocks(width)
    with record(model) as tape:
        model(torch.randn(1, 4 * width, 8))
    [array] = tape.trace().sites.values()
    assert array.dims == ("head", "query", "key") and array.shape == (8, width, width)


@pytest.mark.parametrize(("width", "beside"), [(4, 4), (4, 3), (5, 2)])
def test_pieces_of_blocks_are_refused_in_a_line(width, beside):
    model = Blocks(width, beside)
    with record(model) as tape:
        model(torch.randn(1, 4 * width, 8))
    with pytest.raises(TraceError, match="Blocks: the model attends in blocks: the pieces of such a map are not put"):
        tape.trace()


@pytest.mark.parametrize(
    ("model_type", "sizes"),
    [
        ("big_bird", {"block_size": 4, "num_random_blocks": 1, "max_position_embeddings": 200}),
        ("pegasus_x", {"num_global_tokens": 8, "block_size": 8}),
    ],
)
def test_blocks_of_a_library_are_no_cube_where_sizes_coincide(model_type, sizes):
    model = small_model(model_type, **sizes)
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model, 64))
    if model_type == "big_bird":
        with pytest.raises(TraceError, match='in blocks: .*; attention_type="original_full" in its config'):
            tape.trace()
    else:
        assert {array.sizes["key"] for array in tape.trace().sites.values()} == {58, 64}  # decoder and cross


def test_parts_of_one_softmax_that_are_no_blocks_are_maps():
    class Memory(nn.Module):
        def forward(self, states):
            weights = (states @ states.mT).softmax(-1)
            return weights[..., :3] @ states[:, :3] + weights[..., 3:] @ states[:, 3:]

    with record(model := Memory()) as tape:
        model(torch.randn(1, 7, 8))
    trace = tape.trace()
    assert [array.sizes["key"] for array in trace.sites.values()] == [3, 4]
    assert "The softmax runs over 7 keys, of which this map has a part" in trace.meta["notes"]


class Flex(nn.Module):
    """Flex attention with a mask and a bias by functions, four heads over two of keys."""

    def forward(self, states):
        query = states.unflatten(-1, (4, 3)).transpose(1, 2)
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, states.shape[1], states.shape[1], device="cpu")
        bias = lambda score, b, h, i, j: score - 0.1 * (i - j)  # noqa: E731
        return flex_attention(query, query[:, :2], query[:, :2], bias, mask, enable_gqa=True).transpose(1, 2)


@pytest.mark.filterwarnings("ignore")
def test_flex_attention_is_recorded():
    torch.manual_seed(0)
    model, states = Flex(), torch.randn(2, 7, 12)
    with torch.no_grad():
        plain = model(states)
        with record(model, example=1) as tape:
            assert torch.equal(model(states), plain)
    [array] = tape.trace(tokens=list("abcdefg")).sites.values()
    query = states[1].unflatten(-1, (4, 3)).transpose(0, 1)
    scores = query @ query[:2].repeat_interleave(2, 0).mT / 3**0.5
    scores = scores - 0.1 * (torch.arange(7)[:, None] - torch.arange(7))
    expected = scores.masked_fill(torch.ones(7, 7, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    np.testing.assert_allclose(array, expected, atol=1e-6)
    assert array.attrs["kind"] == "flex" and array.attrs["mask"] == "causal" and array.attrs["heads_to_a_key"] == 2
    assert tape.error < 1e-5


class Written(nn.Module):
    """One layer whose weights come by a function that is no softmax."""

    def __init__(self, way: str):
        super().__init__()
        self.way, self.query, self.key = way, nn.Linear(12, 12), nn.Linear(12, 12)

    def forward(self, states):
        scores = self.query(states) @ self.key(states).mT / 4
        if self.way == "sigmoid":
            weights = scores.sigmoid()
        elif self.way == "exponentials":
            weights = (scores - scores.amax(-1, keepdim=True)).exp()
            weights = weights / weights.sum(-1, keepdim=True)
        elif self.way == "exponentials with a sink":
            weights = torch.cat([scores, torch.zeros(*scores.shape[:-1], 1)], -1).exp()
            weights = (weights / weights.sum(-1, keepdim=True))[..., :-1]
        elif self.way == "normalised last":
            weights = scores.exp()
            return torch.einsum("bij,bjd->bid", weights, states) / weights.sum(-1, keepdim=True)
        else:
            weights = scores.softmax(-1)
        return weights @ states


@pytest.mark.parametrize("way", ["sigmoid", "exponentials", "exponentials with a sink", "normalised last"])
def test_a_layer_that_attends_without_a_softmax_is_told(way):
    model = nn.Sequential(Written("softmax"), Written(way), Written("softmax"), Written(way))
    with torch.no_grad(), record(model) as tape:
        model(torch.randn(1, 7, 12))
    trace = tape.trace()
    assert [site.layer for site in trace.sites] == [0, 2]
    told = (
        "1 and 1 more weigh values by a product of two projections without torch.softmax: that attention is not shown"
    )
    assert told in trace.meta["notes"]
    with torch.no_grad(), record(model, 1) as tape:
        model(torch.randn(1, 7, 12))
    with pytest.raises(
        TraceError, match="Sequential: 1 weighs values by a product of two projections without torch.softmax"
    ):
        tape.trace()


def test_tokens_without_a_batch_that_attend_without_a_softmax_are_told():
    with torch.no_grad(), record(Written("sigmoid")) as tape:
        tape.model(torch.randn(7, 12))
    with pytest.raises(TraceError, match="Written weighs values by a product of two projections"):
        tape.trace()


@pytest.mark.parametrize("model_type", ["bert", "deberta", "gpt_oss", "t5", "longformer", "bloom", "vits"])
def test_nothing_is_told_of_layers_that_are_seen(model_type):
    model = small_model(model_type)
    model.set_attn_implementation("eager")
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    assert "without torch.softmax" not in tape.trace().meta["notes"]
