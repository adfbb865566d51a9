"""Who is right where: a row for each combination of checkpoints, its count and its bars by gold label, and whether two
checkpoints differ by chance.  A click on a row sends `agreement`, its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import pandas as pd

from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.lists import Dots, Halves, Lists, Rows, Section, Splits, Words

WHOLE = 8  # combinations that are all shown, those of three checkpoints
APART = 6  # times the longest of the other bars: from there on the first two rows have a scale of their own


@dataclass(frozen=True)
class Test:
    """McNemar's test of two by their titles: the rows that one of them alone has right, and p after Holm."""

    a: str
    b: str
    only_a: int
    only_b: int
    p: float


def figure(
    table: pd.DataFrame,
    mechanisms: Mapping[str, str],
    tests: Sequence[Test] = (),
    accuracy: Mapping[str, float] | None = None,
    labels: Sequence[str] = (),
    unit: str = "rows",
    selected: str = "",
    paper: Mapping[str, Sequence[int]] | None = None,
) -> Canvas:
    """From the table of `analysis.mining.agreement.right_combinations`; of more than WHOLE combinations those of
    several checkpoints that hold no row are left out.

    mechanisms: of the checkpoints by their titles, which are columns of the table.  labels: the names of its columns
    `label 0` and `label 1`, of pairs.  unit: what a row is.  selected: the combination that is marked.
    paper: published counts of a combination, one for each label.
    """
    split = [f"label {i}" for i in range(len(labels))]
    rows = [
        _Row(
            str(name),
            [bool(row[title]) for title in mechanisms],
            int(row["rows"]),
            [int(row[name]) for name in split] or [int(row["rows"])],
            list((paper or {}).get(name, ())),
        )
        for i, (name, row) in enumerate(table.iterrows())
        if len(table) <= WHOLE or i < len(mechanisms) + 2 or row["rows"] or name == selected
    ]
    about = f"{unit}, by gold label" if labels else unit
    who = Section(
        "Who is right", [_rows(rows, mechanisms, labels, unit, selected)], f"{about}; a click filters", most=620
    )
    chance = Section(
        "Is it chance?",
        [_tests(tests, mechanisms)],
        "McNemar, exact, after Holm",
        lead=f"{unit} that only one of the two has right; one seed each",
        foot="accuracy, %  " + "   ".join(f"{title} {share:.1f}" for title, share in (accuracy or {}).items()),
        most=320,
    )
    alt = _alt(rows, unit, len(table))
    return Lists("Who is right", alt, [who, *([chance] if tests else [])], height=300).canvas()


@dataclass(frozen=True)
class _Row:
    """A combination: which checkpoints are right, its rows, these by label, and the published ones."""

    name: str
    on: Sequence[bool]
    count: int
    parts: Sequence[int]
    paper: Sequence[int]


def _rows(rows: Sequence[_Row], mechanisms: Mapping[str, str], labels: Sequence[str], unit: str, selected: str) -> Rows:
    names, full = [row.name for row in rows], _scales(rows)
    scale = round(full[0] / full[-1]) if full[0] > full[-1] else 0
    notes = [
        "   ".join(
            [f"paper {' + '.join(map(str, row.paper))}"] * bool(row.paper)
            + [f"bars ÷ {scale}"] * (i == 1 and scale > 1)
        )
        for i, row in enumerate(rows)
    ]
    columns = [
        Words(names, "name", help=names, heard=" right: "),
        Dots([row.on for row in rows], list(mechanisms), list(mechanisms.values())),
        Words([f"{row.count:,}" for row in rows], "number", unit, heard=f" {unit}"),
        Halves(
            [row.parts for row in rows],
            full,
            labels,
            [one != full[-1] for one in full],
            [row.paper for row in rows] if any(row.paper for row in rows) else (),
            "published",
            notes,
        ),
    ]
    chosen = names.index(selected) if selected in names else -1
    values, looks = [{"name": name} for name in names], ["ruled" * (i == 1) for i in range(len(rows))]
    return Rows(columns, "agreement", values, chosen, {"name": ""}, looks=looks)


def _tests(tests: Sequence[Test], mechanisms: Mapping[str, str]) -> Rows:
    """A bar a test, the one with more rows on the left."""
    sides = [sorted([(t.only_b, t.b), (t.only_a, t.a)], key=lambda side: -side[0]) for t in tests]
    names = [[first[1], last[1]] for first, last in sides]
    counts = [[first[0], last[0]] for first, last in sides]
    inks = [[mechanisms[first], mechanisms[last]] for first, last in names]
    return Rows([Splits(counts, names, inks, [list(probability(test.p)) for test in tests])])


def _scales(rows: Sequence[_Row]) -> list[int]:
    """What a full bar stands for in each row: one for all, or one of their own for "all" and "none"."""
    most = [max(row.parts, default=0) for row in rows]
    rest = max([1, *most[2:]])
    both = max([1, *most[:2]])
    if both <= APART * rest:
        return [max(both, rest)] * len(rows)
    return [rest * ceil(both / rest)] * 2 + [rest] * (len(rows) - 2)


def probability(p: float) -> tuple[str, str]:
    """A p-value and the power of ten that stands above its end: = 0.375, = 1.6 × 10 and −14, < 10 and −30."""
    if p >= 0.001:
        return f"p = {min(p, 1):.2g}", ""
    if p < 1e-30:
        return "p < 10", "−30"
    digits, power = f"{p:.1e}".split("e-")
    return f"p = {digits} × 10", f"−{int(power)}"


def _alt(rows: Sequence[_Row], unit: str, combinations: int) -> str:
    total = sum(row.count for row in rows)
    told = [f"{row.name} right {row.count:,}" for row in rows if row.count]
    told += ["any other combination 0"] * (len(told) < combinations)
    return f"Of {total:,} {unit}: " + "; ".join(told) + "."
