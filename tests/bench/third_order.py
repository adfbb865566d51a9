"""What each score of the third-order family costs as texts grow, one head of 32 features, one thread: median time and
peak memory of the forward pass, without anything recorded, and with the cube built; and the power of the length that
fits the largest three.

`python -m tests.bench.third_order` prints the table; `--out FILE` keeps the record that the page Third order draws.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from math import log
from pathlib import Path

import torch
from torch import Tensor, nn

from tests.bench.measure import Measured, in_turn
from triattn_core.attention.factored import product_attention
from triattn_core.attention.tap import recording
from triattn_core.attention.tri import TriAttention
from triattn_core.results.third_order import FAMILY
from triattn_core.trace.site import Site
from triattn_core.training.metrics_writer import machine

FEATURES, LENGTHS, MOST = 32, (16, 32, 64, 128, 256, 512), 16  # MOST: tokens of a run for the tests
TWO_WAY = "two-way"
Call = Callable[[], Tensor]


def calls(tokens: int) -> dict[str, Call]:
    """By name a forward pass: of each score without a cube being asked for, of the product with it, and of two-way
    attention."""
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
    if package := package_call(q, k, c, v):
        forms["product, simplicial-attention"] = package
    forms[TWO_WAY] = lambda: nn.functional.scaled_dot_product_attention(q, k, v)
    return forms


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


def power(points: dict[int, Measured]) -> float:
    """The slope of log seconds over log tokens, least squares over the three longest lengths."""
    last = sorted(points.items())[-3:]
    x, y = [log(tokens) for tokens, _ in last], [log(result.seconds) for _, result in last]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y)) / sum((a - middle_x) ** 2 for a in x)


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
        growth = f"n^{power(points):.1f}" if len(points) > 2 else ""
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
            "power": {name: round(power(points), 2) for name, points in measured.items() if len(points) > 2},
        }
        options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
