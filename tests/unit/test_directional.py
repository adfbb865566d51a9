"""DiSA, multi-head and source2token pooling against loops in float64, with padding on either side."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from tests.oracles import directional as oracle
from triattn_core.attention import disa
from triattn_core.attention.multi_head import MultiHead, sinusoids
from triattn_core.attention.pooling import Source2TokenPooling
from triattn_core.attention.tap import recording
from triattn_core.trace.site import Site

N, WIDTH, OUT = 7, 3, 10
SIZE = OUT // 2
KEEP = torch.tensor([[1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]]).bool()


def drawn(module: nn.Module) -> nn.Module:
    """In float64, all numbers drawn, biases too."""
    draw = torch.Generator().manual_seed(3)
    for parameter in module.double().parameters():
        parameter.data = torch.randn(parameter.shape, dtype=torch.float64, generator=draw)
    return module.eval()


def states(width: int) -> torch.Tensor:
    return torch.randn(3, N, width, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


def numbers(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}


def test_pooling_is_that_of_the_equation():
    module, x = drawn(Source2TokenPooling(SIZE, nn.ReLU())), states(SIZE)
    with recording() as record:
        output = module(x, KEEP)
    has = numbers(module)
    for b in range(3):
        s, p = oracle.pooling(
            x[b].numpy(), has["first.weight"], has["first.bias"], has["second.weight"], has["second.bias"],
            KEEP[b].numpy(),
        )  # fmt: skip
        np.testing.assert_allclose(output[b].detach(), s, atol=1e-12)
        np.testing.assert_allclose(record.sites["pool/weight"].tensor[b], p, atol=1e-12)
    assert not module(x, torch.zeros_like(KEEP)).any()


@pytest.mark.parametrize("largest", [1 << 25, 1], ids=["whole", "a query at a time"])
def test_disa_is_that_of_the_equations(monkeypatch, largest):
    monkeypatch.setattr(disa, "LARGEST", largest)
    module, x = drawn(disa.Disa(WIDTH, OUT, nn.ELU())), states(WIDTH)
    with recording() as record:
        output = module(x, KEEP, Site(layer=0))
    has = numbers(module)
    for b in range(3):
        keep = KEEP[b].numpy()
        for at, name in enumerate(("forward", "backward")):
            h = x[b].numpy() @ has[f"hidden.{at}.weight"].T + has[f"hidden.{at}.bias"]
            h = np.where(h > 0, h, np.exp(h) - 1) * keep[:, None]
            W1, W2 = has[f"attention.{at}.key.weight"], has[f"attention.{at}.query.weight"]
            s, p = oracle.masked(h, W1, W2, has[f"attention.{at}.query.bias"], keep, name == "forward")
            u = oracle.gated(h, s, has[f"gates.{at}.gate.weight"], has[f"gates.{at}.gate.bias"])
            np.testing.assert_allclose(output[b, keep, at * SIZE : (at + 1) * SIZE].detach(), u[keep], atol=1e-12)
            np.testing.assert_allclose(
                record.sites[Site(layer=0, role=name, quantity="weight")].tensor[b], p, atol=1e-12
            )


def test_disa_in_parts_has_the_same_gradients(monkeypatch):
    module, x, slopes = drawn(disa.Disa(WIDTH, OUT, nn.ELU())), states(WIDTH), []
    for largest in (1 << 25, 1):
        monkeypatch.setattr(disa, "LARGEST", largest)
        slopes.append(torch.autograd.grad(module(x, KEEP).square().sum(), list(module.parameters())))
    for whole, parts in zip(*slopes):
        torch.testing.assert_close(whole, parts)


def test_multi_head_is_that_of_the_equations():
    heads, size = 2, 5
    module, x = drawn(MultiHead(WIDTH, heads, size)), states(WIDTH)
    output, has = module(x, KEEP), numbers(module)
    for b in range(3):
        real = KEEP[b].numpy()
        rows = x[b].numpy()[real]
        for p in range(len(rows)):
            for f in range(WIDTH):
                angle = p / 10_000 ** ((f - f % 2) / WIDTH)
                rows[p, f] += np.cos(angle) if f % 2 else np.sin(angle)
        joined = []
        for c in range(heads):
            part = slice(c * size, (c + 1) * size)
            names = ("query", "key", "value")
            q, k, v = (rows @ has[f"{name}.weight"][part].T + has[f"{name}.bias"][part] for name in names)
            powers = np.exp(q @ k.T / np.sqrt(size))
            joined.append(powers / powers.sum(1, keepdims=True) @ v)
        wanted = np.concatenate(joined, -1) @ has["out.weight"].T + has["out.bias"]
        np.testing.assert_allclose(output[b, real].detach(), wanted, atol=1e-6)


def test_positions_of_an_odd_width():
    assert sinusoids(torch.arange(4)[None], 5).shape == (1, 4, 5)
