"""Product attention in a window against the whole cube under the window's mask: values, gradients, ends, memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from triattn_core.analysis.efficiency import peak
from triattn_core.attention.windowed import WINDOWS, window_mask, windowed_product_attention

B, H, N, D = 2, 3, 9, 5


def tensors(n: int = N, dtype=torch.float64) -> list[torch.Tensor]:
    torch.manual_seed(1)
    return [torch.randn(B, H, n, D, dtype=dtype) for _ in range(5)]


def by_cube(query, key, context, value, context_value, windows, shifted=False) -> np.ndarray:
    """Query by query, over the pairs that its window holds."""
    if shifted:
        context, context_value = context + 1 / D, context_value + 1
    out = np.zeros(query.shape)
    for place in np.ndindex(query.shape[:-1]):
        row, t = place[:-1], place[-1]
        keys, contexts = (range(max(0, t - window + 1), t + 1) for window in windows)
        scores = {(i, j): sum(query[place] * key[row][i] * context[row][j]) / D**0.5 for i in keys for j in contexts}
        top = max(scores.values())
        total = sum(np.exp(score - top) for score in scores.values())
        for (i, j), score in scores.items():
            out[place] += np.exp(score - top) / total * value[row][i] * context_value[row][j]
    return out


@pytest.mark.parametrize("windows", [(1, 1), (4, 2), (2, 4), (N, N), (3 * N, 1)], ids=str)
@pytest.mark.parametrize("shifted", [False, True])
def test_values_are_those_of_the_pairs_in_the_window(windows, shifted):
    given = tensors()
    expected = by_cube(*(tensor.numpy() for tensor in given), windows, shifted)
    torch.testing.assert_close(windowed_product_attention(*given, windows, shifted), torch.tensor(expected))


@pytest.mark.parametrize("cells", [1, 60, 1 << 20], ids=str)
def test_gradients_are_those_of_the_masked_cube(cells, monkeypatch):
    monkeypatch.setattr("triattn_core.attention.windowed.CELLS", cells)  # one query at a time, some, all
    windows, outputs, gradients = (4, 3), [], []

    def cube(query, key, context, value, context_value):
        scores = torch.einsum("bhtd,bhid,bhjd->bhtij", query, key, context) / D**0.5
        kept = scores.masked_fill(~window_mask(N, windows), -torch.inf)
        weights = kept.flatten(-2).softmax(-1).view_as(kept)
        return torch.einsum("bhtij,bhid,bhjd->bhtd", weights, value, context_value)

    for function in (cube, lambda *given: windowed_product_attention(*given, windows)):
        leaves = [tensor.requires_grad_() for tensor in tensors()]
        outputs.append(function(*leaves))
        outputs[-1].square().sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    torch.testing.assert_close(*outputs)
    torch.testing.assert_close(*gradients)


def test_shifted_with_a_context_of_zeros_is_two_way_attention():
    """1/D in place of the context divides the scores by D: so a query D times as long gives SDPA's own."""
    query, key, _, value, _ = tensors()
    nothing = torch.zeros_like(key)
    ours = windowed_product_attention(query * D, key, nothing, value, nothing, (N, 4), shifted=True)
    theirs = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(ours, theirs)


def test_memory_grows_with_the_text_alone():
    """Twice the text takes at most a little over twice the memory; a cube would take eight times."""

    def spent(n: int) -> int:
        given = tensors(n, torch.float32)
        with torch.inference_mode():
            return peak(lambda: windowed_product_attention(*given, (64, 16)), "cpu") or 0

    assert spent(1024) < 2.2 * spent(512)


def test_no_text_gives_none_and_no_window_is_refused():
    assert windowed_product_attention(*tensors(0)).shape == (B, H, 0, D)
    one = [tensor[0, 0] for tensor in tensors()]  # without heads or batch
    both = windowed_product_attention(*tensors(), (4, 2))
    torch.testing.assert_close(windowed_product_attention(*one, (4, 2)), both[0, 0])
    assert window_mask(3, (2, 1)).int().tolist() == [
        [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 1, 0], [0, 1, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 1], [0, 0, 1]],
    ]
    with pytest.raises(ValueError, match="at least"):
        windowed_product_attention(*tensors(), (0, 4))
    assert WINDOWS == (512, 32)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_summed_in_float32(dtype: torch.dtype) -> None:
    """Products that overflow float16 give finite outputs, which are those of float32 rounded once."""
    halves = [(8 * tensor).to(dtype).requires_grad_() for tensor in tensors(dtype=torch.float32)]
    singles = [half.detach().float().requires_grad_() for half in halves]
    outputs = [windowed_product_attention(*given, windows=(5, 3)) for given in (halves, singles)]
    assert outputs[0].dtype == dtype
    torch.testing.assert_close(outputs[0], outputs[1].to(dtype), rtol=0, atol=0)
    slopes = [torch.autograd.grad(out.float().sum(), given) for out, given in zip(outputs, (halves, singles))]
    for half, single in zip(*slopes):
        assert half.dtype == dtype
        torch.testing.assert_close(half, single.to(dtype), rtol=0, atol=0)
