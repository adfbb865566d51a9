"""Bi-, C-Bi- and Tri-Attention end to end, projections and heads included, against the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.oracles import attention as oracle
from triattn_core.attention import MECHANISMS, tri
from triattn_core.attention.contextual_value import VALUES
from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.trace.site import Site

HIDDEN, HEADS, N, I, J = 21, 3, 5, 11, 13
D = HIDDEN // HEADS
HERE = Site(role="here")

TWO = {
    "additive": lambda m: lambda q, k: oracle.add(q, k, m["W"], m["U"], m["p"]),
    "dot": lambda m: oracle.dp,
    "scaled_dot": lambda m: oracle.sdp,
    "bilinear": lambda m: lambda q, k: oracle.bili(q, k, m["W"]),
    "full_trilinear": lambda m: lambda q, k: oracle.bili(q, k, m["W"]),
    "strassen": lambda m: oracle.sdp,
    "tree": lambda m: oracle.sdp,
    "determinant": lambda m: oracle.sdp,
}
THREE = {
    "additive": lambda m: lambda q, k, c: oracle.tadd(q, k, c, m["W"], m["U"], m["H"], m["p"]),
    "dot": lambda m: oracle.tdp,
    "scaled_dot": lambda m: oracle.tsdp,
    "bilinear": lambda m: lambda q, k, c: oracle.trili(q, k, c, m["W"], m["U"], m["H"]),
    "full_trilinear": lambda m: lambda q, k, c: oracle.trili_full(q, k, c, m["w"]),
    "strassen": lambda m: oracle.strassen,
    "tree": lambda m: oracle.tree,
    "determinant": lambda m: oracle.determinant,
}
INTEGRATE = {
    "additive": lambda m: oracle.additive_value,
    "multiplicative": lambda m: oracle.multiplicative_value,
    "bilinear": lambda m: lambda v, c: oracle.bilinear_value(v, c, m["U"], m["H"]),
    "plain": lambda m: oracle.plain_value,
    "context": lambda m: oracle.context_value,
    "modulated": lambda m: oracle.modulated_value,
    "value_and_product": lambda m: oracle.value_and_product,
}


def sequences(seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[States, States, States]:
    """Query, key and context of a batch of three: whole; padded; without a real context token."""
    draw = torch.Generator().manual_seed(seed)
    vectors = [torch.randn(3, size, HIDDEN, generator=draw, dtype=dtype) for size in (N, I, J)]
    keeps = [torch.ones(3, size, dtype=torch.bool) for size in (N, I, J)]
    keeps[0][1, 3:] = keeps[1][1, 7:] = keeps[2][1, 10:] = keeps[2][2] = False
    owns = [torch.randn(3, size, HIDDEN, generator=draw, dtype=dtype) for size in (N, I)]
    for own in owns:
        own[2] = 0
    return (
        States(vectors[0], keeps[0], owns[0]),
        States(vectors[1], keeps[1], owns[1]),
        States(vectors[2], keeps[2]),
    )


def numbers(module: torch.nn.Module, head: int) -> dict[str, np.ndarray]:
    """The weights of one head of a relevance or a contextual value."""
    return {name: parameter[head].detach().numpy() for name, parameter in module.named_parameters()}


def project(linear: torch.nn.Linear, vectors: torch.Tensor, head: int, bias: bool = True) -> np.ndarray:
    """`W x + b`, of which the head has its own D rows."""
    W, b = linear.weight.detach().numpy(), linear.bias.detach().numpy()
    rows = slice(head * D, (head + 1) * D)
    return np.array([W[rows] @ x + (b[rows] if bias else 0) for x in vectors.numpy()])


def expected(module, name, similarity, value, query, key, context, row, head):
    """Relevance, weights and output of one example and one head."""
    q, k, v = (
        project(getattr(module, role), states.vectors[row], head)
        for role, states in (("query", query), ("key", key), ("value", key))
    )
    keep = key.keep[row].numpy()
    weights = numbers(module.similarity, head)
    if name == "bi":
        return oracle.bi_attention(TWO[similarity](weights), q, k, v, keep)
    if name == "cbi":
        at_query, at_key, at_value = (
            project(getattr(module, role), states.own[row], head, bias=False)
            for role, states in (("query", query), ("key", key), ("value", key))
        )
        return oracle.c_bi_attention(TWO[similarity](weights), q, k, v, at_query, at_key, at_value, keep)
    if name == "bi_joint":
        joined = module.context(context.vectors[row]).detach()
        both = torch.cat([key.vectors[row] + module.role[0].detach(), joined + module.role[1].detach()])
        k, v = (project(getattr(module, role), both, head) for role in ("key", "value"))
        return oracle.bi_attention(TWO[similarity](weights), q, k, v, np.concatenate([keep, context.keep[row].numpy()]))
    c = project(module.context, context.vectors[row], head)
    integrate = INTEGRATE[value](numbers(module.mix, head))
    return oracle.tri_attention(THREE[similarity](weights), integrate, q, k, v, c, c, keep, context.keep[row].numpy())


CASES = [(name, similarity, None) for name in ("bi", "bi_joint", "cbi") for similarity in SIMILARITIES]
CASES += [("tri", similarity, value) for similarity in SIMILARITIES for value in VALUES]


@pytest.mark.parametrize(("name", "similarity", "value"), CASES)
def test_end_to_end(name, similarity, value):
    torch.manual_seed(1)
    module = MECHANISMS[name](HIDDEN, HEADS, similarity, value).double()
    query, key, context = sequences()
    with recording() as record:
        output = module(query, key, context, HERE)
    for row in range(3):
        for head in range(HEADS):
            relevance, weights, attended = expected(module, name, similarity, value, query, key, context, row, head)
            ours = record.sites["here/weight"].tensor[row, head], record.sites["here/relevance"].tensor[row, head]
            if name == "tri" and row == 2:  # no context: everything lies on one neutral place
                ours = ours[0].sum(-1, keepdim=True), ours[1][..., :1]
            torch.testing.assert_close(ours[0], torch.tensor(weights))
            torch.testing.assert_close(ours[1], torch.tensor(relevance))
            of = output[row].unflatten(-1, (module.vectors, HEADS, D))[:, :, head].flatten(1)
            torch.testing.assert_close(of, torch.tensor(attended))


@pytest.mark.parametrize(("name", "similarity", "value"), CASES)
def test_slope_end_to_end(name, similarity, value):
    """Autograd's slope along one random direction in all states, against central differences of the oracle."""
    torch.manual_seed(10)
    module = MECHANISMS[name](HIDDEN, HEADS, similarity, value).double()
    states = sequences(11)
    onto = torch.randn(3, N, HIDDEN * module.vectors, dtype=torch.float64)
    units = [torch.randn_like(state.vectors) for state in states]
    row, head = 1, 2

    def part(output: torch.Tensor) -> torch.Tensor:
        return output[row].unflatten(-1, (module.vectors, HEADS, D))[:, :, head].flatten(1)

    def slow(step: float) -> float:
        moved = [replace(state, vectors=state.vectors + step * direction) for state, direction in zip(states, units)]
        output = expected(module, name, similarity, value, *moved, row, head)[2]
        return float((output * part(onto).numpy()).sum())

    leaves = [replace(state, vectors=state.vectors.clone().requires_grad_()) for state in states]
    output = module(*leaves, HERE)
    (part(output) * part(onto)).sum().backward()
    slope = sum(
        (leaf.vectors.grad * direction).sum() for leaf, direction in zip(leaves, units) if leaf.vectors.grad is not None
    )
    step = 1e-6
    torch.testing.assert_close(slope.item(), (slow(step) - slow(-step)) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_default_value_is_the_pairing(similarity):
    module = MECHANISMS["tri"](HIDDEN, HEADS, similarity)
    assert type(module.mix) is VALUES[SIMILARITIES[similarity].value]


@pytest.mark.parametrize("empty", ["no token at all", "padding only"])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_tri_without_context_is_bi(similarity, empty):
    """Section IV-A: "once context is removed, Tri-Attention is degraded to Bi-Attention", with the same weights."""
    torch.manual_seed(2)
    three = MECHANISMS["tri"](HIDDEN, HEADS, similarity).double()
    bi = MECHANISMS["bi"](HIDDEN, HEADS, similarity).double()
    shared = {name: weight for name, weight in three.state_dict().items() if name in bi.state_dict()}
    bi.load_state_dict(shared, strict=False)
    with torch.no_grad():
        if similarity == "bilinear":
            bi.similarity.W.copy_(three.similarity.W.mT @ three.similarity.U)
        if similarity == "full_trilinear":
            bi.similarity.W.copy_(three.similarity.w.sum(-1))
        if hasattr(three.mix, "U"):  # the values are U' v
            bi.value.weight.copy_((three.mix.U @ bi.value.weight.view(HEADS, D, HIDDEN)).flatten(0, 1))
            bi.value.bias.copy_((three.mix.U @ bi.value.bias.view(HEADS, D, 1)).flatten())
    query, key, context = sequences(3)
    if empty == "no token at all":
        context = States(context.vectors[:, :0], context.keep[:, :0])
    else:
        context = replace(context, keep=torch.zeros_like(context.keep))
    torch.testing.assert_close(three(query, key, context, HERE), bi(query, key, context, HERE))


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_c_bi_without_context_is_bi(similarity):
    torch.manual_seed(4)
    cbi, bi = (MECHANISMS[name](HIDDEN, HEADS, similarity).double() for name in ("cbi", "bi"))
    bi.load_state_dict(cbi.state_dict())
    query, key, context = sequences(5)
    plain = bi(query, key, context, HERE)
    for none in (None, 0.0):
        without = [replace(one, own=None if none is None else torch.zeros_like(one.own)) for one in (query, key)]
        torch.testing.assert_close(cbi(*without, context, HERE), plain)
    assert (cbi(query, key, context, HERE) - plain)[:2].abs().max() > 0.01


def test_context_matters():
    """What Bi leaves out, C-Bi and Tri take in: another context, another output."""
    query, key, context = sequences(6)
    other = replace(context, vectors=context.vectors.roll(1, -1))
    others = [replace(one, own=one.own.roll(1, -1)) for one in (query, key)]
    for name, matters in (("bi", False), ("cbi", True), ("tri", True)):
        torch.manual_seed(7)
        module = MECHANISMS[name](HIDDEN, HEADS, "additive").double()
        moved = (module(query, key, context, HERE) - module(*others, other, HERE)).abs().amax((1, 2))
        assert [bool(m > 1e-3) for m in moved] == [matters, matters, False]  # the third row has no context


@torch.no_grad()
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("similarity", ["dot", "scaled_dot", "bilinear", "full_trilinear"])
def test_a_recorded_cube_in_half_precision_overflows_no_sooner_than_the_products(similarity, autocast, monkeypatch):
    """Products of three states pass 65,504 while the states are far from it."""
    monkeypatch.setattr(tri, "WORTH", 0)
    torch.manual_seed(12)
    module = MECHANISMS["tri"](HIDDEN, HEADS, similarity)
    for project in (module.query, module.key, module.context):
        project.weight.mul_(300)
    states = sequences(13, torch.float32)
    wide = module(*states, HERE)
    if not autocast:
        module, states = module.half(), [replace(state, vectors=state.vectors.half()) for state in states]
    with torch.autocast("cpu", torch.float16, enabled=autocast):
        fast = module(*states, HERE)
        with recording() as record:
            output = module(*states, HERE)
    relevance = record.sites["here/relevance"].tensor
    assert relevance.isfinite().all() and relevance.abs().max() > torch.finfo(torch.float16).max
    assert output.dtype == fast.dtype == torch.float16 and wide.isfinite().all()
    torch.testing.assert_close(output.float(), fast.float(), rtol=0.02, atol=0.02 * float(wide.abs().max()))


@pytest.mark.parametrize("scale", [1e4, -1e4, 0.0])
@pytest.mark.parametrize(("name", "similarity"), [(name, s) for name in MECHANISMS for s in SIMILARITIES])
def test_extreme_states_stay_finite(name, similarity, scale):
    torch.manual_seed(8)
    module = MECHANISMS[name](HIDDEN, HEADS, similarity)
    query, key, context = sequences(9, torch.float32)
    query, key, context = (
        replace(one, vectors=(scale * one.vectors).requires_grad_()) for one in (query, key, context)
    )
    output = module(query, key, context, HERE)
    output.sum().backward()
    assert output.isfinite().all()
    for number in (query.vectors.grad, key.vectors.grad, *(p.grad for p in module.parameters() if p.grad is not None)):
        assert number.isfinite().all()
