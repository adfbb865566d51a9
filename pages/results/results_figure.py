"""A paper's figure from our sweeps, and the files that the Results page gives away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from pages.results import commands, results_notes
from pages.shared import checkpoint_html, figures, style
from triattn_core.results import curves, paper_comparison
from triattn_core.results.paper_results import PaperRecord
from triattn_core.results.paper_schema import Figure, Table
from triattn_core.results.run_records import Record
from triattn_core.views.charts import layers


def show_figure(figure: Figure, lines: Sequence[curves.Curve]) -> None:
    """The figure, or the command that makes its records."""
    st.html(
        checkpoint_html.section(
            figure.label, f"ours: {figure.metric_name} on {figure.split}, % against {figure.x_name}"
        )
    )
    if not lines:
        if waits := results_notes.waiting_text(figure.command):
            st.html(f'<p class="t-note">Not measured: no sweep is recorded. {escape(waits)}</p>')
            return
        st.html('<p class="t-note">Not measured: no sweep is recorded. This makes its records:</p>')
        st.code(figure.command, language=None, wrap_lines=True)
        return
    points = pd.DataFrame(curves.export_rows(lines))
    titles = {"x": figure.x_name, "value": figure.metric_name}
    ringed = {line.line.name: line.line.chosen for line in lines}
    colour = style.colour(str((figure.ours | lines[0].line.ours).get("mechanism", "")))
    chart = partial(layers.figure, points, titles, ringed, colour, style.theme())
    sentence = " ".join(filter(None, (layers.describe(points, titles), curves.describe_noise(lines))))
    figures.show(chart, sentence, "figure-chart")
    figures.note(sentence)
    figures.numbers("The points as numbers", points, "points")
    commands.show_curve_commands(lines)
    st.html(f'<p class="t-note">{escape(figure.note)} {escape(curves.describe_training(lines))}</p>')
    if missing := curves.missing_points(figure, lines):
        st.html(f'<p class="t-note">Not run yet: {escape("; ".join(missing))}. This makes their records:</p>')
        st.code(figure.command, language=None, wrap_lines=True)


def export_menu(paper: PaperRecord, table: Table, records: Sequence[Record], points: list[dict]) -> None:
    """The Export button: this table, all of the paper, and the points of the figure."""
    name = paper.paper.name

    def rows(tables: Sequence[Table]) -> list[dict]:
        return [
            row
            for table in tables
            for row in paper_comparison.export_rows(name, table, paper_comparison.fill_table(table, records))
        ]

    with st.popover("Export", width=112, key="export"):
        _save(f"{table.label}, CSV", f"{name} {table.label}", lambda: rows([table]))
        _save("All its tables, CSV", f"{name} tables", lambda: rows(paper.tables))
        _save("Points of the figure, CSV", f"{name} figure", lambda: points, disabled=not points)


def _save(label: str, name: str, rows: Callable[[], list[dict]], disabled: bool = False) -> None:
    """rows: asked for when something is saved."""
    data = lambda: pd.DataFrame(rows()).to_csv(index=False).encode("utf-8-sig")  # noqa: E731
    file = f"{name}.csv".lower().replace(" ", "-")
    st.download_button(label, data, file, "text/csv", on_click="ignore", width="stretch", disabled=disabled)
