"""A paper's table with our results: a cell for each row and column, the best of each column, and the table as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from triattn_core.analysis.significance import Sample
from triattn_core.checkpoint import metadata
from triattn_core.results.paper_results import PaperRecord
from triattn_core.results.paper_schema import Column, Printed, Row, Table, plain_name
from triattn_core.results.run_records import Record, matching_records

OMITTED_SETTINGS = ("task", "records", "voters")  # settings not mentioned in descriptions


@dataclass(frozen=True)
class Cell:
    """The printed number and ours.

    values: ours for each seed, from `record`; if there are none, `reason` says why.  within: the recorded spread of a
    run's own number.  others: how many other records only dev puts behind it.
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
        """Our mean over seeds."""
        return mean(self.values) if self.values else None

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds; for a single seed, that of its own number, or None."""
        return stdev(self.values) if len(self.values) > 1 else self.within

    @property
    def difference(self) -> float | None:
        """Our number minus the printed one."""
        return None if self.ours is None or self.printed is None else self.ours - self.printed.value

    @property
    def digits(self) -> int:
        """Digits of our number: those of the paper, at least two."""
        return max(2, self.column.digits)

    def sample(self) -> Sample | None:
        """Our number as a sample for tests."""
        spread = stdev(self.values) if len(self.values) > 1 else None
        return None if self.ours is None else Sample(self.ours, spread, len(self.values))

    def rounded(self) -> float | None:
        """Our number, rounded as it is written."""
        return None if self.ours is None else round(self.ours, self.digits)


@dataclass(frozen=True)
class ColumnGaps:
    """How far our numbers of a column lie from the printed ones, over the rows that have both.

    above: rows where ours is the larger number.  low, high: the smallest and the largest difference.
    """

    rows: int
    above: int
    low: float
    high: float


def fill_table(table: Table, records: Sequence[Record]) -> list[list[Cell]]:
    """The cells [rows][columns] of a table."""
    return [[make_cell(table, row, column, records) for column in table.columns] for row in table.rows]


def make_cell(table: Table, row: Row, column: Column, records: Sequence[Record]) -> Cell:
    """One cell; a row that is not ours has only the printed number."""
    published = table.printed(row, column)
    if row.ours is None or row.reason or column.reason:
        return Cell(column, published, reason=row.reason or column.reason * (row.ours is not None))
    return measured_cell(column, column.ours | row.ours | row.within.get(column.group, {}), records, published)


def measured_cell(
    column: Column, settings: Mapping[str, Any], records: Sequence[Record], published: Printed | None = None
) -> Cell:
    """The cell of a column for the record with these settings.

    Of several matches: measured ones first, then listed checkpoints, then most seeds, then the best on dev.
    """
    candidates = matching_records(records, settings)
    if not candidates:
        problem = "not trained" if "data" in settings else "not measured"
        return Cell(column, published, reason=f"{problem}: no record of {describe_settings(settings)}")
    ranks = [_rank(record, column) for record in candidates]
    best = candidates[ranks.index(max(ranks))]
    rivals = sum(rank[:-1] == max(ranks)[:-1] for rank in ranks) - 1
    values = best.values(column.split, column.metric)
    if not values:
        has_metrics = best.values(column.split, metadata.main_metric(best.entry)) or best.rows(column.split) is not None
        problem = f"no {column.metric} among its numbers" if has_metrics else "not measured"
        return Cell(column, published, (), best, 0, f"{problem} on {column.split}: {best.entry.name}")
    values = tuple(value / column.over for value in values)
    within = next(iter(best.values("run", column.spread)), None) if column.spread else None
    return Cell(column, published, values, best, rivals, within=within and within / column.over)


def _rank(record: Record, column: Column) -> tuple:
    dev = record.values("dev", metadata.main_metric(record.entry))
    seeds = len(record.values(column.split, column.metric))
    return bool(seeds), not record.file, seeds, mean(dev) if dev else float("-inf")


def describe_settings(settings: Mapping[str, Any]) -> str:
    """Settings in words: `tri, additive, lcqmc`; defaults are omitted."""
    alternatives = {
        name: value if isinstance(value, list) else [value]
        for name, value in settings.items()
        if name not in OMITTED_SETTINGS
    }
    parts = (
        " or ".join(filter(None, (_word(name, choice) for choice in values))) for name, values in alternatives.items()
    )
    return ", ".join(filter(None, parts))


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "" if value else f"without {name}"
    return f"{name} {', '.join(value)}" if isinstance(value, list) and value else str(value or "")


def best_cells(cells: Sequence[Cell], ours: bool) -> set[int]:
    """Indices of the best cells of a column, by the numbers as written; of ours, or of the printed ones."""
    numbers = [cell.rounded() if ours else None if cell.printed is None else cell.printed.value for cell in cells]
    values = {i: number for i, number in enumerate(numbers) if number is not None}
    if len(values) < 2:
        return set()
    top = (max if cells[0].column.better == "higher" else min)(values.values())
    return {i for i, number in values.items() if number == top}


def compare_column(cells: Sequence[Cell]) -> ColumnGaps | None:
    """Our numbers of a column against the printed ones; None where no row has both."""
    gaps = [cell.difference for cell in cells if cell.difference is not None]
    return ColumnGaps(len(gaps), sum(gap > 0 for gap in gaps), min(gaps), max(gaps)) if gaps else None


def default_table(papers: Sequence[PaperRecord], records: Sequence[Record]) -> tuple[int, int]:
    """(paper, table), from 0: of the first paper with a cell that has both numbers, the table with most of them."""
    for i, paper in enumerate(papers):
        counts = [
            sum(cell.difference is not None for row in fill_table(table, records) for cell in row)
            for table in paper.tables
        ]
        if any(counts):
            return i, counts.index(max(counts))
    return 0, 0


def format_cell(cell: Cell) -> str:
    """Our number in the digits of its column, with spread and number of seeds; empty if not measured."""
    if cell.ours is None:
        return ""
    if cell.spread is None:
        return f"{cell.ours:.{cell.digits}f}"
    count = f" ({len(cell.values)})" if len(cell.values) > 1 else ""
    return f"{cell.ours:.{cell.digits}f} ± {cell.spread:.{cell.digits}f}{count}"


def markdown(table: Table, cells: Sequence[Sequence[Cell]]) -> str:
    """A table as Markdown: for each column the printed number and ours, or why it is empty.  cells: of `fill_table`."""
    heads, lines = [""], []
    for column in table.columns:
        name = f"{column.group} {column.name}".replace("|", r"\|")
        heads += [name, "ours"] if column.printed else [f"{name}, ours"]
    for row, row_cells in zip(table.rows, cells):
        texts = [plain_name(row.name)]
        for cell in row_cells:
            texts += [cell.printed.text if cell.printed else ""] * cell.column.printed
            texts.append(format_cell(cell) or cell.reason.partition(":")[0])
        lines.append(texts)
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *lines]
    groups = {column.group: column.note for column in table.columns if column.note}
    footnotes = "".join(f" Ours of {group}: {text}." for group, text in groups.items())
    title = f"{table.label}. {table.title}.{footnotes}"
    return f"{title}\n\n" + "\n".join(f"| {' | '.join(row_cells)} |" for row_cells in lines)


def export_rows(paper: str, table: Table, cells: Sequence[Sequence[Cell]]) -> list[dict[str, Any]]:
    """The table for a file: one row per cell, exact numbers."""
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
            "record": cell.record.entry.name if cell.record else None,
            "file": (cell.record.file or "checkpoints") if cell.record else None,
            "rows_measured": cell.record.rows(cell.column.split) if cell.record else None,
            "reason": cell.reason or None,
        }
        for row, line in zip(table.rows, cells)
        for cell in line
    ]
