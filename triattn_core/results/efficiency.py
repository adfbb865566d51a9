"""What context-fusion blocks cost by the length of the text: a record of it, and its ratios beside the paper's.

A record is a JSON file such as `checkpoints/results/efficiency.json`, written by `triattn efficiency --out`; its keys
are the fields of Measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from triattn_core.checkpoint.registry import root
from triattn_core.results.published import HERE, StrictModel, Table, read_model

FILE = Path("results") / "efficiency.json"
BASE = "multi_head"  # what ratios are to
PASSES = ("training", "inference")
# Of Table 1, what each pass and the memory are there: the names of its columns begin so.
COLUMNS = {"training": "Time/Epoch", "inference": "Inf. Time", "memory": "Memory"}


class Point(StrictModel):
    """One block at one length; without numbers, `reason` says why.

    seconds: of a pass over the batch, the median of `repeats`.  memory: bytes of tensors at its peak, beyond input and
    weights; None where the device does not tell.
    """

    block: str
    tokens: int = Field(ge=1)
    passed: Literal[PASSES]
    seconds: float | None = Field(None, ge=0)
    memory: int | None = Field(None, ge=0)
    repeats: int = Field(0, ge=0)
    reason: str = ""


class Measurement(StrictModel):
    """A measurement: on what, when, of what sizes.  load: running processes on average over the minute before it."""

    format: Literal[1]
    date: str
    machine: str
    threads: int
    load: float | None
    command: str
    memory: str
    batch: int
    width: int
    out: int
    points: tuple[Point, ...]

    def text(self) -> str:
        """JSON, a line a point."""
        settings = self.model_dump(mode="json", exclude={"points"})
        points = (json.dumps(point.model_dump(exclude_defaults=True)) for point in self.points)
        head = json.dumps(settings, indent=1, ensure_ascii=False).removesuffix("\n}")
        return head + ',\n "points": [\n  ' + ",\n  ".join(points) + "\n ]\n}\n"

    def costs(self, passed: str, tokens: int) -> dict[str, Point]:
        """The points of a length and a pass by block."""
        return {point.block: point for point in self.points if (point.passed, point.tokens) == (passed, tokens)}

    @property
    def lengths(self) -> list[int]:
        """The lengths that were measured."""
        return sorted({point.tokens for point in self.points if point.seconds is not None})


def load(path: Path) -> Measurement:
    """A record.  Raises DataError in one line that names file and key."""
    return read_model(path, Measurement)


def load_shipped() -> Measurement | None:
    """The record of the shelf, else of the package; None where there is none.  Raises DataError."""
    path = next((top / FILE for top in (root(), HERE) if (top / FILE).is_file()), None)
    return load(path) if path else None


@dataclass(frozen=True)
class PrintedCosts:
    """A block by the paper's own name, and what Table 1 prints of it by pass, and "memory"."""

    name: str
    costs: Mapping[str, float]


def printed_costs() -> dict[str, PrintedCosts]:
    """What the paper prints of each block, in its order."""
    table = read_model(HERE / "results" / "papers" / "mtsa" / "table-1.json", Table)
    columns = {name: next(c for c in table.columns if c.name.startswith(start)) for name, start in COLUMNS.items()}
    return {
        str(row.ours["mechanism"]): PrintedCosts(
            row.name, {name: found.value for name, c in columns.items() if (found := table.printed(row, c))}
        )
        for row in table.rows
        if row.ours
    }


def block_names(measured: Measurement) -> dict[str, str]:
    """What each measured block is called: the paper's, in its order, then others by their own name."""
    measured_blocks, paper = dict.fromkeys(one.block for one in measured.points), printed_costs()
    printed_names = {block: one.name for block, one in paper.items() if block in measured_blocks}
    return printed_names | {block: block for block in measured_blocks if block not in printed_names}


def cost_rows(measured: Measurement, tokens: int) -> list[dict[str, Any]]:
    """A row a block at a length: seconds of each pass, bytes of training, their ratios to multi-head; the paper's.

    None stands for what was not measured, or is not printed.
    """
    rows, paper = [], {block: one.costs for block, one in printed_costs().items()}
    costs = {passed: measured.costs(passed, tokens) for passed in PASSES}
    called = {block: name for block, name in block_names(measured).items() if block in costs["training"]}
    for block, title in called.items():
        row: dict[str, Any] = {"block": block, "name": title, "reason": costs["training"][block].reason}
        for name in COLUMNS:
            passed, of = ("training", "memory") if name == "memory" else (name, "seconds")
            value, base = (getattr(costs[passed].get(one), of, None) for one in (block, BASE))
            row |= {name: value, f"{name} ratio": value / base if value is not None and base else None}
            printed_value, of_base = (paper.get(one, {}).get(name) for one in (block, BASE))
            row[f"{name} printed"] = None if printed_value is None or not of_base else printed_value / of_base
        rows.append(row)
    return rows
