"""Triangle attention against loops, and against ESMFold's as it stands in transformers."""

from __future__ import annotations

import pytest
import torch
from transformers.models import esm

from tests.oracles import triangle as oracle
from triattn_core.attention.tap import recording
from triattn_core.attention.triangle import TriangleAttention
from triattn_core.trace.site import Site

HERE = Site(role="here")
B, n, F, HEADS, SIZE = 2, 7, 11, 3, 5
NODES = pytest.mark.parametrize("starting", [True, False], ids=["starting", "ending"])


def pairs_and_keep(masked: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    tokens = torch.arange(n) < n - masked
    return torch.randn(B, n, n, F, dtype=torch.float64), (tokens[:, None] & tokens).expand(B, n, n)


@NODES
@pytest.mark.parametrize("masked", [0, 2])
def test_equals_the_loops(starting, masked):
    pairs, keep = pairs_and_keep(masked)
    module = TriangleAttention(F, HEADS, SIZE, starting).double()
    with recording() as record:
        output = module(pairs, keep, HERE)
    weights, real = record.sites[HERE.with_quantity("weight")], n - masked
    assert weights.axes == ("head", "query", "key", "context") and weights.sums_over == ("context",)
    states = module.norm(pairs).detach().numpy()
    projections = (module.query, module.key, module.value)
    matrices = [layer.weight.detach().unflatten(0, (HEADS, SIZE)).numpy() for layer in projections]
    loop, attended = oracle.starting if starting else oracle.ending, []
    for head in range(HEADS):
        bias = module.bias.weight[head].detach().numpy()
        kept = states[0, :real, :real], keep[0, :real, :real].numpy()
        expected, outputs = loop(*kept, *(matrix[head] for matrix in matrices), bias)
        torch.testing.assert_close(weights.tensor[0, head, :real, :real, :real], torch.tensor(expected))
        assert not weights.tensor[0, head, :real, :real, real:].any()
        attended.append(torch.tensor(outputs))
    gates = module.gate(module.norm(pairs[0, :real, :real])).sigmoid()
    torch.testing.assert_close(output[0, :real, :real], module.out(torch.cat(attended, -1) * gates))


@NODES
def test_equals_esmfold_with_its_gradients(starting):
    pairs, keep = pairs_and_keep(2)
    ours = TriangleAttention(F, HEADS, SIZE, starting).double()
    theirs = esm.modeling_esmfold.EsmFoldTriangleAttention(F, SIZE, HEADS, starting).double()
    layers = {"query": "linear_q", "key": "linear_k", "value": "linear_v", "gate": "linear_g", "out": "linear_o"}
    with torch.no_grad():
        for mine, name in layers.items():
            getattr(theirs.mha, name).load_state_dict(getattr(ours, mine).state_dict())
        theirs.linear.load_state_dict(ours.bias.state_dict())
    results = []
    for run in (lambda x: ours(x, keep), lambda x: theirs(x, keep.double())):
        leaf = pairs.clone().requires_grad_()
        output = run(leaf)[:, : n - 2, : n - 2]  # masked pairs have no meaning
        output.square().sum().backward()
        results.append((output, leaf.grad))
    for mine, other in zip(*results):
        torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)
