"""`triattn efficiency`: time and memory of every context-fusion block by the length of the text, on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from triattn_core.text.atomic_write import require_room, write_whole

LENGTHS = [16, 32, 64, 128, 256, 512]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    text = f"lengths of the texts in tokens (default: {' '.join(map(str, LENGTHS))})"
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, metavar="N", help=text)
    text = "number of texts in a batch (default: 64, as in the paper)"
    parser.add_argument("--batch", type=int, default=64, metavar="N", help=text)
    text = "skip a mechanism once a forward pass is expected to take longer than this (default: 10)"
    parser.add_argument("--limit", type=float, default=10.0, metavar="SECONDS", help=text)
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to save the measurements (JSON)")


def run(options: argparse.Namespace) -> int:
    """Measure, store and print; after Ctrl-C, the points so far."""
    from tqdm import tqdm

    from triattn_core.analysis.efficiency import Plan, Run
    from triattn_core.inference.device import choose_device

    if options.out:
        require_room(options.out, "store the record")
    plan = Plan(tuple(options.lengths), options.batch, limit=options.limit)
    benchmark, was_stopped = Run(plan, choose_device(options.device), options.command), False
    try:
        with tqdm(total=len(benchmark.steps), unit="block", disable=None) as bar:
            has_more = True
            while has_more:
                tokens, block = benchmark.steps[benchmark.done]
                bar.set_postfix_str(f"{block}, {tokens} tokens")
                has_more = benchmark.step()
                bar.update()
    except KeyboardInterrupt:
        was_stopped = True
    measurement = benchmark.measurement()
    if options.out:
        write_whole(options.out, measurement.text())
    if options.json:
        print(measurement.text(), end="")
    else:
        for point in measurement.points:
            cost = point.reason or f"{1000 * (point.seconds or 0):10.1f} ms{(point.memory or 0) / 1e6:10.1f} MB"
            print(f"{point.block:18}{point.tokens:6} {point.passed:10}{cost}")
    if was_stopped:
        print(f"triattn: stopped after {benchmark.done} of {len(benchmark.steps)} steps", file=sys.stderr)
    return 130 if was_stopped else 0
