"""Who is right where: a row for each combination of checkpoints, its count and its bars by gold label, and whether two
checkpoints differ by chance.  A click on a row sends `agreement`, its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

import pandas as pd

from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import theme_payload

SCRIPT = "agreement/agreement.js"
STYLE = ("agreement/agreement.css",)
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
        {
            "name": name,
            "on": [bool(row[title]) for title in mechanisms],
            "rows": int(row["rows"]),
            "parts": [int(row[name]) for name in split] or [int(row["rows"])],
            "paper": list((paper or {}).get(name, ())),
        }
        for i, (name, row) in enumerate(table.iterrows())
        if len(table) <= WHOLE or i < len(mechanisms) + 2 or row["rows"] or name == selected
    ]
    scales = _scales(rows)
    payload: dict[str, Any] = {
        "rows": [{**row, "scale": scale} for row, scale in zip(rows, scales)],
        "apart": round(scales[0] / scales[-1]) if scales[0] > scales[-1] else 0,
        "models": [{"title": title, "mechanism": kind} for title, kind in mechanisms.items()],
        "tests": [asdict(test) | dict(zip(("said", "power"), probability(test.p))) for test in tests],
        "accuracy": [f"{title} {share:.1f}" for title, share in (accuracy or {}).items()],
        "labels": list(labels),
        "unit": unit,
        "chosen": selected,
        "themes": theme_payload(),
        "alt": _alt(rows, unit, len(table)),
    }
    return Canvas(payload, script(SCRIPT), style(*STYLE), "Who is right", payload["alt"], height=300)


def _scales(rows: Sequence[dict]) -> list[int]:
    """What a full bar stands for in each row: one for all, or one of their own for "all" and "none"."""
    most = [max(row["parts"], default=0) for row in rows]
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


def _alt(rows: Sequence[dict], unit: str, combinations: int) -> str:
    total = sum(row["rows"] for row in rows)
    told = [f"{row['name']} right {row['rows']:,}" for row in rows if row["rows"]]
    told += ["any other combination 0"] * (len(told) < combinations)
    return f"Of {total:,} {unit}: " + "; ".join(told) + "."
