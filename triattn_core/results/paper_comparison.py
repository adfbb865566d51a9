"""A paper's table with ours in it: a cell for each row and column, the best of each column, and the table as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from triattn_core.analysis.significance import Sample
from triattn_core.checkpoint import metadata
from triattn_core.results.measured import Record, matching_records
from triattn_core.results.published import Column, PaperRecord, Printed, Row, Table, plain_name

OMITTED_SETTINGS = ("task", "records", "voters")  # of what is wanted of a record


@dataclass(frozen=True)
class Cell:
    """The printed number and ours: `values` are those of each seed, from `record`; where there are none, `reason`.

    `within`: the spread of a run's own number, as it is recorded.  `others`: how many records fitted besides.
    """

    column: Column
    printed: Printed | None
    values: tuple[float, ...] = ()
    record: Record | None = None
    others: int = 0
    reason: str = ""
    within: float | None = None

    @property
    def ours(self) -> float | None:
        """The mean over seeds."""
        return mean(self.values) if self.values else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds; of one that of its own number, or None."""
        return stdev(self.values) if len(self.values) > 1 else self.within

    @property
    def difference(self) -> float | None:
        """Ours less the printed one."""
        return None if self.ours is None or self.printed is None else self.ours - self.printed.value

    @property
    def digits(self) -> int:
        """Of ours: as many as are recorded, two, where the paper prints fewer."""
        return max(2, self.column.digits)

    def sample(self) -> Sample | None:
        """Ours as a test takes it."""
        spread = stdev(self.values) if len(self.values) > 1 else None
        return None if self.ours is None else Sample(self.ours, spread, len(self.values))

    def shown(self) -> float | None:
        """Ours in the digits in which it is written."""
        return None if self.ours is None else round(self.ours, self.digits)


def fill_table(table: Table, all_: Sequence[Record]) -> list[list[Cell]]:
    """[rows][columns] of a table."""
    return [[make_cell(table, row, column, all_) for column in table.columns] for row in table.rows]


def make_cell(table: Table, row: Row, column: Column, all_: Sequence[Record]) -> Cell:
    """One cell; a row that is none of ours has the printed number alone."""
    printed = table.printed(row, column)
    if row.ours is None or row.reason or column.reason:
        return Cell(column, printed, reason=row.reason or column.reason * (row.ours is not None))
    return measured_cell(column, column.ours | row.ours | row.within.get(column.group, {}), all_, printed)


def measured_cell(
    column: Column, wanted: Mapping[str, Any], all_: Sequence[Record], printed: Printed | None = None
) -> Cell:
    """The cell of a column for the record with these settings.

    Of several that fit, those measured come first, then the shelf's, then most seeds, then the best on dev.
    """
    fitting = matching_records(all_, wanted)
    if not fitting:
        lacks = "not trained" if "data" in wanted else "not measured"
        return Cell(column, printed, reason=f"{lacks}: no record of {describe_settings(wanted)}")
    best = max(fitting, key=lambda record: _rank(record, column))
    values = best.values(column.split, column.metric)
    if not values:
        there = best.values(column.split, metadata.main_metric(best.card)) or best.rows(column.split) is not None
        lacks = f"no {column.metric} among its numbers" if there else "not measured"
        return Cell(column, printed, (), best, 0, f"{lacks} on {column.split}: {best.card.name}")
    values = tuple(value / column.over for value in values)
    within = next(iter(best.values("run", column.spread)), None) if column.spread else None
    return Cell(column, printed, values, best, len(fitting) - 1, within=within and within / column.over)


def _rank(record: Record, column: Column) -> tuple:
    dev = record.values("dev", metadata.main_metric(record.card))
    seeds = len(record.values(column.split, column.metric))
    return bool(seeds), not record.file, seeds, mean(dev) if dev else float("-inf")


def describe_settings(wanted: Mapping[str, Any]) -> str:
    """Settings in words: `tri, additive, lcqmc`; what is left as it is by default is left out."""
    alternatives = {
        name: value if isinstance(value, list) else [value]
        for name, value in wanted.items()
        if name not in OMITTED_SETTINGS
    }
    parts = (" or ".join(filter(None, (_word(name, one) for one in some))) for name, some in alternatives.items())
    return ", ".join(filter(None, parts))


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "" if value else f"without {name}"
    return f"{name} {', '.join(value)}" if isinstance(value, list) and value else str(value or "")


def best_cells(cells: Sequence[Cell], ours: bool) -> set[int]:
    """The places of the best cells of a column, as they are written; of ours, or of the printed ones."""
    values = {
        i: number.shown() if ours else number.printed.value for i, number in enumerate(cells) if ours or number.printed
    }
    values = {i: number for i, number in values.items() if number is not None}
    if len(values) < 2:
        return set()
    top = (max if cells[0].column.better == "higher" else min)(values.values())
    return {i for i, number in values.items() if number == top}


def default_table(papers: Sequence[PaperRecord], all_: Sequence[Record]) -> tuple[int, int]:
    """Which paper and which of its tables have most cells with both numbers, from 0: what there is to compare."""
    counts = {
        (i, j): sum(cell.difference is not None for row in fill_table(table, all_) for cell in row)
        for i, paper in enumerate(papers)
        for j, table in enumerate(paper.tables)
    }
    return max(counts, key=counts.__getitem__, default=(0, 0))


def format_cell(cell: Cell) -> str:
    """Ours in the digits of its column, with spread and number of seeds; empty where nothing was measured."""
    if cell.ours is None:
        return ""
    if cell.spread is None:
        return f"{cell.ours:.{cell.digits}f}"
    count = f" ({len(cell.values)})" if len(cell.values) > 1 else ""
    return f"{cell.ours:.{cell.digits}f} ± {cell.spread:.{cell.digits}f}{count}"


def markdown(table: Table, cells: Sequence[Sequence[Cell]]) -> str:
    """A table as Markdown: of each column what is printed and ours, or why ours is empty.  cells: as `fill_table`."""
    heads, lines = [""], []
    for column in table.columns:
        name = f"{column.group} {column.name}".replace("|", r"\|")
        heads += [name, "ours"] if column.printed else [f"{name}, ours"]
    for row, line in zip(table.rows, cells):
        texts = [plain_name(row.name)]
        for cell in line:
            texts += [cell.printed.text if cell.printed else ""] * cell.column.printed
            texts.append(format_cell(cell) or cell.reason.partition(":")[0])
        lines.append(texts)
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *lines]
    groups = {column.group: column.said for column in table.columns if column.said}
    footnotes = "".join(f" Ours of {group}: {text}." for group, text in groups.items())
    title = f"{table.label}. {table.title}.{footnotes}"
    return f"{title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def export_rows(paper: str, table: Table, cells: Sequence[Sequence[Cell]]) -> list[dict[str, Any]]:
    """The table for a file: a row a cell, exact numbers."""
    return [
        {
            "paper": paper,
            "table": table.label,
            "row": plain_name(row.name),
            "data": cell.column.group,
            "metric": cell.column.name,
            "unit": cell.column.unit,
            "published": cell.printed.text if cell.printed else None,
            "ours": cell.ours,
            "ours_spread": cell.spread,
            "seeds": len(cell.values),
            "ours_less_published": cell.difference,
            "record": cell.record.card.name if cell.record else None,
            "file": (cell.record.file or "shelf") if cell.record else None,
            "rows_measured": cell.record.rows(cell.column.split) if cell.record else None,
            "reason": cell.reason or None,
        }
        for row, line in zip(table.rows, cells)
        for cell in line
    ]
