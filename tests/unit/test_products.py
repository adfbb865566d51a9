"""Outputs without the cube: blocks, weights made again, fused attention and half precision against the plain form."""

from __future__ import annotations

import pytest
import torch

from triattn_core.attention import products
from triattn_core.attention.softmax import joint_softmax

B, H, N, I, J, D = 3, 2, 5, 7, 11, 13
CELLS = N * I * J


def drawn(dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """query, key, context, value, beside; five tensors of their own, each with a gradient."""
    draw = torch.Generator().manual_seed(3)
    return [
        torch.randn(B, H, size, D, generator=draw, dtype=torch.float64).to(dtype).requires_grad_()
        for size in (N, I, J, I, J)
    ]


def keeps(empty: bool = True) -> list[torch.Tensor]:
    """A row whole, a row padded on both sides, and a row without a real key."""
    keep_key, keep_context = torch.ones(B, I, dtype=torch.bool), torch.ones(B, J, dtype=torch.bool)
    if empty:
        keep_key[1, 4:] = keep_context[1, :2] = keep_context[1, 9:] = keep_key[2] = False
    return [keep_key, keep_context]


def plain(query, key, context, value, beside, keep_key, keep_context) -> torch.Tensor:
    """Eqs. 11 and 15 to 19 over [N, I, J], nothing rearranged."""
    relevance = torch.einsum("bhnd,bhid,bhjd->bhnij", query, key, context)
    weights = joint_softmax(relevance, keep_key[:, None], keep_context[:, None])
    return torch.einsum("bhnij,bhid,bhjd->bhnd", weights, value, beside)


def with_slopes(call, factors, given) -> list[torch.Tensor]:
    found = call(*factors, *given)
    return [found, *torch.autograd.grad(found.square().sum() + found[..., 0].sum(), factors)]


@pytest.mark.parametrize("empty", (True, False), ids=("masks", "no masks"))
@pytest.mark.parametrize("kept", (0, products.KEPT), ids=("weights made again", "weights kept"))
@pytest.mark.parametrize("rows", (1, 4, 6), ids="{} rows a block".format)  # of six: each alone, four and two, all
def test_blocks_give_the_plain_outputs_and_gradients(rows, kept, empty, monkeypatch):
    monkeypatch.setattr(products, "BLOCK", rows * CELLS)
    monkeypatch.setattr(products, "KEPT", kept)
    sizes, blocks = [], products._blocks
    spied = lambda *given: (sizes.append(len(one[1])) or one for one in blocks(*given))  # noqa: E731
    monkeypatch.setattr(products, "_blocks", spied)
    factors, given = drawn(), keeps(empty)
    found = with_slopes(products.product_attention, factors, given)
    assert sizes == 2 * {1: [1] * 6, 4: [4, 2], 6: [6]}[rows]
    for ours, expected in zip(found, with_slopes(plain, factors, given)):
        torch.testing.assert_close(ours, expected)


def test_weights_are_kept_only_for_a_backward_pass(monkeypatch):
    made, room = [], products._room
    monkeypatch.setattr(products, "BLOCK", CELLS)
    monkeypatch.setattr(products, "_room", lambda *given: made.append(given[-1]) or room(*given))
    products.product_attention(*drawn(), *keeps())
    assert made == [B * H, 1]
    made.clear()
    with torch.no_grad():
        products.product_attention(*drawn(), *keeps())
    assert made == [1]


def test_fused_attention_over_pairs_gives_the_same():
    """What a GPU runs, here on a CPU: rows with something to attend to."""
    factors, given = [one[:2].detach().requires_grad_() for one in drawn()], [one[:2] for one in keeps()]
    bias = torch.zeros(2, I * J).masked_fill(~(given[0][:, :, None] & given[1][:, None]).flatten(1), -1e38).double()
    ours = with_slopes(lambda *five: products.fused(*five, bias), factors, [])
    for one, expected in zip(ours, with_slopes(plain, factors, given)):
        torch.testing.assert_close(one, expected)


def test_half_precision_is_computed_in_single():
    """Under autocast too, which knows nothing of what is written in place."""
    factors, given = drawn(torch.bfloat16), keeps()
    with torch.autocast("cpu", torch.bfloat16):
        found, *slopes = with_slopes(products.product_attention, factors, given)
    wide = [one.detach().float().requires_grad_() for one in factors]
    expected, *others = with_slopes(products.product_attention, wide, given)
    assert found.dtype == torch.bfloat16 and all(one.dtype == torch.bfloat16 for one in slopes)
    torch.testing.assert_close(found, expected.bfloat16())
    for ours, other in zip(slopes, others):
        torch.testing.assert_close(ours.float(), other, rtol=0.05, atol=0.05 * float(other.abs().max()))


def test_a_row_with_nothing_to_attend_to_is_zeros():
    factors = drawn()
    found, *slopes = with_slopes(products.product_attention, factors, keeps())
    for one in (found, *slopes):
        assert one.isfinite().all() and torch.count_nonzero(one[2]) == 0 and torch.count_nonzero(one[1])
