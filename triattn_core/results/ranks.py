"""Does our order of a paper's rows agree with its own?  Rank correlations, and our differences that exceed noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np
from scipy.stats import kendalltau, norm, rankdata, spearmanr

from triattn_core.analysis.significance import LEVEL, holm
from triattn_core.results.measured import Record
from triattn_core.results.paper_comparison import Cell, make_cell
from triattn_core.results.published import Column, Table, plain_name

MIN_ROWS = 3  # rows: of two an order says nothing
MAX_EXACT_ROWS = 8  # rows: of so many at most all orders are gone through
TESTS = {"rho": (spearmanr, np.positive), "tau": (kendalltau, np.sign)}  # and what it takes of ranks' differences
SHARES = ("em", "accuracy")  # metrics that are shares of rows right: their noise follows from the number of rows


@dataclass(frozen=True)
class Agreement:
    """The rows of a column that have both numbers, our best first: [(name, printed, ours)].

    rho, tau: Spearman's and Kendall's rank correlation (tau-b), with their two-sided p, see `_correlation`; None of
    fewer than `MIN_ROWS` rows, or where all are equal.
    apart: of our pairs of rows, those that differ by more than chance, as (better, worse); None where
    that cannot be told from the records.  turned: those of them that the paper has the other way round.
    first: the rows that the paper has first, of all that could have both numbers.
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
        """How many pairs of rows there are."""
        return len(self.rows) * (len(self.rows) - 1) // 2

    def place(self, name: str) -> tuple[int, float]:
        """Which place a row has among ours, from 1, and by how much it is ahead of the best other one, or behind."""
        sign = 1 if self.column.better == "higher" else -1
        own = next(ours for row, _, ours in self.rows if row == name)
        others = [ours for row, _, ours in self.rows if row != name]
        return 1 + sum(sign * (other - own) > 0 for other in others), sign * own - max(sign * other for other in others)

    def beyond(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """`apart` by those that are ahead of the same rows: (better, …) → (worse, …), our best first."""
        names, groups = [name for name, *_ in self.rows], {}
        for a in names:
            if worse := tuple(b for b in names if (a, b) in (self.apart or ())):
                groups.setdefault(worse, []).append(a)
        return {tuple(better): worse for worse, better in groups.items()}


def rank_agreements(tables: Sequence[Table], all_: Sequence[Record]) -> list[Agreement]:
    """One for each printed column, over the rows of all tables that have it; what is printed twice counts once."""
    cells_by_column: dict[tuple[str, str], dict[str, Cell]] = {}
    for table in tables:
        for column in table.columns:
            rows = cells_by_column.setdefault((column.group, column.name), {})
            for row in table.rows:
                if row.ours is not None and table.printed(row, column) is not None:
                    rows.setdefault(plain_name(row.name), make_cell(table, row, column, all_))
    return [_agreement(rows) for rows in cells_by_column.values() if rows]


def _agreement(cells: dict[str, Cell]) -> Agreement:
    column = next(iter(cells.values())).column
    sign = 1 if column.better == "higher" else -1
    both = [(name, cell.printed.value, cell.ours) for name, cell in cells.items() if cell.difference is not None]
    both.sort(key=lambda row: -sign * row[2])
    if len(both) < MIN_ROWS:
        return Agreement(column, tuple(both), len(cells))
    printed, ours = ([row[i] for row in both] for i in (1, 2))
    apart = _significant_pairs({name: cells[name] for name, _, _ in both}, sign)
    values = {name: sign * value for name, value, _ in both}
    turned = tuple((a, b) for a, b in apart or () if values[a] < values[b])
    known = {name: sign * cell.printed.value for name, cell in cells.items()}
    first = tuple(name for name, value in known.items() if value == max(known.values()))
    rho = tau = None
    if min(len(set(printed)), len(set(ours))) > 1:
        rho, tau = (_correlation(name, tuple(printed), tuple(ours)) for name in TESTS)
    return Agreement(column, tuple(both), len(cells), rho, tau, apart, turned, first)


@cache
def _correlation(name: str, left: tuple[float, ...], right: tuple[float, ...]) -> tuple[float, float]:
    """A rank correlation of `TESTS` and its two-sided p.

    Up to `MAX_EXACT_ROWS` rows p is exact: the share of all orders of one side that correlate as strongly, in either
    direction. Of more it is SciPy's: of Spearman's by the t distribution, of Kendall's exact without ties, else by the
    normal one.
    """
    test, of = TESTS[name]
    result = test(left, right)
    if len(left) > MAX_EXACT_ROWS:
        return float(result.statistic), float(result.pvalue)
    a, b = (of(ranks[:, None] - ranks) for ranks in map(rankdata, (left, right)))  # both are sums over pairs of rows
    orders = np.array(list(permutations(range(len(left)))))
    sums = np.abs((a * b[orders[:, :, None], orders[:, None]]).sum((1, 2)))
    return float(result.statistic), float((sums >= sums[0] - 1e-9).mean())


def _significant_pairs(cells: dict[str, Cell], sign: int) -> tuple[tuple[str, str], ...] | None:
    """Pairs whose shares differ by more than two samples of so many rows do by chance, after Holm's correction.

    Both were measured on the same rows, which makes a difference surer than this test knows: it errs towards noise.
    """
    column = next(iter(cells.values())).column
    rows = {name: cell.record.rows(column.split) for name, cell in cells.items() if cell.record}
    if column.metric not in SHARES or len(rows) < len(cells) or not all(rows.values()):
        return None
    pairs = list(combinations(cells, 2))
    p_values = [_chance(cells[a].ours, rows[a], cells[b].ours, rows[b]) for a, b in pairs]
    significant = [pair for pair, p in zip(pairs, holm(p_values)) if p < LEVEL]
    return tuple(pair if sign * (cells[pair[0]].ours - cells[pair[1]].ours) > 0 else pair[::-1] for pair in significant)


def _chance(a: float, n: int, b: float, m: int) -> float:
    """The two-sided p of the z-test of two shares in per cent."""
    p, q = a / 100, b / 100
    error = (p * (1 - p) / n + q * (1 - q) / m) ** 0.5
    return 1.0 if error == 0 else float(2 * norm.sf(abs(p - q) / error))
