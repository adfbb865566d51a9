"""`record` of third-order attention: cubes with their axes, and over which of them they sum to one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from transformers.models import esm

from tests.support.figure_arrays import sent_array
from triattn_core.errors import TraceError
from triattn_core.recording.probe import probe_cube
from triattn_core.recording.tape import record
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site
from triattn_core.views.cube import figure

TOKENS = [f"t{i}" for i in range(13)]


class Cube(nn.Module):
    """Attention of a query to pairs, as somebody writes it: one softmax over the n² pairs, kept flat."""

    def forward(self, states):
        scores = torch.einsum("bid,bjd,bkd->bijk", states, states, states).flatten(-2)
        values = torch.einsum("bjd,bkd->bjkd", states, states).flatten(1, 2)
        return torch.matmul(scores.softmax(-1), values)


class Triangle(nn.Module):
    """Attention along the rows of a pair representation [b, n, n, d]: a softmax over k alone (Edge Transformer)."""

    def forward(self, pairs):
        scores = torch.einsum("bxahd,bayhd->bhxya", pairs, pairs)
        values = torch.einsum("bxahd,bayhd->bhxyad", pairs, pairs)
        return torch.einsum("bhxya,bhxyad->bxyhd", scores.softmax(-1), values)


def test_pairs_are_folded_to_a_cube():
    states = torch.randn(1, 7, 5)
    with record(model := Cube()) as tape:
        model(states)
    cube = tape.trace(tokens=TOKENS[:7]).sites["attention/weight"]
    assert cube.dims == ("head", "query", "key", "context") and cube.attrs["sums_over"] == "key,context"
    scores = torch.einsum("bid,bjd,bkd->bijk", states, states, states)
    np.testing.assert_allclose(cube.values, scores.flatten(-2).softmax(-1).view(1, 7, 7, 7), atol=1e-6)


class Fourth(nn.Module):
    """Attention of a query to triples, of which a recorder has no axes."""

    def forward(self, states):
        scores = torch.einsum("bid,bjd,bkd,bld->bijkl", states, states, states, states)
        weights = scores.flatten(2).softmax(-1).view_as(scores)
        return torch.einsum("bijkl,bjd,bkd,bld->bid", weights, states, states, states)


def test_what_attends_to_triples_is_refused():
    with record(model := Fourth()) as tape:
        model(torch.randn(1, 7, 5))
    with pytest.raises(TraceError, match="three tokens or more at once"):
        tape.trace()


class MaskedCube(Cube):
    """The same with a mask of cells [n, n, n]: True where a query may not look."""

    def __init__(self, out):
        super().__init__()
        self.out = out

    def forward(self, states):
        scores = torch.einsum("bid,bjd,bkd->bijk", states, states, states).masked_fill(self.out, -torch.inf)
        weights = scores.flatten(-2).softmax(-1).nan_to_num(0).view_as(scores)
        return torch.einsum("bijk,bjd,bkd->bid", weights, states, states)


@pytest.mark.parametrize("form", ["causal", "any", "none"])
def test_masked_cells_of_a_cube_are_told_from_weights_of_zero(form, tmp_path):
    states = torch.randn(1, 7, 5)
    states[0, 1] = states[0, 2] = torch.tensor([6.0, 0, 0, 0, 0])  # scores of 216, others are 0 by rounding
    query, key, context = torch.meshgrid(*[torch.arange(7)] * 3, indexing="ij")
    out = {"causal": (key > query) | (context > query), "any": key == context, "none": key > 9}[form]
    with record(model := MaskedCube(out)) as tape:
        model(states)
    tape.trace(tokens=TOKENS[:7]).save(tmp_path / "T.nc")
    trace = AttentionTrace.load(tmp_path / "T.nc")
    cube = trace.sites["attention/weight"]
    said = {"causal": "causal", "any": "hides 14.3 % of the cells", "none": "none"}
    assert cube.attrs["mask"] == said[form] and bool((cube.values[0][~out.numpy()] == 0).any())
    assert ("masked" in cube.coords) == (form != "none")
    if form != "none":
        np.testing.assert_array_equal(cube["masked"], out)
        shown = Distribution(trace, Choice(Site.of("attention/weight"), index=(("head", 0),)))
        np.testing.assert_array_equal(shown.open_cells, (~out).sum((1, 2)))
        drawn = figure(shown, start_cell=(2, 1, 0))
        np.testing.assert_array_equal(sent_array(drawn.payload, 0, "masked"), out)
        hidden = [mark.masked for mark in drawn.maps]  # in print
        np.testing.assert_array_equal(hidden[0], out[:, :, 0])
        np.testing.assert_array_equal(hidden[1], out[:, 1])
        np.testing.assert_array_equal(hidden[2], out[2])


def test_a_pair_as_query_is_normalised_over_keys_alone():
    with record(model := Triangle()) as tape:
        model(torch.randn(1, 7, 7, 3, 5))
    cube = tape.trace(tokens=TOKENS[:7]).sites["attention/weight"]
    assert cube.sizes == {"head": 3, "query": 7, "key": 7, "context": 7} and cube.attrs["sums_over"] == "key"
    np.testing.assert_allclose(cube.sum("key"), 1, atol=1e-5)
    assert tape.error < 1e-5


def test_keys_of_a_pair_that_are_padding_are_masked():
    model, pairs = esm.modeling_esmfold.EsmFoldTriangleAttention(11, 5, 3).eval(), torch.randn(1, 7, 7, 11)
    tokens = torch.arange(7) < 5
    with torch.no_grad(), record(model) as tape:
        model(pairs, mask=(tokens[:, None] & tokens)[None].float())
    masked = tape.trace(tokens=TOKENS[:7]).sites["attention/weight"]["masked"].values
    expected = np.broadcast_to(~tokens.numpy()[None, :, None] & tokens.numpy()[None, None], (7, 7, 7))
    np.testing.assert_array_equal(masked, expected)  # where all of a row is padding, weights are even


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_heads_of_a_cube_share_keys(groups):
    class Grouped(nn.Module):
        def forward(self, states):
            query, one, two = (states[..., place : place + 5] for place in range(3))
            scores = torch.einsum(
                "bghid,bgjd,bgkd->bghijk", query.unflatten(1, (-1, groups)), *(one[:, ::groups], two[:, ::groups])
            )
            weights = scores.flatten(-2).softmax(-1).view_as(scores)
            return torch.einsum("bghijk,bgjd,bgkd->bghid", weights, one[:, ::groups], two[:, ::groups])

    with record(model := Grouped()) as tape:
        model(torch.randn(1, 4, 7, 8))
    [cube] = tape.trace(tokens=TOKENS[:7]).sites.values()
    assert cube.sizes["head"] == 4 and cube.attrs["heads_to_a_key"] == groups


@pytest.mark.parametrize("starting", [True, False], ids=["starting", "ending"])
def test_triangle_attention_of_esmfold(starting):
    """As it stands in transformers: query is the row, key the node that is looked at, context the other end."""
    torch.manual_seed(0)
    model, pairs = esm.modeling_esmfold.EsmFoldTriangleAttention(11, 5, 3, starting).eval(), torch.randn(1, 7, 7, 11)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.3)
        plain = model(pairs)
        with record(model) as tape:
            assert torch.equal(model(pairs), plain)
        cube = tape.trace(tokens=TOKENS[:7]).sites["attention/weight"]
        assert tape.error < 1e-5
        compare_with_loops(cube, model, pairs)


def compare_with_loops(cube, triangle, pairs):
    """The cube [head, query, key, context] of a module of OpenFold's names against its equation (AlphaFold 2,
    algorithms 13 and 14): with the first axis of the pairs i, for the ending node the second, query j looks at l."""
    assert cube.attrs["sums_over"] == "key" and cube.sizes["context"] == cube.sizes["query"] == cube.sizes["key"]
    heads, width, tokens = triangle.no_heads, triangle.c_hidden, cube.sizes["key"]
    states = triangle.layer_norm(pairs if triangle.starting else pairs.transpose(1, 2))[0]
    layers = triangle.mha.linear_q, triangle.mha.linear_k
    q, k = (layer(states).unflatten(-1, (heads, width)).double() for layer in layers)
    bias = triangle.linear(states).double()
    for h in range(heads):
        for i in range(tokens):
            for j in range(tokens):
                scores = k[i, :, h] @ q[i, j, h] / width**0.5 + bias[j, :, h]
                np.testing.assert_allclose(cube.sel(head=h, context=i, query=j), scores.softmax(0), atol=1e-5)


@pytest.mark.slow
def test_a_folding_model_of_the_registry():
    """The Pairformer of Boltz 2.2.1: `pip install --no-deps boltz==2.2.1`, and its requirements einops and scipy."""
    package = pytest.importorskip("boltz.model.layers.pairformer", reason="boltz is not installed")
    torch.manual_seed(0)
    sizes = {"num_heads": 2, "pairwise_head_width": 5, "pairwise_num_heads": 3}
    model = package.PairformerModule(token_s=16, token_z=11, num_blocks=2, v2=True, **sizes).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.3)
        single, pairs, mask = torch.randn(1, 7, 16), torch.randn(1, 7, 7, 11), torch.ones(1, 7)
        seen = {}
        nodes = {"start": model.layers[1].tri_att_start, "end": model.layers[1].tri_att_end}
        for name, node in nodes.items():
            node.register_forward_pre_hook(lambda module, args, name=name: seen.update({name: args[0].clone()}))
        plain = model(single, pairs, mask, mask[:, :, None] * mask[:, None])
        with record(model) as tape:
            again = model(single, pairs, mask, mask[:, :, None] * mask[:, None])
        assert all(torch.equal(one, other) for one, other in zip(plain, again)) and tape.error < 1e-5
        sites = tape.trace(tokens=TOKENS[:7]).sites
        assert len(sites) == 6 and {site.layer for site in sites} == {0, 1}
        for name, node in nodes.items():
            cube = next(array for array in sites.values() if f"1.tri_att_{name}" in array.attrs["module"])
            compare_with_loops(cube, node, seen[name])
    maps = [array for array in sites.values() if "context" not in array.dims]
    assert [array.sizes for array in maps] == [{"head": 2, "query": 7, "key": 7}] * 2


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"key_value_heads": 2}, {"causal": True}], ids=str)
def test_simplicial_attention_of_the_registry(options):
    """simplicial-attention 0.1.6, as `pip install simplicial-attention==0.1.6` gives it."""
    package = pytest.importorskip("simplicial_attention.simplicial_mha", reason="simplicial-attention is not installed")
    torch.manual_seed(0)
    model = package.TwoSimplicialMHA(32, heads=4, dim_head=9, **options)
    with torch.no_grad(), record(model) as tape:
        model(torch.randn(1, 11, 32))
    cube = tape.trace(tokens=TOKENS[:11]).sites["attention/weight"]
    assert cube.sizes == {"head": 4, "query": 11, "key": 11, "context": 11} and tape.error < 1e-5
    assert cube.attrs["sums_over"] == "key,context"
    np.testing.assert_allclose(cube.sum(("key", "context")), 1, atol=1e-5)


def test_a_probed_cube_is_that_of_a_slow_loop():
    torch.manual_seed(0)
    q, k1, k2, v1, v2 = torch.randn(5, 2, 3, 7, 5, dtype=torch.float64)
    scores = torch.stack([torch.einsum("bhd,bhjd,bhkd->bhjk", q[..., i, :], k1, k2) for i in range(7)], 2)
    weights = scores.flatten(-2).softmax(-1).unflatten(-1, (7, 7))
    kernel = lambda one, two: torch.einsum("bhijk,bhjd,bhkd->bhid", weights, one, two)  # noqa: E731
    cube, error = probe_cube(kernel, v1, v2)
    assert torch.equal(cube, weights) and error < 1e-12
    assert probe_cube(lambda one, two: kernel(one, two) + 1, v1, v2)[1] > 0.1  # not linear in its values: not proved


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
def test_strassen_attention_of_the_registry(causal):
    """strassen-attention 0.1.5, as `pip install strassen-attention==0.1.5` gives it."""
    package = pytest.importorskip("strassen_attention.strassen_attention", reason="strassen-attention is not installed")
    torch.manual_seed(0)
    q, k1, k2, v1, v2 = torch.randn(5, 1, 2, 7, 4, dtype=torch.float64)
    attend = lambda one, two: package.strassen_attend(q, k1, k2, one, two, causal=causal)  # noqa: E731
    cube, error = probe_cube(attend, v1, v2)
    scale = 4**-0.5
    scores = scale * torch.einsum("bhid,bhjd->bhij", q, k1)[..., None]
    scores = scores + scale * torch.einsum("bhid,bhkd->bhik", q, k2)[..., None, :]
    scores = scores + torch.einsum("bhjd,bhkd->bhjk", k1, k2)[:, :, None]
    if causal:
        later = torch.ones(7, 7, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later[:, :, None] | later[:, None], -torch.inf)
    torch.testing.assert_close(cube, scores.flatten(-2).softmax(-1).unflatten(-1, (7, 7)), atol=1e-12, rtol=1e-9)
    assert error < 1e-12


@pytest.mark.slow
def test_tree_shaped_attention_of_the_registry():
    """poly-attention 0.4.0: two recorded maps, whose product w12[i, j] w23[j, k] is the cube over values of k.

    The second softmax takes the log-sum-exp of the first, so the cube is softmax over (j, k) of s12 + s23.
    """
    package = pytest.importorskip("poly_attention.poly_attention", reason="poly-attention is not installed")
    torch.manual_seed(0)
    model = package.Order2PolyAttention(32, heads=4, dim_head=8, use_flash_kernel=False)
    with torch.no_grad(), record(model, scores=True) as tape:
        model(torch.randn(1, 7, 32))
    first, second = (attention.arranged() for attention in tape.attentions)
    cube = torch.einsum("hij,hjk->hijk", second, first)
    np.testing.assert_allclose(cube.sum((-1, -2)), 1, atol=1e-5)
    s23, s12_and_sum = (attention.scores[0] for attention in tape.attentions)
    joint = s12_and_sum[..., None] - s23.logsumexp(-1)[:, None, :, None] + s23[:, None]
    np.testing.assert_allclose(cube, joint.flatten(-2).softmax(-1).unflatten(-1, (7, 7)), atol=1e-6)
    assert tape.error < 1e-5
