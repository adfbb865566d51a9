"""Additive Tri-Attention by interpolation against the equation as it stands, in float64."""

from __future__ import annotations

import math

import pytest
import torch

from tests.support.padding import padding_masks
from triattn_core.attention import interpolated
from triattn_core.attention.contextual_value import additive
from triattn_core.attention.interpolated import Additive, additive_attention
from triattn_core.attention.softmax import joint_softmax
from triattn_core.attention.states import States
from triattn_core.attention.tap import recording
from triattn_core.attention.tri import TriAttention
from triattn_core.attention.tri_similarity.exponential import plain

B, H, N, I, J, D = 3, 2, 5, 7, 31, 13


def drawn(spread: float = 0.3) -> Additive:
    """Terms of each role, each with a gradient; the context's vary by `spread`, about a value far from 0."""
    draw = torch.Generator().manual_seed(3)
    sizes = ((B, H, N, D), (B, H, I, D), (B, H, J, D), (H, D), (B, H, I, D), (B, H, J, D))
    query, key, context, p, *values = (torch.randn(*size, generator=draw) for size in sizes)
    return Additive(*(one.requires_grad_() for one in (query, key, 1 + spread * context, p, *values)))


def equation(terms: Additive, keep_key: torch.Tensor, keep_context: torch.Tensor) -> torch.Tensor:
    """Eqs. 10, 15, 16 and 19 over [N, I, J, D] in float64, nothing rearranged."""
    query, key, context, p, value, context_value = (term.double() for term in terms)
    relevance = plain(query[..., :, None, :] + key[..., None, :, :], context, p)
    weights = joint_softmax(relevance, keep_key[:, None], keep_context[:, None])
    return additive(weights, value, context_value)


def with_gradients(call, terms: Additive, *keep: torch.Tensor) -> list[torch.Tensor]:
    outputs = call(terms, *keep)
    return [outputs, *torch.autograd.grad(outputs.square().sum() + outputs[..., 0].sum(), terms)]


@pytest.mark.parametrize("empty", (True, False), ids=("masks", "no masks"))
@pytest.mark.parametrize("block", (1, 3 * 7 * 13 * 8, 1 << 19), ids=("a query a block", "some", "all"))
@pytest.mark.parametrize("spread", (0.0, 0.1, 1.0))
def test_outputs_and_gradients_are_those_of_the_equation(spread, block, empty, monkeypatch):
    monkeypatch.setattr(interpolated, "BLOCK", block)
    terms = drawn(spread)
    actual, expected = (
        with_gradients(call, terms, *padding_masks(I, J, empty)) for call in (additive_attention, equation)
    )
    for ours, exact in zip(actual, expected):
        largest = float(exact.detach().abs().max())
        torch.testing.assert_close(ours.double(), exact.double(), rtol=1e-5, atol=1e-5 * largest)


@pytest.mark.parametrize("half", (0.01, 0.3, 1.0, 2.5))
def test_the_error_of_a_tanh_is_as_stated(half):
    context = torch.linspace(-half, half, 401)[None, :, None] + 0.5
    used, values, basis = interpolated._nodes(context, torch.ones(1, 1))
    x = torch.linspace(-6, 6, 1201, dtype=torch.float64)
    approximation = torch.tanh(x[:, None] + values[0, 0, used[0, 0]].double()) @ basis[0, 0, used[0, 0]].double()
    exact = torch.tanh(x[:, None] + context[0, :, 0].double())
    rounding = 4 * torch.finfo(torch.float32).eps
    assert float((approximation - exact).abs().max()) < interpolated.ERROR + rounding
    one_less = 2.55 * math.exp(-math.asinh(math.pi / 2 / half) * (int(used.sum()) - 1))
    assert one_less > interpolated.ERROR  # and not a node more than that takes


def test_what_is_masked_cannot_matter():
    terms, keep = drawn(), padding_masks(I, J)
    before = additive_attention(terms, *keep)
    masked = [~one[:, None, :, None] for one in keep]
    key, value = (one.masked_fill(masked[0], torch.inf) for one in (terms.key, terms.value))
    context, beside = (one.masked_fill(masked[1], torch.nan) for one in (terms.context, terms.context_value))
    changed = terms._replace(key=key, value=value, context=context, context_value=beside)
    torch.testing.assert_close(additive_attention(changed, *keep), before)


def test_it_is_for_long_texts_whose_context_varies_little():
    def terms(tokens: int, spread: float) -> list[torch.Tensor]:
        draw = torch.Generator().manual_seed(5)
        sizes = ((1, 2, tokens, 8), (1, 2, tokens, 8), (1, 2, 2 * tokens, 8), (2, 8))
        q, k, c, p = (torch.randn(*size, generator=draw) for size in sizes)
        return [q, k, spread * c, p]

    assert interpolated.is_worth_it(*terms(31, 0.2))
    assert not interpolated.is_worth_it(*terms(7, 0.2))
    assert not interpolated.is_worth_it(*terms(31, 5.0))
    assert not interpolated.is_worth_it(*(term.double() for term in terms(31, 0.2)))
    query, key, context, p = terms(31, 0.2)
    assert not interpolated.is_worth_it(query, key, context.index_fill(2, torch.tensor([3]), torch.nan), p)


@pytest.mark.parametrize("compiles, is_worth_it", [(True, False), (False, True)])
def test_beside_compiled_code_the_context_must_vary_less(monkeypatch, compiles, is_worth_it):
    monkeypatch.setattr(interpolated, "compiles", lambda rows, elements: compiles)
    draw = torch.Generator().manual_seed(5)
    query, key = (torch.randn(2, 2, 31, 8, generator=draw) for _ in range(2))
    context, p = torch.randn(2, 2, 62, 8, generator=draw), torch.randn(2, 8, generator=draw)
    assert interpolated.is_worth_it(query, key, 0.2 * context, p) == is_worth_it
    assert interpolated.is_worth_it(query, key, 1e-6 * context, p)


@pytest.mark.parametrize("rows", (1, 3))
def test_recording_changes_nothing(rows, monkeypatch):
    """Who records has the cube, who does not the interpolation."""
    calls, apply = [], interpolated.Interpolated.apply
    monkeypatch.setattr(interpolated.Interpolated, "apply", lambda *given: calls.append(1) or apply(*given))
    torch.manual_seed(2)
    attention = TriAttention(24, 3, "additive").eval()
    lengths = (torch.arange(size).expand(rows, -1) < size - torch.arange(rows)[:, None] for size in (23, 29, 61))
    query, key, context = (States(0.3 * torch.randn(*keep.shape, 24), keep) for keep in lengths)
    context.keep[-1] = rows == 1  # a row of several has no context
    with torch.no_grad():
        outputs = attention(query, key, context, "site")
        assert len(calls) == 1
        with recording():
            cube = attention(query, key, context, "site")
    assert len(calls) == 1
    torch.testing.assert_close(outputs, cube, rtol=1e-5, atol=1e-6)
