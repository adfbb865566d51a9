"""Does our order of a paper's rows agree with its own?  Rank correlations, and our significant differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np

from triattn_core.analysis.significance import LEVEL, holm, share_test
from triattn_core.results.paper_comparison import Cell, make_cell
from triattn_core.results.paper_schema import Column, Table, plain_name
from triattn_core.results.run_records import Record

MIN_ROWS = 3  # the order of two rows means nothing
MAX_EXACT_ROWS = 8  # most rows for which all orders are enumerated
TESTS = {"rho": ("spearmanr", np.positive), "tau": ("kendalltau", np.sign)}  # SciPy's, and of the rank differences
SHARES = ("em", "accuracy", "R10@1")  # shares of right rows: their noise follows from the number of rows


@dataclass(frozen=True)
class Agreement:
    """Agreement of two orders of the rows of a column.

    rows: those with both numbers, our best first: [(name, printed, ours)].  of: number of rows that could have both.
    rho, tau: Spearman's and Kendall's rank correlation (tau-b), with their two-sided p, see `correlation`; None for
    fewer than `MIN_ROWS` rows, or if all are equal.
    apart: our pairs of rows that differ significantly, as (better, worse); None if the records do not allow the test.
    turned: those of them that the paper has in the opposite order.
    first: the rows that the paper ranks first, of all that could have both numbers.
    """

    column: Column
    rows: tuple[tuple[str, float, float], ...]
    of: int
    rho: tuple[float, float] | None = None
    tau: tuple[float, float] | None = None
    apart: tuple[tuple[str, str], ...] | None = None
    turned: tuple[tuple[str, str], ...] = ()
    first: tuple[str, ...] = ()

    @property
    def pairs(self) -> int:
        """The number of pairs of rows."""
        return len(self.rows) * (len(self.rows) - 1) // 2

    def place(self, name: str) -> tuple[int, float]:
        """(rank of a row among ours, from 1; its lead over the best other row, negative if behind)."""
        sign = 1 if self.column.better == "higher" else -1
        value = next(ours for row, _, ours in self.rows if row == name)
        other_values = [ours for row, _, ours in self.rows if row != name]
        return 1 + sum(sign * (other - value) > 0 for other in other_values), sign * value - max(
            sign * other for other in other_values
        )

    def by_worse_rows(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """`apart`, grouped by equal sets of worse rows: (better, …) → (worse, …), our best first."""
        names = [name for name, *_ in self.rows]
        groups: dict[tuple[str, ...], list[str]] = {}
        for a in names:
            if worse := tuple(b for b in names if (a, b) in (self.apart or ())):
                groups.setdefault(worse, []).append(a)
        return {tuple(better): worse for worse, better in groups.items()}


def rank_agreements(table: Table, tables: Sequence[Table], records: Sequence[Record]) -> list[Agreement]:
    """The agreement in each printed column, over the rows of all tables that rank with `table`, without duplicates."""
    cells_by_column: dict[tuple[str, str], dict[str, Cell]] = {}
    for other in [table] if table.ranked_alone else [other for other in tables if not other.ranked_alone]:
        for column in other.columns:
            rows = cells_by_column.setdefault((column.group, column.name), {})
            for row in other.rows:
                if row.ours is not None and row.ranked and other.printed(row, column) is not None:
                    rows.setdefault(plain_name(row.name), make_cell(other, row, column, records))
    return [_agreement(rows) for rows in cells_by_column.values() if rows]


def _agreement(cells: dict[str, Cell]) -> Agreement:
    column = next(iter(cells.values())).column
    sign = 1 if column.better == "higher" else -1
    rows = [(name, *pair) for name, cell in cells.items() if (pair := _printed_and_ours(cell)) is not None]
    rows.sort(key=lambda row: -sign * row[2])
    if len(rows) < MIN_ROWS:
        return Agreement(column, tuple(rows), len(cells))
    published, ours = ([row[i] for row in rows] for i in (1, 2))
    apart = _significant_pairs({name: cells[name] for name, _, _ in rows}, sign)
    values = {name: sign * value for name, value, _ in rows}
    turned = tuple((a, b) for a, b in apart or () if values[a] < values[b])
    all_printed = {name: sign * cell.printed.value for name, cell in cells.items() if cell.printed}
    first = tuple(name for name, value in all_printed.items() if value == max(all_printed.values()))
    rho = tau = None
    if min(len(set(published)), len(set(ours))) > 1:
        rho, tau = (correlation(name, tuple(published), tuple(ours)) for name in TESTS)
    return Agreement(column, tuple(rows), len(cells), rho, tau, apart, turned, first)


def _printed_and_ours(cell: Cell) -> tuple[float, float] | None:
    """The printed number and ours, where both are there."""
    if cell.printed is None or cell.ours is None:
        return None
    return cell.printed.value, cell.ours


@cache
def correlation(name: str, left: tuple[float, ...], right: tuple[float, ...]) -> tuple[float, float]:
    """A rank correlation of `TESTS` and its two-sided p.

    Up to `MAX_EXACT_ROWS` rows p is exact: the share of all orders of one side that correlate as strongly, in either
    direction.  For more rows it is SciPy's: for Spearman's from the t distribution, for Kendall's exact without ties,
    otherwise from the normal distribution.
    """
    test, transform = TESTS[name]
    if len(left) > MAX_EXACT_ROWS:
        from scipy import stats

        result = getattr(stats, test)(left, right)
        return float(result.statistic), float(result.pvalue)
    a, b = (transform(ranks[:, None] - ranks) for ranks in map(_ranks, (left, right)))  # both sum over pairs of rows
    statistic = (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())
    orders = np.array(list(permutations(range(len(left)))))
    sums = np.abs((a * b[orders[:, :, None], orders[:, None]]).sum((1, 2)))
    return float(statistic), float((sums >= sums[0] - 1e-9).mean())


def _ranks(values: Sequence[float]) -> np.ndarray:
    """The places in rising order, the mean of them for equal values: twice each, as whole numbers."""
    column = np.asarray(values)[:, None]
    return (column > values).sum(1) * 2 + (column == values).sum(1)


def _significant_pairs(cells: dict[str, Cell], sign: int) -> tuple[tuple[str, str], ...] | None:
    """Pairs whose shares differ significantly in a z-test with Holm's correction, as (better, worse).

    The test treats samples as independent; both are measured on the same rows, so it is conservative.
    """
    column = next(iter(cells.values())).column
    shares = {
        name: (cell.ours, rows)
        for name, cell in cells.items()
        if cell.ours is not None and cell.record and (rows := cell.record.rows(column.split))
    }
    if column.metric not in SHARES or len(shares) < len(cells):
        return None
    pairs = list(combinations(cells, 2))
    p_values = [share_test(*shares[a], *shares[b]) for a, b in pairs]
    significant = [pair for pair, p in zip(pairs, holm(p_values)) if p < LEVEL]
    return tuple((a, b) if sign * (shares[a][0] - shares[b][0]) > 0 else (b, a) for a, b in significant)
