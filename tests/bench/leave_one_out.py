"""What it costs to watch attention while each unit of the context is taken out: `python -m tests.bench.leave_one_out`.

The time of `each`, which watches, as a ratio to that of as many random choices of one unit, which does not.
"""

from __future__ import annotations

import argparse
import time

from triattn_core.analysis.intervention.leave_one_out import score_random_units, score_units
from triattn_core.checkpoint.bundle import load

WORDS = ("the film that we saw in the old town last week was about a man who reads " * 5).strip()
ASKED = (("quora-tri-living", "tokens"), ("ubuntu-tri-published", "turns"), ("race-tri-published", "sentences"))


def ratio(name: str, unit: str, long: bool = False) -> tuple[int, float]:
    """Units, and the ratio of CPU seconds."""
    bundle = load(name)
    example = bundle.task.examples(bundle.config.language)[0]
    if long:
        example = type(example).from_row({"text_a": WORDS, "text_b": WORDS + " today"}, "long")
    spent, count = [], len(score_units(bundle, example, unit))
    for asked in (
        lambda: score_random_units(bundle, example, 1, unit, draws=count),
        lambda: score_units(bundle, example, unit),
    ):
        start = time.process_time()
        asked()
        spent.append(time.process_time() - start)
    return count, spent[1] / spent[0]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.bench.leave_one_out", description=__doc__)
    options.add_argument(
        "--only", nargs="+", default=[name for name, _ in ASKED], help="checkpoints, without long pairs"
    )
    only = options.parse_args().only
    for name, unit in ASKED:
        if name not in only:
            continue
        print("{}: {} units, {:.2f} times".format(name, *ratio(name, unit)))
    for name in ("quora-tri-living", "quora-tri-published") if len(only) == len(ASKED) else ():
        print("the longest pair of {}: {} units, {:.2f} times".format(name, *ratio(name, "tokens", long=True)))


if __name__ == "__main__":
    main()
