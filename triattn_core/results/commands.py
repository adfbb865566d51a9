"""The commands that made our numbers, as their records hold them."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.results.curves import Curve
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_schema import Table, plain_name
from triattn_core.results.run_records import Record

NOT_RECORDED = "# no command is recorded"


def record_commands(record: Record) -> list[str]:
    """The commands of a record, one or more: seeds can come from several; `NOT_RECORDED` if there is none."""
    each_seed = record.entry.metrics.get("each_seed")
    seeds = [seed for seed in each_seed if isinstance(seed, dict)] if isinstance(each_seed, list) else []
    commands = [seed.get("command") for seed in seeds] + [record.entry.metrics.get("command")]
    return list(dict.fromkeys(str(command) for command in commands if command)) or [NOT_RECORDED]


def table_commands(table: Table, cells: Sequence[Sequence[Cell]]) -> dict[str, list[str]]:
    """command → the rows it makes, in the order of the table; with its column, if others have another command.

    cells: [rows][columns], those that are shown.
    """
    made: dict[str, list[str]] = {}
    for row, line in zip(table.rows, cells):
        measured = [(cell.column, record_commands(cell.record)) for cell in line if cell.values and cell.record]
        one = len({tuple(commands) for _, commands in measured}) == 1
        for column, commands in measured:
            name = plain_name(row.name) if one else f"{plain_name(row.name)}, {column.name}"
            for command in commands:
                names = made.setdefault(command, [])
                names += [name] * (name not in names)
    return made


def curve_commands(curves: Sequence[Curve]) -> dict[str, list[str]]:
    """command → the points it makes: `TAdd at 1, 2`."""
    made: dict[str, dict[str, list[str]]] = {}
    for curve in curves:
        for x, record in curve.records.items():
            for command in record_commands(record):
                made.setdefault(command, {}).setdefault(curve.line.name, []).append(f"{x:g}")
    return {
        command: [f"{name} at {', '.join(points)}" for name, points in lines.items()] for command, lines in made.items()
    }


def shell_text(made: dict[str, list[str]]) -> str:
    """Commands as a shell reads them, each below a comment that says what it makes."""
    return "\n".join(f"# {'; '.join(names)}\n{command}" for command, names in made.items())
