"""Tree-shaped attention by two maps against the cube, values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import attention as oracle
from tests.unit.test_mechanisms import HEADS, HIDDEN, sequences
from triattn_core.attention.tap import recording
from triattn_core.attention.tree_attention import tree_maps
from triattn_core.attention.tri import TriAttention
from triattn_core.attention.tri_similarity.tree import branches
from triattn_core.trace.site import Site

N, I, J, D = 5, 7, 11, 13
PAIRED = ("multiplicative", "bilinear", "additive", "context", "value_and_product")  # values that need no cube


@pytest.mark.parametrize("kept", [(I, J), (4, 3), (4, 0), (0, 3)], ids=str)
def test_the_product_of_the_maps_is_the_cube(kept):
    rng = np.random.default_rng(1)
    query, key, context = (rng.normal(size=(size, D)) for size in (N, I, J))
    keep_key, keep_context = np.arange(I) < kept[0], np.arange(J) < kept[1]
    relevance = oracle.cube(oracle.tree, query, key, context)
    expected = oracle.joint_softmax(relevance, keep_key, keep_context)
    terms = branches(*map(torch.tensor, (query, key, context)))
    first, second = tree_maps(*terms, torch.tensor(keep_key), torch.tensor(keep_context))
    torch.testing.assert_close(first[:, :, None] * second, torch.tensor(expected))


@pytest.mark.parametrize("value", PAIRED)
def test_outputs_and_gradients_are_those_of_the_cube(value):
    """The recorded pass forms the cube, the other does not."""
    torch.manual_seed(2)
    module = TriAttention(HIDDEN, HEADS, "tree", value).double()
    states, gradients, outputs = sequences(3), [], []
    for is_recorded in (False, True):
        module.zero_grad()
        with recording(lambda site, wanted=is_recorded: wanted) as record:
            output = module(*states, Site(role="here"))
        assert bool(record.sites) == is_recorded
        output.square().sum().backward()
        outputs.append(output)
        gradients.append([parameter.grad for parameter in module.parameters() if parameter.grad is not None])
    torch.testing.assert_close(*outputs)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("value", PAIRED)
def test_the_cube_is_not_formed(value, monkeypatch):
    def refuse(*_):
        raise AssertionError("a cube")

    module = TriAttention(HIDDEN, HEADS, "tree", value)
    monkeypatch.setattr(type(module.similarity), "three", refuse)
    module(*sequences(4, torch.float32), Site(role="here"))
