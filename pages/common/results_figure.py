"""A paper's figure from our sweeps, and the files that the Results page gives away."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
import streamlit as st

from pages.common import cards, figures, results_about, style
from triattn_core.results import beside, curves
from triattn_core.results.ours import Record
from triattn_core.results.published import Figure, Shelved, Table
from triattn_core.views import layers


def drawn(figure: Figure, lines: Sequence[curves.Curve]) -> None:
    """The figure, or the command that makes its records."""
    st.html(cards.section(figure.label, f"ours: {figure.metric_name} on {figure.split}, % against {figure.x_name}"))
    if not lines:
        if waits := results_about.waits(figure.command):
            st.html(f'<p class="t-note">Not measured: no sweep is recorded. {escape(waits)}</p>')
            return
        st.html('<p class="t-note">Not measured: no sweep is recorded. This makes its records:</p>')
        st.code(figure.command, language=None, wrap_lines=True)
        return
    points = pd.DataFrame(curves.rows(lines))
    titles = {"x": figure.x_name, "value": figure.metric_name}
    ringed = {one.line.name: one.line.chosen for one in lines}
    colour = style.colour(str((figure.ours | lines[0].line.ours).get("mechanism", "")))
    chart = layers.figure(points, titles, ringed, colour, "dark" if style.dark() else "light")
    said = layers.said(points, titles)
    figures.drawn(chart, said, "figure-chart")
    figures.note(said)
    figures.numbers("The points as numbers", points, "points")
    st.html(f'<p class="t-note">{escape(figure.note)} {escape(curves.told(lines))}</p>')


def saved(paper: Shelved, table: Table, found: Sequence[Record], points: list[dict]) -> None:
    """The Export button: this table, all of the paper, and the points of the figure."""
    name = paper.paper.name

    def rows(tables: Sequence[Table]) -> list[dict]:
        return [row for one in tables for row in beside.rows(name, one, beside.filled(one, found))]

    with st.popover("Export", width=112, key="export"):
        _save(f"{table.label}, CSV", f"{name} {table.label}", rows([table]))
        _save("All its tables, CSV", f"{name} tables", rows(paper.tables))
        _save("Points of the figure, CSV", f"{name} figure", points)


def _save(label: str, name: str, rows: list[dict]) -> None:
    data = pd.DataFrame(rows).to_csv(index=False).encode("utf-8-sig")
    file = f"{name}.csv".lower().replace(" ", "-")
    st.download_button(label, data, file, "text/csv", on_click="ignore", width="stretch", disabled=not rows)
