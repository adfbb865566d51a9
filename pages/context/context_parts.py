"""Does context matter: the parts of one head as numbers, and a file of rows."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from pages.shared import checkpoint_html, figures, mining, page_setup, row_source, style, url_state
from pages.shared.errors import report_errors
from triattn_core.views.charts import anova, anova_text
from triattn_core.views.charts.anova_text import percent

CSS = """
.t-parts {display: grid; grid-template-columns: repeat(3, 1fr); gap: 0 26px; font-size: 13.5px; margin-top: 4px}
.t-parts div {display: grid; grid-template-columns: 1fr auto; gap: 2px 10px; align-content: start;
  font-variant-numeric: tabular-nums} .t-parts span i {display: inline-block; width: 11px; height: 11px;
  margin-right: 8px; border: 1px solid var(--t-hairline)}
.t-parts b {grid-column: 1 / -1; border-top: 2px solid var(--t-bar); margin-top: 4px; padding-top: 3px;
  font-weight: 400; color: var(--t-muted)} .t-parts .strong b {border-color: var(--t-accent); font-weight: 600;
  color: var(--t-text)}
"""
GROUPS = (
    ("without context", "among_keys", ("key", "query_key"), ""),
    ("context redirects", "redirected", ("key_context", "three_way"), "strong"),
    ("context main effect and query × context", "context_only", ("context", "query_context"), ""),
)


def legend(row: pd.Series, theme: str) -> str:
    """HTML: the parts of one head by what they do."""
    fill = anova.colours(theme)
    totals = {name: row[name] for name in ("among_keys", "redirected")}
    totals["context_only"] = row["context"] + row["query_context"]
    html = ""
    for title, total, names, mark in GROUPS:
        lines = "".join(
            f'<span><i style="background:{fill[name]}"></i>{anova.PARTS[name]}</span><span>{percent(row[name])}</span>'
            for name in names
        )
        html += f'<div class="{mark}">{lines}<b>{title} {percent(totals[total])}</b></div>'
    return f'<style>{CSS}</style><div class="t-parts">{html}</div>'


def show_over_rows(question: page_setup.PageQuestion, example_shares: pd.DataFrame) -> None:
    """Shows the same shares over a file of rows: the project's own, after a click, or an uploaded one."""
    st.html(checkpoint_html.section("Over many rows", "bar: quartiles, thin line: 5 to 95 %, diamond: this example"))
    own = row_source.own_sets(question.task, question.language)
    with st.container(horizontal=True, vertical_alignment="bottom", key="rows-settings"):
        rows_choice = url_state.pick("Rows", [*own, row_source.FILE], "rows", width=170)
        count = url_state.segments("How many", [12, 48, 200], "count")
    with report_errors():
        source = row_source.load_source(rows_choice, question.task, question.language)
        wait = rows_choice in own
        analysed = mining.analyse_rows(("context",), [question.entry], source, _rows, count, wait) if source else None
    if analysed is None:
        return
    sentence = anova_text.describe_rows(analysed)
    chart = partial(anova.spread_chart, analysed, example_shares, style.theme())
    figures.show(chart, sentence, "context-over")
    figures.note(sentence)
    figures.numbers("Quantiles as numbers", anova.quantiles(analysed), "over-numbers")
    data = analysed.to_csv(index=False).encode("utf-8-sig")
    st.download_button("All rows, CSV", data, "context.csv", "text/csv", on_click="ignore")


def _rows(bundles, rows):
    from triattn_core.analysis.maps import context_shares

    return context_shares.measure_rows(bundles[0], rows)
