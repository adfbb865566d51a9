"""Time and memory of context-fusion blocks by length of the text: the record, and its ratios next to the paper's.

A record is a JSON file such as `records/efficiency.json`, written by `triattn efficiency --out`; its keys
are the fields of Measurement.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from triattn_core.literal import one_of
from triattn_core.results.paper_results import read_model
from triattn_core.results.paper_schema import StrictModel, Table
from triattn_core.results.run_records import SHIPPED, records_folder

FILE = "efficiency.json"
BASE = "multi_head"  # the denominator of ratios
PASSES = ("training", "inference")
# How the names of the columns of Table 1 begin, by pass, and for memory.
COLUMNS = {"training": "Time/Epoch", "inference": "Inf. Time", "memory": "Memory"}


class Point(StrictModel):
    """One block at one length; without numbers, `reason` says why.

    seconds: of a pass over the batch, the median of `repeats`.  memory: peak bytes of tensors, beyond input and
    weights; None if the device does not report it.
    """

    block: str
    tokens: int = Field(ge=1)
    passed: Annotated[str, one_of(PASSES)]
    seconds: float | None = Field(None, ge=0)
    memory: int | None = Field(None, ge=0)
    repeats: int = Field(0, ge=0)
    reason: str = ""


class Measurement(StrictModel):
    """A measurement, with machine, date and sizes.  load: load average of the minute before it."""

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
        """The measurement as JSON, one point per line."""
        settings = self.model_dump(mode="json", exclude={"points"})
        points = (json.dumps(point.model_dump(exclude_defaults=True)) for point in self.points)
        head = json.dumps(settings, indent=1, ensure_ascii=False).removesuffix("\n}")
        return head + ',\n "points": [\n  ' + ",\n  ".join(points) + "\n ]\n}\n"

    def costs(self, pass_name: str, tokens: int) -> dict[str, Point]:
        """The points of one length and pass, by block."""
        return {point.block: point for point in self.points if (point.passed, point.tokens) == (pass_name, tokens)}

    @property
    def lengths(self) -> list[int]:
        """The lengths that were measured."""
        return sorted({point.tokens for point in self.points if point.seconds is not None})


def load(path: Path) -> Measurement:
    """A record.  Raises DataError in one line that names file and key."""
    return read_model(path, Measurement)


def load_shipped() -> Measurement | None:
    """The record in the folder of records, or that of the package; None if there is none.  Raises DataError."""
    path = next((top / FILE for top in (records_folder(), SHIPPED) if (top / FILE).is_file()), None)
    return load(path) if path else None


@dataclass(frozen=True)
class PrintedCosts:
    """The paper's name of a block, and its numbers in Table 1 by pass, and "memory"."""

    name: str
    costs: Mapping[str, float]


def printed_costs() -> dict[str, PrintedCosts]:
    """The paper's numbers of each block, in its order."""
    table = read_model(SHIPPED / "papers" / "mtsa" / "table-1.json", Table)
    columns = {name: next(c for c in table.columns if c.name.startswith(start)) for name, start in COLUMNS.items()}
    return {
        str(row.ours["mechanism"]): PrintedCosts(
            row.name, {name: number.value for name, c in columns.items() if (number := table.printed(row, c))}
        )
        for row in table.rows
        if row.ours
    }


def block_names(measurement: Measurement) -> dict[str, str]:
    """Display name of each measured block: the paper's blocks in its order, then the others."""
    measured_blocks, paper = dict.fromkeys(point.block for point in measurement.points), printed_costs()
    printed_names = {block: block_costs.name for block, block_costs in paper.items() if block in measured_blocks}
    return printed_names | {block: block for block in measured_blocks if block not in printed_names}


def cost_rows(measurement: Measurement, tokens: int) -> list[dict[str, Any]]:
    """One row per block at one length: seconds of each pass, bytes in training, their ratios to multi-head, and the
    paper's ratios; None if not measured or not printed.
    """
    rows, paper = [], {block: block_costs.costs for block, block_costs in printed_costs().items()}
    costs = {pass_name: measurement.costs(pass_name, tokens) for pass_name in PASSES}
    names = {block: name for block, name in block_names(measurement).items() if block in costs["training"]}
    for block, title in names.items():
        row: dict[str, Any] = {"block": block, "name": title, "reason": costs["training"][block].reason}
        for name in COLUMNS:
            pass_name, quantity = ("training", "memory") if name == "memory" else (name, "seconds")
            value, base = (getattr(costs[pass_name].get(key), quantity, None) for key in (block, BASE))
            row |= {name: value, f"{name} ratio": value / base if value is not None and base else None}
            printed_value, printed_base = (paper.get(key, {}).get(name) for key in (block, BASE))
            row[f"{name} printed"] = None if printed_value is None or not printed_base else printed_value / printed_base
        rows.append(row)
    return rows
