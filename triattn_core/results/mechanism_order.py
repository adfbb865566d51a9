"""Is Tri ahead of Bi and C-Bi, as its paper claims?  Tests on its numbers and ours, for the first metric of each data
set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triattn_core.analysis.significance import RankingTest, Sample, rank_samples
from triattn_core.checkpoint.metadata import SIMILARITY_ORDER
from triattn_core.results.paper_comparison import Cell, format_cell, measured_cell
from triattn_core.results.paper_schema import Column, Printed, Table
from triattn_core.results.run_records import Record
from triattn_core.trace.axes import MECHANISM_LABELS

EXPECTED = ("tri", "cbi", "bi")
SHORT = {"untested": "one seed", "missing": ""}  # otherwise: the significant pairs


@dataclass(frozen=True)
class MechanismRanking:
    """The mechanisms with one similarity on one data set: a cell each, and tests of their order."""

    column: Column
    similarity: str
    cells: Mapping[str, Cell]
    printed: RankingTest
    ours: RankingTest


def rank_mechanisms(tables: Sequence[Table], records: Sequence[Record]) -> list[MechanismRanking]:
    """One row per data set and similarity of a paper's tables; none if its systems are not our mechanisms."""
    columns: dict[str, Column] = {}
    by_similarity: dict[tuple[str, str], dict[str, tuple[Printed | None, int]]] = {}
    for table in tables:
        for column in table.columns:
            first = columns.setdefault(column.group, column)
            for row in table.rows if column.metric == first.metric else ():
                ours = row.ours or {}
                if ours.get("mechanism") in EXPECTED and "similarity" in ours:
                    key = (column.group, str(ours["similarity"]))
                    numbers = by_similarity.setdefault(key, {})
                    numbers.setdefault(str(ours["mechanism"]), (table.printed(row, column), table.runs))
    position = {name: i for i, name in enumerate(SIMILARITY_ORDER)}
    keys = sorted(
        by_similarity, key=lambda group: (list(columns).index(group[0]), position.get(group[1], len(position)))
    )
    return [
        _rank_row(columns[group], similarity, by_similarity[group, similarity], records) for group, similarity in keys
    ]


def _rank_row(
    column: Column, similarity: str, numbers: Mapping[str, tuple[Printed | None, int]], records: Sequence[Record]
) -> MechanismRanking:
    cells, published, ours = {}, {}, {}
    for name in EXPECTED:
        number, runs = numbers.get(name, (None, 1))
        settings = {**column.ours, "mechanism": name, "similarity": similarity}
        cells[name] = measured_cell(column, settings, records, number)
        label = MECHANISM_LABELS[name]
        published[label] = None if number is None else Sample(number.value, number.spread, runs)
        ours[label] = cells[name].sample()
    return MechanismRanking(
        column, similarity, cells, rank_samples(published, list(published)), rank_samples(ours, list(ours))
    )


def markdown(rows: Sequence[MechanismRanking]) -> str:
    """The rows as a Markdown table: the paper's numbers, ours with their seeds, and the significant pairs."""
    names = [MECHANISM_LABELS[name] for name in reversed(EXPECTED)]
    head = [*(f"paper: {name}" for name in names), *(f"ours: {name}" for name in names)]
    head = ["", *head, "significantly different in the paper", "here"]
    lines = [head, ["---", *["---:"] * 6, "---", "---"]]
    for row in rows:
        cells = [row.cells[name] for name in reversed(EXPECTED)]
        texts = [cell.printed.text if cell.printed else "" for cell in cells] + [format_cell(cell) for cell in cells]
        title = f"{row.column.group} {row.column.name}, {row.similarity.replace('_', ' ')}"
        lines.append([title, *texts, significant_pairs(row.printed), significant_pairs(row.ours)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def significant_pairs(ranking: RankingTest) -> str:
    """The pairs that differ significantly, the larger one first."""
    return SHORT.get(ranking.status, ", ".join(f"{first} > {second}" for first, second in ranking.apart) or "none")
