"""What each score of the third-order family costs as texts grow, one head of 32 features, one thread: median time and
peak memory of the forward pass, without anything recorded, and with the cube built; and the powers of the length
at which time grew in its last two doublings.

`python -m tests.bench.third_order` prints the table; `--out FILE` keeps the record that the page Third order draws.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor, nn

from tests.bench.measure import Measured, in_turn
from triattn_core.attention.factored import product_attention
from triattn_core.attention.tap import recording
from triattn_core.attention.tri import TriAttention
from triattn_core.attention.triangle import TriangleAttention
from triattn_core.attention.windowed import windowed_product_attention
from triattn_core.results.third_order import FAMILY, TRIANGLE, doublings, fitted_power
from triattn_core.trace.site import Site
from triattn_core.training.metrics_writer import machine

FEATURES, LENGTHS, MOST = 32, (16, 32, 64, 128, 256, 512), 16  # MOST: tokens of a run for the tests
TWO_WAY, WINDOW = "two-way", 32
Call = Callable[[], Tensor]


def calls(tokens: int) -> dict[str, Call]:
    """By name a forward pass: of each score without a cube being asked for, of the product with it and in a window, of
    triangle attention over the pairs of as many nodes, and of two-way attention."""
    torch.manual_seed(1)
    q, k, v, c = (torch.randn(1, 1, tokens, FEATURES) for _ in range(4))
    real = torch.ones(1, tokens, dtype=torch.bool)

    def of(module: TriAttention, cube: bool) -> Call:
        def call() -> Tensor:
            with torch.inference_mode(), recording(lambda site: cube):
                return module.attend(q, k, v, c, real, real, real, None, Site(role="bench"))

        return call

    modules = {name: TriAttention(FEATURES, 1, name) for name in FAMILY}
    forms = {FAMILY[name].label: of(module, cube=False) for name, module in modules.items()}
    forms["product, cube built"] = of(modules["scaled_dot"], cube=True)
    forms[f"product, window of {WINDOW}"] = within_no_grad(
        lambda: windowed_product_attention(q, k, c, v, c, (WINDOW, WINDOW))
    )
    triangle, pairs = TriangleAttention(FEATURES, 1, FEATURES), torch.randn(1, tokens, tokens, FEATURES)
    kept = torch.ones(1, tokens, tokens, dtype=torch.bool)
    forms[TRIANGLE.label] = within_no_grad(lambda: triangle(pairs, kept))
    if package := package_call(q, k, c, v):
        forms["product, simplicial-attention"] = package
    forms[TWO_WAY] = lambda: nn.functional.scaled_dot_product_attention(q, k, v)
    return forms


def within_no_grad(call: Call) -> Call:
    """The call, without what a gradient needs."""
    return torch.inference_mode()(call)


def package_call(q: Tensor, k: Tensor, c: Tensor, v: Tensor) -> Call | None:
    """The product by the package `simplicial-attention`, where it is installed, checked to give what ours gives."""
    if find_spec("simplicial_attention") is None:
        return None
    attend = import_module("simplicial_attention.simplicial_attention").naive_two_simplicial_attend
    real = torch.ones(1, q.shape[2], dtype=torch.bool)
    ours = product_attention(q / FEATURES**0.5, k, c, v, c, real, real)

    def call() -> Tensor:
        with torch.inference_mode():
            return attend(q, (k, c), (v, c))

    torch.testing.assert_close(call(), ours, atol=1e-5, rtol=1e-4)
    return call


def table(lengths: Sequence[int], least: float) -> dict[str, dict[int, Measured]]:
    """By name and length what was measured."""
    measured: dict[str, dict[int, Measured]] = {}
    for tokens in lengths:
        for name, result in in_turn(calls(tokens), "cpu", least).items():
            measured.setdefault(name, {})[tokens] = result
    return measured


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=LENGTHS[-1], help="the longest text, in tokens a role")
    parser.add_argument("--out", type=Path, help="a JSON file for the record")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    lengths = [tokens for tokens in LENGTHS if tokens <= options.most]
    measured = table(lengths, least=0.3 if options.most > MOST else 0.01)
    cube = measured["product, cube built"]
    for name, points in measured.items():
        seconds = {tokens: result.seconds for tokens, result in points.items()}
        growth = ", then ".join(f"n^{power:.1f}" for power in doublings(seconds))
        growth += f", fitted n^{fitted_power(seconds):.1f}" if len(seconds) > 1 else ""
        for tokens, result in points.items():
            times = cube[tokens].seconds / result.seconds
            print(f"{name:20} {tokens:4}  {1e3 * result.seconds:9.3f} ms  {result.peak / 1e6:8.1f} MB  "
                  f"{times:7.1f} times as fast as the product with its cube  {growth}")  # fmt: skip
    if options.out:
        record = {
            "date": datetime.now(UTC).date().isoformat(),
            "machine": f"{machine()}, one thread",
            "command": "python -m tests.bench.third_order --out triattn_core/results/records/third-order-cost.json",
            "features": FEATURES,
            "points": [
                {"form": name, "tokens": tokens, "seconds": round(result.seconds, 7), "memory": result.peak}
                for name, points in measured.items()
                for tokens, result in points.items()
            ],
        }
        options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
