"""`record` of third-order attention: cubes with their axes, and over which of them they sum to one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from triattn_core.recording.tape import record

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


def test_a_pair_as_query_is_normalised_over_keys_alone():
    with record(model := Triangle()) as tape:
        model(torch.randn(1, 7, 7, 3, 5))
    cube = tape.trace(tokens=TOKENS[:7]).sites["attention/weight"]
    assert cube.sizes == {"head": 3, "query": 7, "key": 7, "context": 7} and cube.attrs["sums_over"] == "key"
    np.testing.assert_allclose(cube.sum("key"), 1, atol=1e-5)
    assert tape.error < 1e-5


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
