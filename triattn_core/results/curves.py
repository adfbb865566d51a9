"""Our points for a figure of a paper: sweeps, a line a group of runs that differ in the swept setting alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triattn_core import records
from triattn_core.results.notes import trained_on
from triattn_core.results.ours import Record, fits
from triattn_core.results.published import Figure, Line

NO_DIFFERENCE = ("digest", "training.seed", "training.more_seeds")


@dataclass(frozen=True)
class Curve:
    """A line and its measured points: x → the metric of each seed.  `record` is one of its runs."""

    line: Line
    points: dict[float, tuple[float, ...]]
    record: Record


def curves(figure: Figure, all_: Sequence[Record]) -> list[Curve]:
    """The lines that have points; of several sweeps that fit, that with most points, then most runs, then the last."""
    found = []
    for line in figure.lines:
        groups: dict[str, Curve] = {}
        for record in all_:
            values, x = record.values(figure.split, figure.metric), record.changed.get(figure.x)
            if values and isinstance(x, int | float) and fits(record, figure.ours | line.ours):
                one = groups.setdefault(_alike(record, figure.x), Curve(line, {}, record))
                one.points[float(x)] = values
        found += [max(reversed(groups.values()), key=_size)] if groups else []
    return [Curve(one.line, dict(sorted(one.points.items())), one.record) for one in found]


def _size(curve: Curve) -> tuple[int, int]:
    return len(curve.points), sum(map(len, curve.points.values()))


def _alike(record: Record, x: str) -> str:
    told: dict[str, Any] = records.flat(record.card.config)
    same = {name: one for name, one in told.items() if name != x and name not in NO_DIFFERENCE}
    return json.dumps([record.file, same], sort_keys=True)


def told(found: Sequence[Curve]) -> str:
    """On what the lines were trained, the same for all their points."""
    runs = {len(values) for one in found for values in one.points.values()}
    each = f"{min(runs)} to {max(runs)} runs" if len(runs) > 1 else f"{max(runs)} run{'s' * (max(runs) > 1)}"
    return f"A point is {each}. " + " ".join(dict.fromkeys(trained_on(one.record) for one in found))


def rows(found: Sequence[Curve]) -> list[dict[str, Any]]:
    """A row a run: line, x, run (from 1) and value."""
    return [
        {"line": one.line.name, "x": x, "run": number, "value": value}
        for one in found
        for x, values in one.points.items()
        for number, value in enumerate(values, 1)
    ]
