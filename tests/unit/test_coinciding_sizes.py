"""Attention to another text of so many keys that they could be pairs of queries, or three blocks of a band."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from triattn_core.recording.tape import record


class Cross(nn.Module):
    """Attention of one text to another, its softmax written out."""

    def __init__(self, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(12, 12) for _ in range(3))

    def forward(self, states, others):
        query, key, value = (
            project(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for project, x in ((self.query, states), (self.key, others), (self.value, others))
        )
        self.weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1)
        return (self.weights @ value).transpose(1, 2).flatten(2)


class LastTokens(nn.Module):
    """The last tokens of a text look at all of it."""

    def __init__(self, count: int):
        super().__init__()
        self.count, self.cross = count, Cross()

    def forward(self, states):
        return self.cross(states[:, -self.count :], states)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize(
    ("queries", "keys"), [(2, 4), (2, 6), (3, 9), (4, 12), (4, 16), (5, 15), (5, 25), (3, 3), (6, 18), (2, 5)]
)
@pytest.mark.parametrize("heads", [1, 2, 3, 4])
def test_keys_of_another_text_are_its_tokens(batch, queries, keys, heads):
    torch.manual_seed(0)
    model = Cross(heads).eval()
    with torch.no_grad(), record(model) as tape:
        model(torch.randn(batch, queries, 12), torch.randn(batch, keys, 12))
    array = tape.trace().sites["attention/weight"]
    assert array.dims == ("head", "query", "key")
    np.testing.assert_allclose(array.values, model.weights[0].numpy(), atol=1e-6)


@pytest.mark.parametrize(("queries", "keys"), [(2, 4), (2, 6), (3, 9), (4, 12)])
def test_keys_of_the_same_text_are_its_tokens(queries, keys):
    model = LastTokens(queries).eval()
    with torch.no_grad(), record(model) as tape:
        model(torch.randn(1, keys, 12))
    (array,) = tape.trace().sites.values()
    np.testing.assert_allclose(array.values, model.cross.weights[0].numpy(), atol=1e-6)


def test_maps_are_freed_with_their_tape_without_a_search_for_circles():
    model = Cross().eval()
    gc.collect()
    gc.disable()
    try:
        with torch.no_grad(), record(model) as tape:
            model(torch.randn(1, 3, 12), torch.randn(1, 7, 12))
        kept = weakref.ref(tape.attentions[0])
        del tape
        assert kept() is None
    finally:
        gc.enable()
