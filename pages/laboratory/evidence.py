"""Beyond one row: accuracy and weight on the truth over held-out rows, and how a map came about in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd
import streamlit as st

from pages.laboratory import model_maps
from pages.shared import checkpoint_html, figures, style
from triattn_core.analysis.film import Film, load_film
from triattn_core.checkpoint.registry import Card
from triattn_core.results import laboratory
from triattn_core.results.run_records import Record
from triattn_core.tasks.laboratory import LaboratoryTask
from triattn_core.views.charts import truth_quadrants, truth_scores, truth_sizes


def scores(
    cards: Sequence[Card], task: LaboratoryTask, records: Sequence[Record], references: Mapping[str, Mapping]
) -> None:
    """Every trained model of the task over the rows of the test seed, a dot a seed.

    references: measures of what was not trained, by name.
    """
    measured = [(card, list(laboratory.seed_tests(card, records).values())) for card in cards]
    tests = {model_maps.label(card): (model_maps.colour(card), seeds) for card, seeds in measured if seeds}
    if not tests:
        return
    references = {name: ("muted", [measures]) for name, measures in references.items()}
    rows, theme = truth_scores.table(tests | references), "dark" if style.dark() else "light"
    count = max(test["n"] for _, seeds in tests.values() for test in seeds)
    st.html(checkpoint_html.section("Over held-out rows", f"{count:,} generated rows, every seed a dot"))
    said, measures = truth_scores.describe(rows), truth_quadrants.table(tests | references)
    with st.container(horizontal=True, gap="large", key="scores"):
        for measure in truth_scores.PANELS:
            drawn = truth_scores.figure(rows, measure, style.colours(), theme)
            figures.drawn(drawn, said, f"scores-{measure}", width="content")
        shortcuts = truth_quadrants.describe(measures)
        figures.drawn(truth_quadrants.figure(measures, theme), shortcuts, "scores-quadrants", width="content")
    figures.note(
        f"{said} {_seeds([len(seeds) for _, seeds in tests.values()])} Weights of two-way models have no cell for a "
        "pair: they are measured against the keys and context tokens of the true pair, and do not compare with those "
        f"of Tri-Attention. Right without looking is a shortcut, or luck. {task.CHANCE}"
    )
    with st.container(key="main-measures"):
        _measures(truth_quadrants.means(measures))
    figures.numbers("All seeds as numbers", measures, "numbers")


def _measures(rows: pd.DataFrame) -> None:
    """The measures against the truth, means over seeds."""
    names = ["model", *truth_quadrants.MEASURES.values()]
    formats = {name: st.column_config.NumberColumn(format="%.1f") for name in names[1:]}
    st.dataframe(rows[names], hide_index=True, width="content", height="content", column_config=formats,
                 alt="Measures against the truth, means over seeds")  # fmt: skip


def _seeds(counts: Sequence[int]) -> str:
    """How many seeds each model was trained with."""
    if min(counts) < max(counts):
        return f"{min(counts)} to {max(counts)} seeds a model."
    return f"{max(counts)} seeds a model." if max(counts) > 1 else "One seed a model: its spread was not measured."


def sizes(cards: Sequence[Card], task: LaboratoryTask, records: Sequence[Record]) -> None:
    """The models that were trained at several sizes of the task, where there are such."""
    named = {model_maps.label(card): (model_maps.colour(card), card) for card in cards}
    rows = laboratory.size_rows(named, task.size, records)
    if rows.empty:
        return
    x_name, theme = task.SIZE, "dark" if style.dark() else "light"
    st.html(checkpoint_html.section("Against size", f"the same training at other numbers of {x_name}"))
    said = truth_sizes.describe(rows, x_name)
    with st.container(horizontal=True, gap="large", key="sizes"):
        for measure in truth_scores.PANELS:
            drawn = truth_sizes.figure(rows, measure, x_name, style.colours(), theme)
            figures.drawn(drawn, said, f"sizes-{measure}", width="content")
    figures.note(said)
    figures.numbers("All sizes as numbers", rows, "size-numbers")


@st.fragment
def replay(cards: Sequence[Card], task: LaboratoryTask) -> None:
    """The maps of the chosen models at steps of their training, on rows they were not trained on."""
    films = [(card, film) for card in cards if (film := load_film(card.path))]
    if not films:
        return
    first = films[0][1]
    st.html(checkpoint_html.section("Training replayed", "drag to a step: the maps find the truth, or do not"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large", key="film"):
        look = {"default": _telling_row(films), "required": True, "format_func": lambda i: f"{i + 1}"}
        at = st.segmented_control("Row", range(len(first.rows)), key=f"{task.NAME}-film-row", **look)
        step = st.select_slider("Step", first.steps, value=first.steps[-1], key=f"{task.NAME}-film-step", width=520)
    example = first.rows[at]
    st.html(f'<p class="t-note">{escape(task.say(example))}</p>')
    with st.container(horizontal=True, gap="large", key="film-maps"):
        for card, film in films:
            frame = film.frame(step)
            weights, answer = film.maps[frame][at], task.LABELS[film.answers[frame][at]]
            with st.container(width=model_maps.panel_width(example), key=f"film-{card.name}"):
                model_maps.panel(card, task, example, answer, None, weights, f"film-figure-{card.name}")


def _telling_row(films: Sequence[tuple[Card, Film]]) -> int:
    """The first row that some of the models answer rightly in the end and others do not; else the first."""
    for i, row in enumerate(films[0][1].rows):
        right = {film.answers[-1][i] == row.label for _, film in films}
        if row.truth and right == {True, False}:
            return i
    return 0
