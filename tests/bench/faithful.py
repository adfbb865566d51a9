"""Faithfulness over many rows, as the page Attribute and `triattn faithful` measure it: seconds of one thread, and how
many plain passes of the same row in this run that is.  The target: 100 pairs within three minutes.

The rows are the project's own examples, from the start again where there are fewer, or those of --data.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import torch
from tqdm import tqdm

from triattn_core.analysis.attribution import faithfulness
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.analysis.mining import sources
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import DataError
from triattn_core.inference.device import describe_device, keep_freed_memory

NAMES = tuple(f"quora-{mechanism}-additive" for mechanism in ("bi", "cbi", "tri"))


def timed(call: Callable[[], object]) -> float:
    """Seconds of the processor that a call took."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Prints the table as Markdown."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.faithful", description=__doc__)
    options.add_argument("names", nargs="*", default=NAMES, help=f"checkpoints (default: {' '.join(NAMES)})")
    options.add_argument("--rows", type=int, default=100)
    options.add_argument("--data", type=Path, help="JSON Lines; by default the project's own examples")
    options.add_argument("--methods", nargs="+", default=[], help="attributions; by default all five")
    options.add_argument("--draws", type=int, default=5, help="random rankings of each row, the control")
    options.add_argument("--steps", type=int, default=16, help="of integrated gradients")
    options.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options.add_argument("--threads", type=int, default=1)
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    keep_freed_memory()
    more = {"methods": chosen.methods, "draws": chosen.draws, "steps": chosen.steps}
    print(f"{describe_device(chosen.device).title}, {chosen.threads} thread{'s' * (chosen.threads > 1)}; {more}\n")
    print("| checkpoint | rows | tokens | minutes | seconds of a row | plain pass, ms | plain passes |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for name in chosen.names:
        bundle = load(name, chosen.device)
        task = bundle.config.task
        own = sources.example_source(task, bundle.config.language)
        source = sources.file_source(chosen.data) if chosen.data else own
        rows = [row for row in sources.read_examples(task, source) if not isinstance(row[1], DataError)]
        plain, whole, tokens = 0.0, 0.0, 0
        started = time.perf_counter()
        for row in tqdm(islice(cycle(rows), chosen.rows), total=chosen.rows, desc=name, leave=False, disable=None):
            asked = run_query(bundle, row[1])  # warm
            plain += timed(lambda: run_query(bundle, row[1]))  # noqa: B023 - called at once
            whole += timed(lambda: faithfulness.measure_rows([bundle], [row], **more))  # noqa: B023
            tokens += asked.roles.tokens
        count, minutes = chosen.rows, (time.perf_counter() - started) / 60
        numbers = [count, f"{tokens / count:.0f}", f"{whole / 60:.2f} ({minutes:.2f} by the clock)"]
        numbers += [f"{whole / count:.2f}", f"{1000 * plain / count:.0f}", f"{whole / plain:.0f}"]
        print("|", " | ".join(map(str, [name, *numbers])), "|", flush=True)


if __name__ == "__main__":
    main()
