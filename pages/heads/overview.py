"""All heads at once: their measures as a table that sorts, and which of them look alike."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.heads.atlas_rows import Rows
from pages.heads.pickers import HEAD, Atlas
from pages.shared import checkpoint_html, figures, style, url_state
from triattn_core.views import head_grid
from triattn_core.views.charts import head_atlas as view

if TYPE_CHECKING:
    import pandas as pd

THREE_WAY = ("three-way share", "The share of the relevance that only query, key and context together explain.")
MEASURES = {**head_grid.MEASURE_NAMES, "three_way": THREE_WAY}
SHORT = {"query_information": "query (bits)", "context_information": "context (bits)", "three_way": "three-way"}
MOST, HEIGHT = 16, 530  # rows of the table on the screen, and its pixels where it has more


def show_table(rows: Rows, atlas: Atlas, lost: pd.DataFrame | None) -> None:
    """A row a head; a click chooses it, a click on a heading sorts.  lost: of `head_ablation.summarize`."""
    count = atlas.table["row"].nunique()
    st.html(checkpoint_html.section("Heads", f"means over {count:,} rows of {rows.source.name}"))
    table, config = _columns(atlas, lost)

    def take() -> None:
        selected = url_state.selected_row("heads-table")
        if selected is not None:
            st.session_state[HEAD] = atlas.names[selected]

    url_state.mark("heads-table", atlas.head_index)
    sentence = describe(atlas)
    st.dataframe(
        table,
        key="heads-table",
        hide_index=True,
        height="content" if len(table) <= MOST else HEIGHT,
        on_select=take,
        selection_mode=["single-row", "single-cell"],
        column_config=config,
        alt=sentence,
    )
    figures.note(sentence)
    data = atlas.table.drop(
        columns=[name for name in atlas.table if atlas.table[name].dtype == object and name not in ("site", "id")]
    )
    data = data.assign(**{name: data[name] + 1 for name in ("layer", "head") if name in data})  # from 1, as shown
    st.download_button(
        "All rows, CSV",
        lambda: data.to_csv(index=False).encode("utf-8-sig"),
        "heads.csv",
        "text/csv",
        on_click="ignore",
    )


def measures_of(atlas: Atlas) -> list[str]:
    """The measures that have a meaning for these heads."""
    return [name for name in MEASURES if name in atlas.means and atlas.means[name].notna().any()]


def describe(atlas: Atlas) -> str:
    """A sentence: which head has most of what."""
    parts = []
    for name in [
        measure
        for measure in ("query_information", "context_information", "three_way")
        if measure in measures_of(atlas)
    ]:
        strongest = int(atlas.means[name].fillna(-1.0).argmax())
        title, value = MEASURES[name][0].removesuffix(" (bits)"), atlas.means[name].iloc[strongest]
        amount = f"{100 * value:.1f} %" if name == "three_way" else f"{value:.3g} bits"
        parts.append(f"{title} {atlas.names[strongest]}, {amount}")
    return f"{len(atlas.names)} head{'s' * (len(atlas.names) > 1)}; most {'; '.join(parts)}."


def _columns(atlas: Atlas, lost: pd.DataFrame | None) -> tuple[pd.DataFrame, dict]:
    config, rows = {}, atlas.means[["site", "head"]].assign(name=atlas.names)
    for name in measures_of(atlas):
        title, help_text = MEASURES[name]
        share = name in ("three_way", "sink", "special")
        help_text = f"{title[0].upper()}{title[1:]}. {help_text}" if name in SHORT else help_text
        config[name] = st.column_config.NumberColumn(
            SHORT.get(name, title), help=help_text, format="%.1f %%" if share else "%.3f"
        )
        rows[name] = atlas.means[name].to_numpy() * (100 if share else 1)
    near = [atlas.alike.nearest(i, 1) for i in range(len(atlas.names))]
    rows["nearest"] = [atlas.names[indices[0]] if indices else "" for indices in near]
    if lost is not None:
        lost = lost.assign(change=-lost["change"])
        rows = rows.merge(lost[["site", "head", "points", "change"]], on=["site", "head"], how="left")
        help_ = "Accuracy with the head less accuracy without it, in points."
        config["points"] = st.column_config.NumberColumn("points lost", help=help_, format="%+.2f")
        help_ = "The mean log-odds of the label or answer with the head minus without it."
        config["change"] = st.column_config.NumberColumn("log-odds lost", help=help_, format="%+.3f")
    config["name"] = st.column_config.TextColumn("head")
    config["nearest"] = st.column_config.TextColumn("nearest", help="The head with the most similar maps.")
    first = [name for name in ("name", "points", "change") if name in rows]
    return rows[[*first, *rows.columns.drop(["site", "head", *first])]], config


def show_likeness(atlas: Atlas) -> None:
    """The heads as a map of distances; a click on a row chooses its head."""
    st.html(checkpoint_html.section("Heads that look alike", "distance 0: the same maps, row after row"))

    def take() -> None:
        if selected := st.session_state["alike"].selection.get("head"):
            st.session_state[HEAD] = atlas.names[int(selected[0]["head"])]

    sentence = view.describe_likeness(atlas.alike.distances, atlas.names)
    alike, theme = atlas.alike, style.theme()
    chart = partial(view.likeness, alike.distances, alike.order, atlas.names, atlas.head_index, theme)
    figures.show(chart, sentence, "alike", on_select=take, selection_mode="head", width="content")
    figures.note(sentence)
