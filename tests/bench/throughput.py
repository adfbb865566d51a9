"""`evaluate` over a file of rows against `explain` one by one: rows a second, and whether memory grows with rows."""

from __future__ import annotations

import argparse
import sys
import time
from itertools import islice
from pathlib import Path

import psutil

from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.inference.evaluate import WINDOW, predictions
from triattn_core.inference.explain import explain


def one_by_one(bundle: Bundle, path: Path, rows: int) -> float:
    """Rows a second of `explain`, after one to warm up."""
    examples = list(islice(bundle.task.read(path), rows + 1))
    explain(bundle, examples[0])
    start = time.perf_counter()
    for example in examples[1:]:
        explain(bundle, example)
    return rows / (time.perf_counter() - start)


def in_batches(bundle: Bundle, path: Path) -> tuple[int, float, list[int]]:
    """Rows, rows a second, and the resident memory after each window of rows, in bytes."""
    process, memory, done = psutil.Process(), [], 0
    start = time.perf_counter()
    for done, _ in enumerate(predictions([bundle], bundle.task.read(path)), 1):
        if done % WINDOW == 0:
            memory.append(process.memory_info().rss)
    return done, done / (time.perf_counter() - start), memory


def main() -> None:
    """Prints one line a checkpoint."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.throughput", description=__doc__)
    options.add_argument("names", nargs="+", help="checkpoints")
    options.add_argument("--data", type=Path, required=True, help="a file of rows")
    options.add_argument("--explain", type=int, default=200, help="rows to explain one by one")
    chosen = options.parse_args()
    print("| checkpoint | explain, rows/s | evaluate, rows/s | times faster | rows | MB after each 2,048 rows |")
    print("|---|---:|---:|---:|---:|---|")
    for name in chosen.names:
        bundle = load(name)
        slow = one_by_one(bundle, chosen.data, chosen.explain)
        rows, fast, memory = in_batches(bundle, chosen.data)
        held = ", ".join(f"{one / 1e6:,.0f}" for one in memory)
        print(f"| {name} | {slow:.1f} | {fast:.1f} | {fast / slow:.1f} | {rows:,} | {held} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
