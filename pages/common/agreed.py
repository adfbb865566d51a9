"""How far methods of attribution agree, and what integrated gradients share out, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import combinations
from math import isfinite, sqrt
from statistics import NormalDist

import pandas as pd

from pages.common import cards
from pages.common.attributed import ink
from pages.common.figures import minus
from triattn_core.analysis.offered import METHODS
from triattn_core.views.palette import DIVERGING, ramp, rgb

CSS = """
.t-ranks {border-collapse: separate; border-spacing: 1px; font-size: 12px; font-variant-numeric: tabular-nums}
.t-ranks td {width: 38px; height: 30px; text-align: center; padding: 0}
.t-ranks th {font-weight: 400; text-align: right; padding-right: 7px; white-space: nowrap}
.t-ranks tr > th.top {text-align: left; padding-left: 5px}
"""
MIXED = (
    " Over several roles a rank is one of roles, too: the tokens of a role share its mass of attention, and roles "
    "differ in how many they are."
)


def ranks(found: pd.DataFrame, count: int, theme: str, several: bool = False) -> str:
    """HTML: Spearman's correlation of each two methods, over `count` tokens, of several roles or of one."""
    names, colours, rows = list(found), ramp(DIVERGING[theme], 256), ""
    for a, name in enumerate(names):
        cells = ""
        for b in range(a):
            value = found.iloc[a, b]
            fill = colours[int(127.5 * (1 + min(max(value, -1), 1)))] if isfinite(value) else rgb("#888888") * 255
            shown = minus(f"{value:.2f}") if isfinite(value) else "–"
            look = f"background:rgb({','.join(str(int(one)) for one in fill)});color:{ink(fill)}"
            cells += f'<td style="{look}" title="{escape(name)} and {escape(names[b])}">{shown}</td>'
        short = escape(METHODS[name].short)
        last = f'<th class="top" scope="col">{short}</th>' * (a < len(names) - 1)  # nothing below it
        rows += f'<tr><th scope="row">{escape(name)}</th>{cells}{last}</tr>'
    return (
        f"<style>{CSS}</style>"
        + cards.section("Do they agree?", "Spearman, on size")
        + f'<table class="t-ranks">{rows}</table><p class="t-note">{agreement(found, count)}{MIXED * several}</p>'
    )


def agreement(found: pd.DataFrame, count: int) -> str:
    """A sentence: which two agree most, which least, and what chance alone would give."""
    pairs: Sequence[tuple[float, str, str]] = [
        (float(found.loc[a, b]), a, b) for a, b in combinations(found, 2) if isfinite(found.loc[a, b])
    ]
    if not pairs:
        return "Too few tokens to rank."
    (most, a, b), (least, c, d) = max(pairs), min(pairs)
    one = NormalDist().inv_cdf(1 - 0.025 / len(pairs)) / sqrt(max(count - 1, 1))
    said = f"{escape(a)} and {escape(b)} rank the tokens most alike ({most:.2f}), {escape(c)} and {escape(d)} least "
    said += f"({least:.2f}). Over {count} tokens "
    said += f"less than {one:.2f} is" if one < 1 else "that is"
    return minus(
        f"{said} no evidence (5 %, for the most extreme of {len(pairs)} correlations of ranks drawn at random)."
    )


def completeness(found: pd.Series, gap: float, odds: float) -> str:
    """HTML: what integrated gradients add up to, and what is missing."""
    total = float(found.sum())
    part = f"{100 * abs(gap / total):.2g} %" if total else "–"
    rows = [
        ("log-odds of the answer", f"{odds:+.3g}"),
        ("with every word blanked", f"{odds - total + gap:+.3g}"),
        ("attributions add up to", f"{total:+.3g}"),
        ("completeness gap", f"{abs(gap):.2g}, {part} of that"),
    ]
    head = cards.section("What is shared out", "integrated gradients, log-odds")
    return head + cards.facts([(name, minus(text)) for name, text in rows])
