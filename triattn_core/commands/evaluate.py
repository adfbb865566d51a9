"""`triattn evaluate`: metrics over a file of rows, and whether two checkpoints differ by more than noise."""

from __future__ import annotations

import argparse
import json
from itertools import chain, islice
from pathlib import Path

from triattn_core.commands.examples import heard
from triattn_core.errors import DataError

VOTE = "majority vote"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("name", nargs="+", help="checkpoints, by name or folder; several share their encoder's pass")
    parser.add_argument("data", type=Path, help="JSON Lines, plain or .gz")
    parser.add_argument("--vote", action="store_true", help="measure the majority vote of the checkpoints too")
    text = "leave out rows whose texts stand together in these files too"
    parser.add_argument("--apart", type=Path, nargs="+", default=[], help=text)


def run(options: argparse.Namespace) -> None:
    """Prints `{"task", "n", "metrics"}`; of several checkpoints each, and whether two differ by more than noise."""
    from tqdm import tqdm

    from triattn_core.analysis.significance import on_rows
    from triattn_core.checkpoint import load
    from triattn_core.device import keep_freed_memory
    from triattn_core.evaluate import apart, measured, verdicts, with_vote

    keep_freed_memory()
    if len(set(options.name)) < len(options.name):
        raise DataError("a checkpoint is named twice: name each once")
    if options.vote and len(options.name) < 3:
        raise DataError("a majority vote needs three checkpoints or more")
    if not options.data.is_file():
        raise DataError(f"{options.data}: no such file")
    bundles = [load(name, options.device) for name in options.name]
    task = bundles[0].task
    try:
        with tqdm(unit="row", desc=" ".join(options.name), disable=None) as bar:
            rows = task.read(options.data)
            first = list(islice(rows, 50))
            heard(bundles[0], first)
            rows = chain(first, rows)
            if options.apart:
                rows = apart(rows, (one for file in options.apart for one in task.read(file)))
            judged = (with_vote if options.vote else verdicts)(bundles, rows, bar.update)
    except DataError as error:
        said = str(error)
        named = said.startswith(tuple(map(str, (options.data, *options.apart))))
        raise DataError(said if named else f"{options.data}: {said}") from None
    found, names = [measured(task, one) for one in judged], [*options.name, *[VOTE] * options.vote]
    differences = on_rows(names, [[right for right, *_ in one] for one in judged])
    if options.json:
        several = {
            "checkpoints": [{"name": name, **one} for name, one in zip(names, found)],
            "differences": [vars(one) for one in differences],
        }
        print(json.dumps(several if len(found) > 1 else found[0]))
        return
    for name, one in zip(names, found):
        told = f"{one['n']} rows  " + "  ".join(f"{key} {value}" for key, value in one["metrics"].items())
        print(f"{name}  {told}" if len(found) > 1 else told)
    for one in differences:
        print(
            f"{one.b} less {one.a}: {one.gain:+.2f} points; right alone: {one.only_b} and {one.only_a} rows; "
            f"McNemar p {one.p:.3g}, after Holm {one.adjusted:.3g}"
        )
