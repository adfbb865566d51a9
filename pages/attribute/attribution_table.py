"""Attributions beside the text as HTML: a row a method, all on one scale; and how far the methods agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import repeat
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html
from triattn_core.analysis.catalogue import JOINT_METHODS, METHODS
from triattn_core.views.charts.attribution import LESS, fill_of, percent, plays, scale_of, words
from triattn_core.views.lib.palette import DIVERGING, SignedScale, ink_on, ramp

if TYPE_CHECKING:
    import numpy as np

PENDING, CANCELLED = "being computed", "cancelled"  # what stands in the place of a method
CSS = """
.t-marks {display: grid; grid-template-columns: 128px minmax(0, 1fr) 92px; gap: 9px 10px; font-size: 13.5px}
.t-marks > .t-muted, .t-marks .as {font-size: 12px; color: var(--t-muted)}
.t-marks .name b {font-weight: 600} .t-marks .name .t-muted {display: block; font-size: 12px; line-height: 1.3}
.t-marks .texts {display: grid; grid-template-columns: 46px minmax(0, 1fr); gap: 3px 6px; align-items: baseline;
  max-height: 148px; overflow-y: auto}
.t-marks .strip {line-height: 1.62} .t-marks .strip i {display: inline-block; width: 8px}
.t-marks .strip span {padding: 1px 2px; white-space: pre-wrap; box-decoration-break: clone}
.t-marks .wait .strip {color: var(--t-muted)}
.t-marks .strip .neg {border-bottom: 2px dotted currentColor}
.t-marks .most {text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: anywhere}
.t-marks .most b {font-weight: 600}
@media (max-width: 900px) {
  .t-marks {grid-template-columns: 112px minmax(0, 1fr) 96px}
  .st-key-below-marks {min-height: 146px}  /* its notes push what stands below no further */
}
"""
RAMP = """
.t-ramp {display: flex; align-items: center; gap: 10px; flex-wrap: wrap; font-size: 12px; color: var(--t-muted);
  margin: 10px 0 2px}
.t-ramp i {display: inline-block; width: 210px; height: 11px}
"""


@st.cache_data(max_entries=32, show_spinner=False)
def marks(
    table: pd.DataFrame,
    shares: pd.DataFrame,
    names: Mapping[str, str],
    steps: int,
    theme: str,
    missing: str = PENDING,
    methods: Sequence[str] = tuple(METHODS),
) -> str:
    """HTML: each method's share of every token in the text; the plain text where it is still being computed.

    table: of `Attributions`; shares: its `shares()`.  names: labels of query and key.  missing: PENDING
    or CANCELLED.  methods: all that are computed.
    """
    real, scale, rows = table["special"] == 0, scale_of(table, shares), ""
    table = table.assign(word=words(table))[real]
    for method in methods:
        about = JOINT_METHODS[method]
        method_shares = shares.loc[real, method] if method in shares else None
        rows += (
            f'<div class="name"><b>{escape(method)}</b><span class="t-muted">'
            f"{escape(about.how.format(steps=steps))}</span></div>"
            f'<div class="texts{" wait" * (method_shares is None)}">'
            f"{_texts(table, method_shares, names, scale, theme)}</div>"
            '<div class="most">'
            f"{status(missing) if method_shares is None else _most(table, method_shares, names)}</div>"
        )
    head = checkpoint_html.section("Which tokens", "strongest, share of the method's total")
    return f'<style>{CSS}</style>{head}<div class="t-marks" role="group">{rows}</div>{legend(scale, theme)}'


def status(missing: str) -> str:
    """HTML: what is said in the place of a method: PENDING or CANCELLED."""
    return f'<span class="t-muted">{missing}</span>'


def legend(scale: SignedScale, theme: str) -> str:
    """HTML: the colours and what they stand for."""
    colours = [f"rgb({r},{g},{b})" for r, g, b in ramp(DIVERGING[theme], 9)]
    return (
        f'<style>{RAMP}</style><div class="t-ramp"><span>against the answer, dotted, −{100 * scale.limit:.3g} %</span>'
        f'<i style="background:linear-gradient(90deg,{",".join(colours)})"></i>'
        f"<span>+{100 * scale.limit:.3g} % for it</span>"
        "<span>share of the method's total, square-root scale</span></div>"
    )


def _texts(
    table: pd.DataFrame, shares: pd.Series | None, names: Mapping[str, str], scale: SignedScale, theme: str
) -> str:
    """HTML: one strip of tokens for the query, the key and the context."""
    present = set(table["role"])
    lines = [(names.get(role, role), role) for role in ("query", "key", "context") if role in present]
    html = ""
    for name, role in lines:
        in_role = table["role"] == role
        role_shares = None if shares is None else shares[in_role]
        strip_html = (
            strip(table[in_role], role_shares, scale, theme)
            if role_shares is None or role_shares.notna().any()
            else ('<span class="t-muted">not read by attention</span>')
        )
        html += f'<span class="as">{escape(name)}</span><div class="strip">{strip_html}</div>'
    return html


def strip(table: pd.DataFrame, shares: pd.Series | None, scale: SignedScale, theme: str) -> str:
    """HTML: the tokens one after another, each on the colour of its share, plain where there is none yet; a gap where
    another segment begins.

    `table` has the column `word`, see `views.charts.attribution.words`.
    """
    parts, before, tokens = [], "", table["token"].astype(str)
    values = repeat(None) if shares is None else shares.fillna(0.0)
    for row, token, name, segment, share in zip(table.index, tokens, table["word"], table["segment"], values):
        if before and segment != before:
            parts.append("<i></i>")
        before = segment
        token_html = f"<span>{escape(token)}</span>"
        parts.append(token_html if share is None else word(token, name, share, scale, theme, row))
    return " ".join(parts) if any(map(str.isascii, tokens)) else "".join(parts)


def word(token: str, name: str, share: float, scale: SignedScale, theme: str, row: int | None = None) -> str:
    """HTML: a token on the colour of its share, dotted where it speaks against the answer.  name: what tells it from
    its like, on hover; row: of the token, by which `chosen_token` frames it."""
    fill = fill_of(share, scale, theme)
    css = f"background:#{bytes(fill.tolist()).hex()};color:{ink(fill)}"
    kinds = ["neg"] * bool(share < LESS) + ([] if row is None else [f"token-{row}"])
    css = f'class="{" ".join(kinds)}" style="{css}"'
    return f'<span {css} title="{escape(name)}: {percent(share)}">{escape(token)}</span>'


def ink(fill: np.ndarray) -> str:
    """Black or white: what can be read on a colour."""
    return ink_on(fill)


def _most(table: pd.DataFrame, shares: pd.Series, names: Mapping[str, str]) -> str:
    if not shares.abs().sum():
        return "nothing"
    strongest = shares.abs().idxmax()
    row = table.loc[strongest]
    role = f"as {escape(plays(row['role'], names))}" if table["role"].nunique() > 1 else ""
    share = percent(shares[strongest]).replace(" ", "&nbsp;")
    return f'<b>{escape(row["word"])}</b> {share}<br><span class="t-muted">{role}</span>'
