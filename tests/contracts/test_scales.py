"""Promises that every scale function and every mask of MTSA keeps: walks their tables, and one that is in none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from triattn_core.attention import masks
from triattn_core.attention.tensorized import SCALES, attend, tensor
from triattn_core.views.attention_maps.maps import LOOKS, looks
from triattn_core.views.attention_maps.terms import SAYS, SCALED

H, B, N, D = 2, 2, 5, 3


def test_views_know_every_scale_and_every_mask():
    assert set(SAYS) == set(SCALED) == set(SCALES) and set(LOOKS) == set(masks.MASKS)
    scores = torch.linspace(-40, 40, 81, dtype=torch.float64)
    for name, scale in SCALES.items():
        np.testing.assert_allclose(SCALED[name](scores.numpy()), scale(scores).numpy(), rtol=1e-12, atol=1e-300)
    assert looks("window:4") == "4 tokens to either side" and looks("dilated:2") == "dilated 2"


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", [*SCALES, "tanh5"])
def test_the_fast_form_is_the_tensor_under_every_scale(name, padded, monkeypatch):
    """A scale that a table alone has needs no other line: both forms take it from there."""
    monkeypatch.setitem(SCALES, "tanh5", lambda scores: 5 * torch.tanh(scores / 5))
    draw = torch.Generator().manual_seed(1)
    q, k, S, v = (4 * torch.randn(H, B, N, D, generator=draw, dtype=torch.float64) for _ in range(4))
    M = torch.stack([masks.mask(one, N).double() for one in ("forward", "distance")])
    keep = torch.tensor([[True] * N, [True] * (N - 2 * padded) + [False] * (2 * padded)])
    got = attend(q, k, v, S, M, keep, name, name)
    for head in range(H):
        P = tensor(q[head] @ k[head].mT / D**0.5, S[head], M[head], keep, name, name)
        expected = (P * v[head, :, None]).sum(-2)
        torch.testing.assert_close(got[head][keep], expected[keep], rtol=1e-9, atol=1e-9)
