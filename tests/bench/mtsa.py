"""A whole MTSA layer against `nn.MultiheadAttention` of the same width: time and peak memory, in turns, in this run.

Projections in, 8 heads, width 512, projection out; tokens x batch = 4096.  `tensor` is MTSA with the tensor of every
head and example built, as the equations stand.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from unittest.mock import patch

import torch
from torch import Tensor, nn

from tests.bench.attention import with_backward
from tests.bench.measure import in_turn
from triattn_core.attention import tensorized
from triattn_core.attention.mtsa import Mtsa
from triattn_core.errors import ConfigError
from triattn_core.inference.device import describe_device, keep_freed_memory

WIDTH, HEADS = 512, 8
Call = Callable[[], Tensor]


def built(q: Tensor, k: Tensor, v: Tensor, S: Tensor, M: Tensor, keep: Tensor, *scales) -> Tensor:
    """`tensorized.attend` by the tensor."""
    P = tensorized.tensor(q @ k.mT / q.shape[-1] ** 0.5, S, M[:, None], keep, *scales[:2])
    return (P * v[..., None, :, :]).sum(-2)


def forms(x: Tensor, with_tensor: bool) -> dict[str, tuple[Call, list[Tensor]]]:
    """Of each form its call, and what gradients are asked for: the input and all weights."""
    torch.manual_seed(1)
    plain = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).to(x)
    keep = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
    cases = {"multi-head": (lambda: plain(x, x, x, need_weights=False)[0], [x, *plain.parameters()])}
    for scale in tensorized.SCALES:
        layer = Mtsa(WIDTH, HEADS, WIDTH // HEADS, scale_t=scale).to(x)
        cases[f"MTSA, {scale}"] = (lambda layer=layer: layer(x, keep)), [x, *layer.parameters()]
    if with_tensor:

        def explicit() -> Tensor:
            with patch.object(tensorized, "attend", built):
                return layer(x, keep)

        cases["tensor"] = explicit, [x, *layer.parameters()]
    return cases


def main() -> None:
    """Prints the table as Markdown."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.mtsa", description=__doc__)
    options.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options.add_argument("--tokens", type=int, nargs="+", default=[64, 128, 256, 512])
    options.add_argument("--all", type=int, default=4096, help="tokens of all texts together")
    chosen = options.parse_args()
    if odd := [tokens for tokens in chosen.tokens if not 1 <= tokens <= chosen.all]:
        raise SystemExit(f"--tokens {odd[0]}: expected a number from 1 to {chosen.all}")
    keep_freed_memory()
    try:
        machine = describe_device(chosen.device)
    except ConfigError as error:
        raise SystemExit(str(error)) from None
    print(f"{machine.title}, {machine.cores} cores\n")
    print("| tokens | pass | form | ms | MB | × multi-head, time | memory |\n|---:|---|---|---:|---:|---:|---:|")
    for tokens in chosen.tokens:
        for backward in (False, True):
            x = torch.randn(chosen.all // tokens, tokens, WIDTH, device=chosen.device, requires_grad=backward)
            with torch.set_grad_enabled(backward):
                calls = forms(x, tokens == 64)
                timed = {name: with_backward(*call) if backward else call[0] for name, call in calls.items()}
                timings = in_turn(timed, chosen.device)
            base = timings["multi-head"]
            for name, timing in timings.items():
                numbers = [f"{1000 * timing.seconds:.1f}", f"{timing.peak / 1e6:,.0f}"]
                numbers += [f"{timing.seconds / base.seconds:.2f}", f"{timing.peak / max(1, base.peak):.2f}"]
                passed = "forward + backward" if backward else "forward"
                print("|", " | ".join([str(tokens), passed, name, *numbers]), "|", flush=True)


if __name__ == "__main__":
    main()
