"""Seconds of the processor that the slow questions take: `python -m tests.bench.long_texts`.

Side by side of three checkpoints over two sentences of 60 tokens, each unit of a dialogue alone (the longest of the
examples), and Attribute's methods over its first example.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from tests.browser.test_layouts import PAIRS
from triattn_core.analysis.attribution.methods import METHODS, attribute
from triattn_core.analysis.intervention.batched_variants import run_query
from triattn_core.analysis.intervention.leave_one_out import score_units
from triattn_core.checkpoint.bundle import load
from triattn_core.scenes import side_by_side
from triattn_core.sources import find_entries
from triattn_core.sources.models import Models
from triattn_core.tasks import dialogue, pairs

FORMS = ("living", "published")
SIXTY = pairs.Example(*(PAIRS["sixty tokens"][name] for name in "ab"))


def seconds(work: Callable, *arguments: object) -> float:
    """Of the processor, of all threads."""
    begun = time.process_time()
    work(*arguments)
    return time.process_time() - begun


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.bench.long_texts", description=__doc__)
    options.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS, help="of TANs (default: both)")
    options.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS, help="default: all")
    chosen = options.parse_args()
    for form in chosen.forms:
        models, entries = Models("cpu"), find_entries([f"quora-{kind}-{form}" for kind in ("bi", "cbi", "tri")])
        short = pairs.examples()[0]
        side_by_side.build(models, entries, short, side_by_side.Settings())  # loads them
        took = seconds(side_by_side.build, models, entries, SIXTY, side_by_side.Settings())
        print(f"side by side, 60 tokens, three of quora, {form}: {took:.2f} s", flush=True)
    longest = max(dialogue.examples("en"), key=lambda one: sum(map(len, one.history)))
    for name in (f"ubuntu-tri-{form}" for form in chosen.forms):
        bundle = load(name)
        run_query(bundle, longest)
        took = seconds(score_units, bundle, longest, "turns")
        print(f"{name}: {len(longest.history)} turns, each alone: {took:.2f} s", flush=True)
    for name in (f"quora-tri-{form}" for form in chosen.forms):
        query = run_query(load(name), pairs.examples()[0])
        for method in chosen.methods:
            print(f"{name}: {method}: {seconds(attribute, query, [method]):.2f} s", flush=True)


if __name__ == "__main__":
    main()
