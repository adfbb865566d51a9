"""Our points for a figure of a paper: sweeps, a line a group of runs that differ in the swept setting alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triattn_core.checkpoint import metadata
from triattn_core.results.measured import Record, has_settings
from triattn_core.results.notes import trained_on
from triattn_core.results.published import Figure, Line

NO_DIFFERENCE = ("digest", "training.seed", "training.more_seeds")


@dataclass(frozen=True)
class Curve:
    """A line and its measured points: x → the metric of each seed.  `record` is one of its runs."""

    line: Line
    points: dict[float, tuple[float, ...]]
    record: Record


def measured_curves(figure: Figure, all_: Sequence[Record]) -> list[Curve]:
    """The lines that have points; of several sweeps that fit, that with most points, then most runs, then the last."""
    curves = []
    for line in figure.lines:
        groups: dict[str, Curve] = {}
        for record in all_:
            values, x = record.values(figure.split, figure.metric), record.changed.get(figure.x)
            if values and isinstance(x, int | float) and has_settings(record, figure.ours | line.ours):
                curve = groups.setdefault(_alike(record, figure.x), Curve(line, {}, record))
                curve.points[float(x)] = values
        curves += [max(reversed(groups.values()), key=_size)] if groups else []
    return [Curve(curve.line, dict(sorted(curve.points.items())), curve.record) for curve in curves]


def _size(curve: Curve) -> tuple[int, int]:
    return len(curve.points), sum(map(len, curve.points.values()))


def _alike(record: Record, x: str) -> str:
    config: dict[str, Any] = metadata.flatten(record.card.config)
    same = {name: one for name, one in config.items() if name != x and name not in NO_DIFFERENCE}
    return json.dumps([record.file, same], sort_keys=True)


def describe_training(drawn_curves: Sequence[Curve]) -> str:
    """On what the lines were trained, the same for all their points."""
    runs = {len(values) for curve in drawn_curves for values in curve.points.values()}
    each = f"{min(runs)} to {max(runs)} runs" if len(runs) > 1 else f"{max(runs)} run{'s' * (max(runs) > 1)}"
    return f"A point is {each}. " + " ".join(dict.fromkeys(trained_on(curve.record) for curve in drawn_curves))


def export_rows(drawn_curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """A row a run: line, x, run (from 1) and value."""
    return [
        {"line": curve.line.name, "x": x, "run": number, "value": value}
        for curve in drawn_curves
        for x, values in curve.points.items()
        for number, value in enumerate(values, 1)
    ]
