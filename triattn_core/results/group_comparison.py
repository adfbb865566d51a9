"""The rows of a table in two of its groups of columns: how far they lie apart in the paper and here, and whether by
more than the noise of the test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triattn_core.analysis.significance import holm, share_test, welch_over_seeds
from triattn_core.results.paper_comparison import Cell
from triattn_core.results.paper_schema import Row, Table
from triattn_core.results.row_order import SHARES


@dataclass(frozen=True)
class GroupDifference:
    """A row in two groups of columns.  p: two-sided z-test of our shares, after Holm's correction over the rows; None
    if they are no shares, or their number of rows is not recorded."""

    row: Row
    base: Cell
    other: Cell
    p: float | None = None

    @property
    def printed(self) -> float | None:
        """The printed number of the second group less that of the first."""
        both = self.base.printed and self.other.printed
        return self.other.printed.value - self.base.printed.value if both else None  # type: ignore[union-attr]

    @property
    def ours(self) -> float | None:
        """Our number of the second group less that of the first."""
        return None if self.base.ours is None or self.other.ours is None else self.other.ours - self.base.ours

    @property
    def same_sign(self) -> bool | None:
        """Whether ours has the sign of the paper's; None if one is missing."""
        return None if self.printed is None or self.ours is None else self.printed * self.ours > 0

    @property
    def p_over_seeds(self) -> float | None:
        """Two-sided p of Welch's t-test over the seeds of both groups; None if one of them has a single seed."""
        tests = welch_over_seeds({"base": self.base.values, "other": self.other.values})
        return tests[0].p if tests else None


def compare_groups(table: Table, cells: Sequence[Sequence[Cell]]) -> list[GroupDifference]:
    """The rows of ours of a table whose `compared` names two groups, in the first metric of these.

    cells: [rows][columns], as `paper_comparison.fill_table` gives them.
    """
    if table.compared is None:
        return []
    base, other = ([column.group for column in table.columns].index(group) for group in table.compared)
    rows = [
        GroupDifference(row, line[base], line[other]) for row, line in zip(table.rows, cells) if row.ours is not None
    ]
    chances = {i: p for i, row in enumerate(rows) if (p := _chance(row)) is not None}
    adjusted = dict(zip(chances, holm(list(chances.values()))))
    return [GroupDifference(row.row, row.base, row.other, adjusted.get(i)) for i, row in enumerate(rows)]


def _chance(row: GroupDifference) -> float | None:
    sides = [(cell.ours, cell.record and cell.record.rows(cell.column.split)) for cell in (row.base, row.other)]
    (a, n), (b, m) = sides
    known = a is not None and b is not None and n and m and row.base.column.metric in SHARES
    return share_test(a, n, b, m) if known else None  # type: ignore[arg-type]
