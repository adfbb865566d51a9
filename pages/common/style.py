"""The little CSS there is: one height for all widgets, less padding, and the few classes that pages write themselves."""

from __future__ import annotations

from html import escape

import streamlit as st

from triattn_core.views.palette import THEMES

CSS = """
[data-testid="stMainBlockContainer"] {padding: 3.1rem 1.75rem 2rem; max-width: 1600px}
[data-testid="stVerticalBlock"] {gap: .5rem}
[data-testid="stHorizontalBlock"], [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {gap: .9rem}
[data-testid="stWidgetLabel"] p {font-size: 13px}
[data-testid="stTextInputRootElement"] {height: 36px}
[data-testid="stTextInputRootElement"] input {font-size: 16px; padding: .3rem .7rem}
[data-testid="stSelectbox"] [data-baseweb="select"] > div, [data-testid="stSelectbox"] > div > div > div,
[data-testid="stButtonGroup"] button, .stButton button, .stDownloadButton button, [data-testid="stPopoverButton"],
[data-testid="stMenuButton"] button {min-height: 32px; height: 32px; font-size: 14px; font-weight: 400}
[data-testid="stAlertContainer"] {padding: .5rem .8rem; min-height: 0}
.t-head {display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 18px; margin: 0}
.t-head h1 {font-size: 21px; font-weight: 650; letter-spacing: 0; padding: 0; margin: 0; line-height: 1.3}
.t-head p, .t-muted {color: var(--t-muted)}
.t-head p {margin: 0; font-size: 14px}
.t-num {font-variant-numeric: tabular-nums}
.t-query {color: var(--t-query)} .t-key {color: var(--t-key)} .t-context {color: var(--t-context)}
.t-says {display: flex; flex-wrap: wrap; align-items: center; gap: 2px 14px; line-height: 1.5}
.t-says .t-muted {font-size: 14px}
.t-bar {display: inline-block; width: 170px; height: 8px; background: var(--t-hairline)}
.t-bar i {display: block; height: 100%}
.t-note {color: var(--t-muted); font-size: 13px; margin: 2px 0 0}
.t-swatch {display: inline-block; width: 9px; height: 9px; margin-right: 6px}
.t-table {border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums}
.t-table th {font-weight: 400; font-size: 13px; color: var(--t-muted); text-align: left; padding: 4px 12px 4px 0}
.t-table td {border-top: 1px solid var(--t-hairline); padding: 3px 12px 3px 0}
.t-table .r {text-align: right} .t-table tr > *:last-child {padding-right: 0}
.t-rule {border: 0; border-top: 1px solid var(--t-hairline); margin: 6px 0}
.t-scroll {overflow-x: auto}
"""


def dark() -> bool:
    """Whether this browser shows the dark theme."""
    return st.context.theme.get("type") == "dark"


def colours() -> dict[str, str]:
    """The palette's colours by name (`text`, `muted`, `query`, `bi`, …) in the theme this browser shows."""
    return THEMES["dark" if dark() else "light"]


def heading(title: str, sentence: str) -> None:
    """Top of every page: the style sheet, the title, and one sentence (HTML of our own) that says how to read it."""
    variables = "".join(f"--t-{name.replace('_', '-')}:{value};" for name, value in colours().items())
    st.html(f"<style>:root{{{variables}}}{CSS}</style>")
    st.html(f'<div class="t-head"><h1>{escape(title)}</h1><p>{sentence}</p></div>')


def swatch(mechanism: str) -> str:
    """HTML: the colour of a mechanism as a small square; the name must stand beside it."""
    return f'<span class="t-swatch" style="background:{colours().get(mechanism, colours()["bar"])}"></span>'


def bar(share: float, colour: str) -> str:
    """HTML: a bar filled from 0 to 1."""
    return f'<span class="t-bar"><i style="width:{100 * min(max(share, 0), 1):.1f}%;background:{colour}"></i></span>'
