"""The few classes of the pages about cases, besides those of all pages."""

from __future__ import annotations

import streamlit as st

CSS = """
.t-case {display: grid; grid-template-columns: 34px 1fr; margin: 2px 0; font-size: 15px; line-height: 1.5}
.t-case > :first-child {font-size: 12px; padding-top: 3px}
.t-case > :last-child {overflow-wrap: anywhere; white-space: pre-wrap}
.t-case.t-small {font-size: 14px} .t-case.t-wide {grid-template-columns: 66px 1fr}
.t-predictions td {font-size: 13px} .t-predictions td:first-child {white-space: nowrap}
.t-predictions tr:first-child td {border-top: 0}
.t-interval {position: relative; display: inline-block; width: clamp(60px, 14vw, 240px); height: 10px;
  margin-right: 16px}
.t-interval i {position: absolute; top: 4px; height: 2px}
.t-interval b {position: absolute; top: 1px; width: 8px; height: 8px; margin-left: -4px; border-radius: 50%}
.st-key-stopped p, .st-key-under-way p {margin: 0; font-size: 13px}
[data-testid="stFileUploaderDropzone"] {min-height: 0; padding: 6px 10px; max-width: 640px}
.st-key-filters [data-testid="stTextInputRootElement"] {height: 32px}
.st-key-filters [data-testid="stTextInputRootElement"] input {font-size: 13px}
.st-key-open {gap: 18px}
"""

BOX = 44  # pixels of the boxes that open a row, and the frame


def inject_style() -> None:
    """Puts them on the page."""
    st.html(f"<style>{CSS}</style>")


def scroll_hint(wide: int) -> str:
    """HTML: that the list of cases scrolls sideways, in windows where its columns, `wide` pixels together, do not all
    fit: it has the whole width up to 900 pixels, and above that 0.7 of it, beside the details."""
    stacked, beside = min(900, wide + BOX + 56), round((wide + BOX) / 0.7 + 56)
    return (
        f"<style>.t-sideways {{display: none}} @media (max-width: {stacked}px), (min-width: 901px) and "
        f"(max-width: {beside}px) {{.t-sideways {{display: inline}}}}</style>"
        '<span class="t-sideways">; the table scrolls sideways to further columns</span>'
    )
