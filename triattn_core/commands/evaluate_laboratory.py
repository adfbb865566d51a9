"""`triattn evaluate NAME laboratory:TASK`: measures over rows that are generated from a seed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from triattn_core.errors import DataError

if TYPE_CHECKING:
    from triattn_core.checkpoint.bundle import Bundle

SET = "laboratory:"  # before the name of a task whose rows are generated
GENERATED = 4000  # rows, where no number is asked for


def run(options: argparse.Namespace) -> int:
    """Accuracy and measures against truth of laboratory models, with --attention those of the instruments too."""
    from triattn_core.checkpoint.bundle import load
    from triattn_core.commands import progress_line
    from triattn_core.inference.laboratory import evaluate_laboratory, rows_of

    if options.vote or options.exclude_overlap:
        raise DataError("laboratory rows take no --vote or --exclude-overlap")
    task, count, reports = str(options.data).removeprefix(SET), options.rows or GENERATED, []
    for name in options.name:
        bundle = load(name, options.device)
        generated = rows_of(task, options.seed, count, getattr(bundle.config.data, "size", None))
        if bundle.config.task != task:
            raise DataError(f"{name} is a model of {bundle.config.task}, not of {task}")
        rows = list(generated) if options.attention else generated
        with progress_line.bar(name, count) as bar:
            result = evaluate_laboratory(bundle, rows, bar.update)
        if options.attention:
            result |= _instruments(bundle, rows, options)
        reports.append({"name": name, "task": task, "seed": options.seed, **result, **bundle.task.baseline()})
    if options.json:
        print(json.dumps(reports[0] if len(reports) == 1 else {"checkpoints": reports}))
        return 0
    for report in reports:
        numbers = _numbers(report["metrics"] | report["quadrants"])
        print(f"{report['name']}  {report['n']} rows  chance {report['chance']}  {numbers}")
        for line in _lines(report["instruments"]) if "instruments" in report else ():
            print(f"  {line}")
    return 0


def _instruments(bundle: Bundle, rows: Iterable, options: argparse.Namespace) -> dict[str, dict]:
    """`instruments`: what attribution and null replacements find; `references` of third-order models: what was not
    trained.  With --record both go to the checkpoint's metrics.json."""
    from triattn_core.analysis.attribution.known_truth import try_instruments
    from triattn_core.commands import progress_line
    from triattn_core.inference.laboratory_references import reference_measures
    from triattn_core.training.metrics_writer import write_measures

    with progress_line.bar(f"instruments on {bundle.name}") as bar:
        reports = {"instruments": try_instruments(bundle, list(rows), bar.update)}
    if bundle.config.model.mechanism == "tri":
        reports["references"] = reference_measures(bundle)
    for name, report in reports.items() if options.record else ():
        write_measures(bundle.path, name, report | ({"seed": options.seed} if name == "instruments" else {}))
    return reports


def _lines(report: Mapping) -> list[str]:
    """A line a method: the share of rows whose truth it finds, and in brackets untrained; then the replacements."""
    lines = [
        f"{method}  "
        + "  ".join(f"{role} {share} ({report['untrained'][method][role]})" for role, share in measured.items())
        for method, measured in report["trained"].items()
    ]
    return [*lines, f"accuracy with weights  {_numbers(report['accuracy'])}"]


def _numbers(numbers: Mapping) -> str:
    return "  ".join(f"{name} {value}" for name, value in numbers.items())
