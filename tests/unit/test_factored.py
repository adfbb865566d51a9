"""Outputs without the cube: blocks, weights made again, fused attention and half precision against the plain form."""

from __future__ import annotations

import pytest
import torch

from tests.support.padding import padding_masks
from triattn_core.attention import factored
from triattn_core.attention.contextual_value import VALUES
from triattn_core.attention.softmax import joint_softmax
from triattn_core.attention.tri_similarity import SIMILARITIES
from triattn_core.attention.tri_similarity.protocol import ProductSimilarity, ProductValue

B, H, N, I, J, D = 3, 2, 5, 7, 11, 13
CELLS = N * I * J


def drawn(dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """query, key, context, value, beside; five tensors of their own, each with a gradient."""
    draw = torch.Generator().manual_seed(3)
    return [
        torch.randn(B, H, size, D, generator=draw, dtype=torch.float64).to(dtype).requires_grad_()
        for size in (N, I, J, I, J)
    ]


def plain(query, key, context, value, beside, keep_key, keep_context) -> torch.Tensor:
    """Eqs. 11 and 15 to 19 over [N, I, J], nothing rearranged."""
    relevance = torch.einsum("bhnd,bhid,bhjd->bhnij", query, key, context)
    weights = joint_softmax(relevance, keep_key[:, None], keep_context[:, None])
    return torch.einsum("bhnij,bhid,bhjd->bhnd", weights, value, beside)


def with_slopes(call, factors, given) -> list[torch.Tensor]:
    output = call(*factors, *given)
    return [output, *torch.autograd.grad(output.square().sum() + output[..., 0].sum(), factors)]


@pytest.mark.parametrize("empty", (True, False), ids=("masks", "no masks"))
@pytest.mark.parametrize("kept", (0, factored.KEPT), ids=("weights made again", "weights kept"))
@pytest.mark.parametrize("rows", (0.4, 1, 4, 6), ids="{} rows a block".format)  # of six: in parts, alone, 4 and 2, all
def test_blocks_give_the_plain_outputs_and_gradients(rows, kept, empty, monkeypatch):
    monkeypatch.setattr(factored, "BLOCK", int(rows * CELLS))
    monkeypatch.setattr(factored, "KEPT", kept)
    sizes, blocks = [], factored.blocks
    spied = lambda *given: (sizes.append(block[2].shape[:2]) or block for block in blocks(*given))  # noqa: E731
    monkeypatch.setattr(factored, "blocks", spied)
    factors, given = drawn(), padding_masks(I, J, empty)
    results = with_slopes(factored.product_attention, factors, given)
    parts = {0.4: 6 * [(1, 2), (1, 2), (1, 1)], 1: 6 * [(1, N)], 4: [(4, N), (2, N)], 6: [(6, N)]}  # rows and queries
    assert sizes == 2 * parts[rows]
    for ours, expected in zip(results, with_slopes(plain, factors, given)):
        torch.testing.assert_close(ours, expected)


@pytest.mark.parametrize("empty", (True, False), ids=("masks", "no masks"))
def test_masked_tokens_of_large_examples_are_left_out(empty, monkeypatch):
    monkeypatch.setattr(factored, "DROPPED", H * CELLS)
    factors, given = drawn(), padding_masks(I, J, empty)
    for ours, expected in zip(
        with_slopes(factored.product_attention, factors, given), with_slopes(plain, factors, given)
    ):
        torch.testing.assert_close(ours, expected)


def test_weights_are_kept_only_for_a_backward_pass(monkeypatch):
    calls, kept = [], factored.room_for_weights
    monkeypatch.setattr(factored, "room_for_weights", lambda *given: calls.append(given) or kept(*given))
    with torch.no_grad():
        factored.product_attention(*drawn(), *padding_masks(I, J))
    assert not calls
    factored.product_attention(*drawn(), *padding_masks(I, J))
    assert len(calls) == 1


@pytest.mark.parametrize("empty", (True, False), ids=("masks", "no masks"))
@pytest.mark.parametrize("dtype", (torch.float64, torch.float32), ids=str)
def test_fused_attention_over_pairs_gives_the_same(dtype, empty, monkeypatch):
    """What a GPU runs, here on a CPU, padding and a row with nothing to attend to included."""
    monkeypatch.setattr(factored, "in_blocks", factored.fused_attention)
    factors, given = drawn(dtype), padding_masks(I, J, empty)
    ours = with_slopes(factored.product_attention, factors, given)
    for actual, expected in zip(ours, with_slopes(plain, factors, given)):
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4 if dtype == torch.float32 else 1e-9)


@pytest.mark.parametrize("method", ("in_blocks", "fused_attention", "without masked"))
@pytest.mark.parametrize("loud", (1e38, torch.inf, torch.nan))
def test_what_is_masked_cannot_matter_however_large(loud, method, monkeypatch):
    if method == "without masked":
        monkeypatch.setattr(factored, "DROPPED", 1)
    else:
        monkeypatch.setattr(factored, "in_blocks", getattr(factored, method))
    factors, given = drawn(torch.float32), padding_masks(I, J)
    expected = with_slopes(factored.product_attention, factors, given)
    with torch.no_grad():
        for at, keep in zip(range(1, 5), (*given, *given)):
            factors[at].masked_fill_(~keep[:, None, :, None], loud)
    for actual, other in zip(with_slopes(factored.product_attention, factors, given), expected):
        torch.testing.assert_close(actual, other)


def test_half_precision_is_computed_in_single():
    """Under autocast too, which knows nothing of what is written in place."""
    factors, given = drawn(torch.bfloat16), padding_masks(I, J)
    with torch.autocast("cpu", torch.bfloat16):
        output, *slopes = with_slopes(factored.product_attention, factors, given)
    wide = [factor.detach().float().requires_grad_() for factor in factors]
    expected, *others = with_slopes(factored.product_attention, wide, given)
    assert output.dtype == torch.bfloat16 and all(slope.dtype == torch.bfloat16 for slope in slopes)
    torch.testing.assert_close(output, expected.bfloat16())
    for ours, other in zip(slopes, others):
        torch.testing.assert_close(ours.float(), other, rtol=0.05, atol=0.05 * float(other.abs().max()))


def test_a_row_with_nothing_to_attend_to_is_zeros():
    factors = drawn()
    output, *slopes = with_slopes(factored.product_attention, factors, padding_masks(I, J))
    for tensor in (output, *slopes):
        assert tensor.isfinite().all() and torch.count_nonzero(tensor[2]) == 0 and torch.count_nonzero(tensor[1])


def test_which_similarities_and_values_are_products():
    """What is a product by the protocol is computed without the cube; the full trilinear form is none."""
    built = {name: kind(2, 4, context=True) for name, kind in SIMILARITIES.items()}
    products = {name for name, module in built.items() if isinstance(module, ProductSimilarity)}
    assert products == {"dot", "scaled_dot", "bilinear"}
    mixes = {name: kind(2, 4) for name, kind in VALUES.items()}
    assert {name for name, mix in mixes.items() if isinstance(mix, ProductValue)} == {"multiplicative", "bilinear"}
