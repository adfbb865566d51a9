"""Our points for a figure of a paper: sweeps, one line per group of runs that differ only in the swept setting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triattn_core.checkpoint import metadata
from triattn_core.results.notes import trained_on
from triattn_core.results.paper_schema import Figure, Line
from triattn_core.results.run_records import Record, has_settings

NO_DIFFERENCE = ("digest", "training.seed", "training.more_seeds")


@dataclass(frozen=True)
class Curve:
    """A line and its measured points: x → the metric of each seed, and x → the record of these."""

    line: Line
    points: dict[float, tuple[float, ...]]
    records: dict[float, Record]

    @property
    def record(self) -> Record:
        """One of its runs."""
        return next(iter(self.records.values()))


def measured_curves(figure: Figure, records: Sequence[Record]) -> list[Curve]:
    """The lines that have points; of several matching sweeps, that with most points, then most runs, then the last."""
    curves = []
    for line in figure.lines:
        groups: dict[str, Curve] = {}
        for record in records:
            values, x = record.values(figure.split, figure.metric), record.changed.get(figure.x)
            if values and isinstance(x, int | float) and has_settings(record, figure.ours | line.ours):
                curve = groups.setdefault(_alike(record, figure.x), Curve(line, {}, {}))
                curve.points[float(x)], curve.records[float(x)] = values, record
        curves += [max(reversed(groups.values()), key=_size)] if groups else []
    return [
        Curve(curve.line, dict(sorted(curve.points.items())), dict(sorted(curve.records.items()))) for curve in curves
    ]


def _size(curve: Curve) -> tuple[int, int]:
    return len(curve.points), sum(map(len, curve.points.values()))


def _alike(record: Record, x: str) -> str:
    config: dict[str, Any] = metadata.flatten(record.entry.config)
    settings = {name: value for name, value in config.items() if name != x and name not in NO_DIFFERENCE}
    return json.dumps([record.file, settings], sort_keys=True)


def describe_training(curves: Sequence[Curve]) -> str:
    """How many runs each point has, and on what the lines were trained."""
    runs = {len(values) for curve in curves for values in curve.points.values()}
    count = f"{min(runs)} to {max(runs)} runs" if len(runs) > 1 else f"{max(runs)} run{'s' * (max(runs) > 1)}"
    return f"A point is {count}. " + " ".join(dict.fromkeys(trained_on(curve.record) for curve in curves))


def export_rows(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """One row per run: line, x, run (from 1) and value."""
    return [
        {"line": curve.line.name, "x": x, "run": run, "value": value}
        for curve in curves
        for x, values in curve.points.items()
        for run, value in enumerate(values, 1)
    ]
