"""`triattn evaluate NAME laboratory:TASK`: measures over rows that are generated from a seed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from triattn_core.errors import DataError

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle

SET = "laboratory:"  # before the name of a task whose rows are generated


def run(options: argparse.Namespace) -> int:
    """Accuracy and measures against truth of laboratory models, with --attention those of the instruments too."""
    from tqdm import tqdm

    from triattn_core.checkpoint.bundle import load
    from triattn_core.inference.laboratory import evaluate_laboratory, rows_of

    if options.rows < 1 or options.vote or options.exclude_overlap:
        raise DataError("laboratory rows: --rows from 1, and neither --vote nor leaving rows out")
    task, told = str(options.data).removeprefix(SET), []
    for name in options.name:
        bundle = load(name, options.device)
        rows = rows_of(task, options.seed, options.rows, getattr(bundle.config.data, "size", None))
        if bundle.config.task != task:
            raise DataError(f"{name} is a model of {bundle.config.task}, not of {task}")
        rows = list(rows) if options.attention else rows
        with tqdm(unit="row", desc=name, total=options.rows, disable=None) as bar:
            found = evaluate_laboratory(bundle, rows, bar.update)
        if options.attention:
            found["instruments"] = _instruments(bundle, rows, options)
        told.append({"name": name, "task": task, "seed": options.seed, **found, **bundle.task.baseline()})
    if options.json:
        print(json.dumps(told[0] if len(told) == 1 else {"checkpoints": told}))
        return 0
    for one in told:
        print(f"{one['name']}  {one['n']} rows  chance {one['chance']}  {_numbers(one['metrics'] | one['quadrants'])}")
        for line in _lines(one["instruments"]) if "instruments" in one else ():
            print(f"  {line}")
    return 0


def _instruments(bundle: Bundle, rows: list, options: argparse.Namespace) -> dict:
    """What attribution and null replacements find; with --record it goes to the checkpoint's metrics.json."""
    from tqdm import tqdm

    from triattn_core.analysis.attribution.known_truth import try_instruments
    from triattn_core.training.measures import write_measures

    with tqdm(unit="row", desc=f"instruments on {bundle.name}", disable=None) as bar:
        report = try_instruments(bundle, rows, bar.update)
    if options.record:
        write_measures(bundle.path, "instruments", report | {"seed": options.seed})
    return report


def _lines(report: Mapping) -> list[str]:
    """A line a method: the share of rows whose truth it finds, and in brackets untrained; then the replacements."""
    lines = [
        f"{method}  "
        + "  ".join(f"{role} {share} ({report['untrained'][method][role]})" for role, share in found.items())
        for method, found in report["trained"].items()
    ]
    return [*lines, f"accuracy with weights  {_numbers(report['accuracy'])}"]


def _numbers(found: Mapping) -> str:
    return "  ".join(f"{name} {value}" for name, value in found.items())
