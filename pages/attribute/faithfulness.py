"""Faithfulness of attributions: comprehensiveness and sufficiency of one example, and over a file of rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd
import streamlit as st

from pages.attribute import pickers
from pages.shared import checkpoint_html, figures, mining, models, page_setup, row_source, style, url_state
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from triattn_core.checkpoint import metadata
from triattn_core.scenes import attribute
from triattn_core.trace.axes import TAN_MECHANISMS
from triattn_core.views.charts import perturbation
from triattn_core.views.lib.number_format import minus

FEW = (12, 48, 100)  # rows of a file
ENOUGH = 8  # rows without which a bootstrap band is too narrow to believe
HOW = (
    "DeYoung et al. 2020: tokens are deleted, not blanked, in order of their contribution to the answer, summed over "
    "their roles."
)
GREY = f"grey: middle 95 % of {attribute.DRAWS} random rankings"


def show_example_curves(page: PageScene, parts: Iterator[PageScene]) -> PageScene:
    """Draws the curves of the example and the area of each method beside the control's; returns the complete page with
    the chosen method.

    page: with all methods, and the method where one is chosen already; parts: what is to come of it.
    """
    st.html(checkpoint_html.section("Faithfulness", GREY))
    choices, method = page.choices, page.choices.get("method") or pickers.pick_method(page.scene.tokens.methods)
    with report_errors():
        *_, page = (page, *parts)
    page.choices |= {**choices, "method": method}
    tokens = page.scene.tokens
    draw = partial(perturbation.figure, tokens.faithfulness.curves, method=method, theme=style.theme())
    show_both_measures(draw, tokens.describe_faithfulness(method), "faithful")
    rows = tokens.faithfulness.curves.rename(columns={"draw": "random draw"})
    figures.folded("How it is measured", HOW)
    figures.numbers("The curves as numbers", rows, "curves-numbers")
    return page


def show_both_measures(draw: partial, sentence: str, key: str) -> None:
    """A figure of each measure beside the other, and the sentence that is also their text."""
    with st.container(key=f"main-{key}"):
        for measure, column in zip(perturbation.TITLES, st.columns(2, gap="large")):
            with column:
                figures.show(partial(draw, measure=measure), sentence, f"{key}-{measure}")
    figures.note(sentence)


def show_over_rows(question: page_setup.PageQuestion, method: str) -> None:
    """Compares the mechanisms of one similarity over a file of rows, after a click on Run."""
    rivals = similar_checkpoints(question)
    st.html(
        checkpoint_html.section(
            "Over many rows",
            f"{len(rivals)} checkpoint{'s' * (len(rivals) > 1)} of one similarity; 95 % bootstrap bands",
        )
    )
    own = row_source.own_sets(question.task, question.language)
    with st.container(horizontal=True, vertical_alignment="bottom", key="rows-settings"):
        rows_choice = url_state.pick("Rows", [*own, row_source.FILE], "rows", width=170)
        count = url_state.segments("How many", list(FEW), "count")
        methods_choice = url_state.segments("Methods", ["this one", "all"], "which")
        if st.button("Run", key="run", width=84, help="Runs each checkpoint on each row; can be stopped."):
            st.session_state["rows-requested"] = True
    with report_errors():
        source = row_source.load_source(rows_choice, question.task, question.language)
        if source is None or not st.session_state.get("rows-requested"):
            methods_text = method if methods_choice == "this one" else "all methods"
            message = f"Not run yet: {methods_text}, {count} rows, {', '.join(entry.name for entry in rivals)}."
            st.html(f'<p class="t-note">{message}</p>')
            return
        names = [method] if methods_choice == "this one" else []
        table = mining.analyse_rows(("faithful", *names), rivals, source, _rows(names), count)
    if table is not None:
        _show_gains(table, rivals)


def similar_checkpoints(question: page_setup.PageQuestion) -> list:
    """The checkpoints with the question's similarity and data, one per mechanism, its own included."""
    by_mechanism = {}
    for entry in [question.entry, *models.entries(question.task, TAN_MECHANISMS)]:
        is_comparable = all(
            property_of(entry) == property_of(question.entry)
            for property_of in (
                metadata.language,
                metadata.dataset_name,
                metadata.is_living,
                lambda c: metadata.model_setting(c, "similarity"),
            )
        )
        if is_comparable:
            by_mechanism.setdefault(metadata.model_setting(entry, "mechanism"), entry)
    return [by_mechanism[name] for name in TAN_MECHANISMS if name in by_mechanism]


def _rows(names: list[str]):
    def parts(bundles, rows):
        from triattn_core.analysis.attribution import faithfulness

        return faithfulness.measure_rows(bundles, rows, methods=names)

    return parts


def _show_gains(table: pd.DataFrame, rivals: list) -> None:
    from triattn_core.analysis.attribution.faithfulness import summarize

    gains = summarize(table)
    mechanisms = {entry.name: metadata.model_setting(entry, "mechanism") for entry in rivals}
    draw = partial(perturbation.mean_gains, gains, mechanisms=mechanisms, theme=style.theme())
    show_both_measures(draw, describe_gains(gains), "faithful-over")
    figures.numbers("Means and bands as numbers", gains, "over-numbers")
    data = table.to_csv(index=False).encode("utf-8-sig")
    st.download_button("All rows, CSV", data, "faithful.csv", "text/csv", on_click="ignore")


def describe_gains(gains: pd.DataFrame) -> str:
    """A sentence: for each checkpoint the methods whose gain over the control has a band that excludes zero."""
    rows, parts = int(gains["rows"].max()), []
    if rows < ENOUGH:
        return f"{rows} row{'s' * (rows != 1)}: too few to tell any method from random; {ENOUGH} at least."
    for name, group in gains[gains["method"] != perturbation.RANDOM].groupby("checkpoint", sort=False):
        good = (group["measure"] == "comprehensiveness") & (group["gain_low"] > 0)
        good |= (group["measure"] == "sufficiency") & (group["gain_high"] < 0)
        significant = group[good]
        gains_text = ", ".join(f"{row.method} ({row.measure} {row.gain:+.3f})" for row in significant.itertuples())
        parts.append(f"{name}: {gains_text or 'none'}")
    num_bands = int((gains["method"] != perturbation.RANDOM).sum())
    sentence = f"Better than random over {rows} rows, by the mean difference (for sufficiency, lower is better): "
    sentence += f"{'; '.join(parts)}."
    return minus(f"{sentence} Of {num_bands} bands of 95 %, {0.025 * num_bands:g} would say so by chance on average.")
