"""Attributions of a long text as HTML: what each method finds strongest, and one method in the whole text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

import pandas as pd

from pages.attribute import attribution_table
from pages.shared import checkpoint_html
from triattn_core.analysis.catalogue import JOINT_METHODS, METHODS
from triattn_core.views.charts.attribution import percent, plays, scale_of, words

LONG = 50  # tokens of the context from which on the text stands once, not under each method
OPEN = 12  # lines of the context that all stand open; of more, those without a strong word are folded
STRONG = 0.25  # of the strongest share in the context: what a line needs to stand open
FEW = 3  # words that stand beside each method
CSS = """
.t-top {display: grid; grid-template-columns: 170px repeat(3, minmax(0, 1fr)); gap: 3px 12px; font-size: 13.5px;
  align-items: baseline; margin-bottom: 4px}
.t-top > * {display: flex; gap: 5px; align-items: baseline; min-width: 0; white-space: nowrap}
.t-top .on {font-weight: 600} .t-top .t-muted {flex: none; font-size: 12px; font-variant-numeric: tabular-nums}
.t-top span span:first-child {padding: 1px 3px; overflow: hidden; text-overflow: ellipsis}
.t-top .neg, .t-whole .neg {border-bottom: 2px dotted currentColor}
.t-whole {display: grid; grid-template-columns: 86px minmax(0, 1fr) 58px; gap: 3px 10px; font-size: 14px;
  align-items: baseline}
.t-whole > .t-muted, .t-whole details .t-muted {font-size: 12px}
.t-whole > .r {text-align: right; font-size: 12px; font-variant-numeric: tabular-nums}
.t-whole .strip {line-height: 1.62} .t-whole .strip span {padding: 1px 2px; white-space: pre-wrap}
.t-whole details, .t-whole > .all {grid-column: 1 / -1} .t-whole > .all {border-top: 1px solid var(--t-hairline)}
.t-whole summary {cursor: pointer; font-size: 12px; color: var(--t-muted)}
@media (max-width: 900px) {.t-top {grid-template-columns: 138px repeat(3, minmax(0, 1fr)); gap: 3px 8px}}
"""


def needs_long_layout(table: pd.DataFrame) -> bool:
    """Whether the context is too long to stand under each method.  table: of `Attributed`."""
    return int(table.loc[(table["role"] == "context") & (table["special"] == 0), "tokens"].sum()) >= LONG


def heading() -> str:
    """HTML: what stands above the methods."""
    return checkpoint_html.section("Which tokens", "the whole text under one method, the strongest of all")


def marks(
    table: pd.DataFrame,
    shares: pd.DataFrame,
    names: Mapping[str, str],
    steps: int,
    theme: str,
    method: str,
    missing: str = attribution_table.PENDING,
    methods: Sequence[str] = tuple(METHODS),
) -> str:
    """HTML: the strongest words of each method, and below them the whole text under `method`.

    The other parameters are those of `attribution_table.marks`.  All shares use one scale.
    """
    scale, real = scale_of(table, shares), table["special"] == 0
    table, shares = table.assign(word=words(table))[real], shares[real]
    tops = "".join(
        _top(table, shares[name], names, scale, theme, name == method) if name in shares else _missing(name, missing)
        for name in methods
    )
    lines = _whole(table, shares[method], names, scale, theme)
    head = f'<style>{CSS}</style><div class="t-top" role="group">{tops}</div>'
    method_text = JOINT_METHODS[method].how.format(steps=steps)
    head += checkpoint_html.section(f"The whole text by {method}", f"{method_text}; line totals on the right")
    return f'{head}<div class="t-whole" role="group">{lines}</div>{attribution_table.legend(scale, theme)}'


def _top(table: pd.DataFrame, shares: pd.Series, names: Mapping[str, str], scale, theme: str, on: bool) -> str:
    """The name of a method and its strongest words, each with its share and its role."""
    heading = f"<span{' class=on' * on}>{escape(shares.name)}</span>"
    first = shares.abs().sort_values(ascending=False, kind="stable").dropna().index[:FEW]
    for row, name in zip(first, table.loc[first, "word"]):
        tooltip = f"{percent(shares[row])} {escape(plays(table.loc[row, 'role'], names))}"
        word = attribution_table.word(name, name, shares[row], scale, theme)
        heading += f'<span title="{escape(name)}: {tooltip}">{word}<span class="t-muted">{tooltip}</span></span>'
    return heading + "<span></span>" * (FEW - len(first))


def _missing(method: str, missing: str) -> str:
    """The name of a method that is still being computed, or was cancelled."""
    return f"<span>{escape(method)}</span>{attribution_table.status(missing)}" + "<span></span>" * (FEW - 1)


def _whole(table: pd.DataFrame, shares: pd.Series, names: Mapping[str, str], scale, theme: str) -> str:
    """HTML: a line for query and key, and one for each turn or sentence of the context, with the sum of its shares."""
    html = ""
    for role in ("query", "key"):
        in_role = table["role"] == role
        html += _line(names[role], table[in_role], shares[in_role], scale, theme)
    context_rows = table[table["role"] == "context"]
    html += '<span class="t-muted all">context</span>'
    if shares[context_rows.index].isna().all():
        return html + '<span></span><span class="t-muted">not read by attention</span><span></span>'
    lines = [
        (str(name), tokens, shares[tokens.index])
        for name, tokens in context_rows.groupby(_runs(context_rows["segment"]), sort=False)
    ]
    limit = STRONG * float(shares[context_rows.index].abs().max()) if len(lines) > OPEN else -1.0
    for strong, group in groupby(lines, key=lambda line: float(line[2].abs().max()) >= limit):
        group = list(group)
        lines_html = "".join(
            _line(tokens["segment"].iloc[0] or "context", tokens, line_shares, scale, theme)
            for _, tokens, line_shares in group
        )
        html += lines_html if strong else _folded(group, lines_html)
    return html


def _runs(segment: pd.Series) -> pd.Series:
    """A number for each stretch of cells of one segment."""
    return (segment != segment.shift()).cumsum()


def _folded(lines: list, lines_html: str) -> str:
    """HTML: lines without a strong word, collapsed to the sum of their shares."""
    first, last = lines[0][1]["segment"].iloc[0], lines[-1][1]["segment"].iloc[0]
    total = percent(sum(float(line_shares.sum()) for _, _, line_shares in lines))
    name = escape(first if len(lines) == 1 else f"{first} to {last}")
    inner = f'<div class="t-whole">{lines_html}</div>'
    return f"<details><summary>{name}: no strong word, {total} together</summary>{inner}</details>"


def _line(name: str, table: pd.DataFrame, shares: pd.Series, scale, theme: str) -> str:
    text = attribution_table.strip(table, shares, scale, theme)
    total = percent(float(shares.sum()))
    return f'<span class="t-muted">{escape(name)}</span><div class="strip">{text}</div><span class="r">{total}</span>'
