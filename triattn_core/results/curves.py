"""Our points for a figure of a paper: sweeps, one line per group of runs that differ only in the swept setting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import mean
from typing import Any

from triattn_core.analysis.significance import LEVEL, holm, share_test, standard_error
from triattn_core.checkpoint import metadata
from triattn_core.results.notes import trained_on
from triattn_core.results.paper_schema import Figure, Line
from triattn_core.results.row_order import SHARES
from triattn_core.results.run_records import PUBLISHED_FORM, Record, has_settings
from triattn_core.trace.listing import listing

NO_DIFFERENCE = ("digest", "training.seed", "training.more_seeds")


@dataclass(frozen=True)
class Curve:
    """A line and its measured points: x → the metric of each seed on the split, and x → the record of these."""

    line: Line
    points: dict[float, tuple[float, ...]]
    records: dict[float, Record]
    split: str = "dev"
    metric: str = ""

    @property
    def record(self) -> Record:
        """One of its runs."""
        return next(iter(self.records.values()))

    def rows(self, x: float) -> int | None:
        """How many rows a point was measured on, if recorded."""
        return self.records[x].rows(self.split)

    def error(self, x: float, value: float) -> float | None:
        """One standard error of a share of a point's rows; None if the metric is no share or its rows are unknown."""
        rows = self.rows(x)
        return standard_error(value, rows) if rows and self.metric in SHARES else None


def measured_curves(figure: Figure, records: Sequence[Record]) -> list[Curve]:
    """The lines that have points; of several matching sweeps, that with most points, then most runs, then the last."""
    curves = []
    for line in figure.lines:
        groups: dict[str, Curve] = {}
        for record in records:
            values, x = record.values(figure.split, figure.metric), record.changed.get(figure.x)
            if values and isinstance(x, int | float) and has_settings(record, PUBLISHED_FORM | figure.ours | line.ours):
                curve = groups.setdefault(_alike(record, figure.x), Curve(line, {}, {}, figure.split, figure.metric))
                curve.points[float(x)], curve.records[float(x)] = values, record
        curves += [max(reversed(groups.values()), key=_size)] if groups else []
    return [
        replace(curve, points=dict(sorted(curve.points.items())), records=dict(sorted(curve.records.items())))
        for curve in curves
    ]


def _size(curve: Curve) -> tuple[int, int]:
    return len(curve.points), sum(map(len, curve.points.values()))


def _alike(record: Record, x: str) -> str:
    config: dict[str, Any] = metadata.flatten(record.entry.config)
    settings = {name: value for name, value in config.items() if name != x and name not in NO_DIFFERENCE}
    return json.dumps([record.file, settings], sort_keys=True)


def missing_points(figure: Figure, curves: Sequence[Curve]) -> list[str]:
    """What other lines have and a line has not: "TDP", or "TDP at 2 and 3"."""
    drawn = {curve.line.name: curve.points for curve in curves}
    settings = sorted({x for points in drawn.values() for x in points})
    missing = {line.name: [x for x in settings if x not in drawn.get(line.name, {})] for line in figure.lines}
    return [
        f"{name} at {listing([f'{x:g}' for x in gaps])}" if name in drawn else name
        for name, gaps in missing.items()
        if gaps
    ]


def describe_training(curves: Sequence[Curve]) -> str:
    """How many runs each point has, and on what the lines were trained."""
    runs = {len(values) for curve in curves for values in curve.points.values()}
    count = f"{min(runs)} to {max(runs)} runs" if len(runs) > 1 else f"{max(runs)} run{'s' * (max(runs) > 1)}"
    return f"A point is {count}. " + " ".join(dict.fromkeys(trained_on(curve.record) for curve in curves))


def export_rows(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """One row per run: line, x, run (from 1), value and its standard error over the rows measured, None if unknown."""
    return [
        {"line": curve.line.name, "x": x, "run": run, "value": value, "standard_error": curve.error(x, value)}
        for curve in curves
        for x, values in curve.points.items()
        for run, value in enumerate(values, 1)
    ]


def describe_noise(curves: Sequence[Curve]) -> str:
    """One standard error of the rows, and for each line which points differ by more; empty if these are not known.

    The points of a line are measured on the same rows, of which only totals are recorded: the test is conservative.
    """
    sizes = {curve.rows(x) for curve in curves for x in curve.points}
    if not curves or None in sizes or len(sizes) > 1 or curves[0].metric not in SHARES:
        return ""
    rows, means = next(iter(sizes)) or 1, [mean(values) for curve in curves for values in curve.points.values()]
    errors = sorted({f"{standard_error(value, rows):.2f}" for value in (min(means), max(means))})
    head = f"One standard error of the {rows:,} {curves[0].split} rows is {' to '.join(errors)} (the bars)."
    tested = {curve.line.name: _beyond_noise(curve, rows) for curve in curves if len(curve.points) > 1}
    within = [name for name, (apart, _) in tested.items() if not apart]
    test = f"z-test, as if each had rows of its own, Holm's correction, p < {LEVEL:g}"
    each = "of any one line" if len(within) > 1 else "of the line"
    flat = f"{listing(within)}: no two points {each} differ significantly ({test})."
    steep = [
        f"{name}: {len(apart)} of {pairs} pairs exceed the noise ({test}): {', '.join(apart)}."
        for name, (apart, pairs) in tested.items()
        if apart
    ]
    return " ".join([head, *([flat] if within else []), *steep])


def _beyond_noise(curve: Curve, rows: int) -> tuple[list[str], int]:
    """The pairs of points that differ significantly, "3 over 1", and the number of pairs."""
    means = {x: mean(values) for x, values in curve.points.items()}
    pairs = [sorted(pair, key=lambda x: -means[x]) for pair in combinations(means, 2)]
    chances = holm([share_test(means[a], rows, means[b], rows) for a, b in pairs])
    return [f"{a:g} over {b:g}" for (a, b), p in zip(pairs, chances) if p < LEVEL], len(pairs)
