"""Beyond one row: accuracy and weight on the truth over held-out rows, and how a map came about in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import pandas as pd
import streamlit as st

from pages.laboratory import model_maps
from pages.shared import checkpoint_html, figures, style
from triattn_core.analysis.training_snapshots import TrainingSnapshots, load_snapshots
from triattn_core.checkpoint.registry import Entry
from triattn_core.results import laboratory
from triattn_core.results.run_records import Record
from triattn_core.tasks.laboratory import LaboratoryTask
from triattn_core.views.charts import truth_curves, truth_quadrants, truth_scores


def scores(
    entries: Sequence[Entry], task: LaboratoryTask, records: Sequence[Record], references: Mapping[str, Mapping]
) -> None:
    """Every trained model of the task over the rows of the test seed, a dot a seed.

    references: measures of what was not trained, by name.
    """
    measured = [(entry, list(laboratory.seed_tests(entry, records).values())) for entry in entries]
    tests = {model_maps.label(entry): (model_maps.colour(entry), seeds) for entry, seeds in measured if seeds}
    if not tests:
        return
    references = {name: ("muted", [measures]) for name, measures in references.items()}
    theme = style.theme()
    held_out = _summarize(tests | references)
    seed_counts = [len(seeds) for _, seeds in tests.values()]
    count = max(test["n"] for _, seeds in tests.values() for test in seeds)
    st.html(checkpoint_html.section("Over held-out rows", f"{count:,} generated rows, every seed a dot"))
    with st.container(horizontal=True, gap="large", key="scores"):
        for measure in truth_scores.PANELS:
            chart = partial(truth_scores.figure, held_out.scores, measure, style.colours(), theme)
            figures.show(chart, held_out.summary, f"scores-{measure}", width="content")
        chart = partial(truth_quadrants.figure, held_out.measures, theme)
        figures.show(chart, held_out.shortcuts, "scores-quadrants", width="content")
    figures.folded(
        "In words, and what does not compare",
        f"{held_out.summary} {_seeds(seed_counts)} Weights of two-way models have no cell for a pair: they are "
        "measured against the keys and context tokens of the true pair, and do not compare with those of "
        f"Tri-Attention. Right without looking is a shortcut, or luck. {task.CHANCE}",
    )
    with st.container(key="main-measures"):
        _measures(held_out.means)
    figures.numbers("All seeds as numbers", held_out.measures, "numbers")
    figures.numbers("How each was trained", laboratory.recipes(_by_label(entries)), "recipes")


@dataclass(frozen=True)
class _HeldOut:
    """The scores and the measures against the truth of every seed, each with its sentence; the means over seeds."""

    scores: pd.DataFrame
    summary: str
    measures: pd.DataFrame
    shortcuts: str
    means: pd.DataFrame


@st.cache_resource(max_entries=16, show_spinner=False)
def _summarize(tests: Mapping[str, tuple[str, list[Mapping]]]) -> _HeldOut:
    """tests: the colour and the tests of each model."""
    rows, measures = truth_scores.table(tests), truth_quadrants.table(tests)
    sentences = truth_scores.describe(rows), truth_quadrants.describe(measures)
    return _HeldOut(rows, sentences[0], measures, sentences[1], truth_quadrants.means(measures))


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


def steps(entries: Sequence[Entry], task: LaboratoryTask, records: Sequence[Record]) -> None:
    """The models that were trained for several numbers of steps, where there are such."""
    about = "does longer training help? each run has its own rows and sees none more often than the shortest run"
    _curves("Against training", about, laboratory.step_rows(_by_label(entries), records), "steps", log=True)


def sizes(entries: Sequence[Entry], task: LaboratoryTask, records: Sequence[Record]) -> None:
    """The models that were trained at several sizes of the task, where there are such."""
    about = f"the same training at other numbers of {task.SIZE}"
    _curves("Against size", about, laboratory.size_rows(_by_label(entries), task.size, records), task.SIZE)


def _by_label(entries: Sequence[Entry]) -> dict[str, tuple[str, Entry]]:
    """Checkpoints with the mechanism that their colour is of, by label."""
    return {model_maps.label(entry): (model_maps.colour(entry), entry) for entry in entries}


def _curves(title: str, about: str, rows: pd.DataFrame, x_name: str, log: bool = False) -> None:
    """Accuracy, and weight on the truth, against x; nothing of no rows."""
    if rows.empty:
        return
    key, theme = title.split()[-1], style.theme()
    st.html(checkpoint_html.section(title, about))
    sentence = truth_curves.describe(rows, x_name)
    with st.container(horizontal=True, gap="large", key=f"curves-{key}"):
        for measure in truth_scores.PANELS:
            figure = partial(truth_curves.figure, rows, measure, x_name, style.colours(), theme, log)
            figures.show(figure, sentence, f"curves-{key}-{measure}", width="content")
    figures.folded("In words", sentence)
    figures.numbers(f"{title}: all seeds as numbers", rows.rename(columns={"x": x_name}), f"curves-{key}-numbers")


@st.fragment
def replay(entries: Sequence[Entry], task: LaboratoryTask) -> None:
    """The maps of the chosen models at steps of their training, on rows they were not trained on."""
    recorded = [(entry, snapshots) for entry in entries if (snapshots := load_snapshots(entry.path))]
    if not recorded:
        return
    first = recorded[0][1]
    st.html(checkpoint_html.section("Training replayed", "drag to a step: the maps find the truth, or do not"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large", key="film"):
        options = {"default": _telling_row(recorded), "required": True, "format_func": lambda i: f"{i + 1}"}
        bound = {"bind": "query-params"}
        rows = range(len(first.rows))
        row = st.segmented_control("Row", rows, key=f"{task.NAME}-film-row", **options, **bound)
        opens = {"value": first.steps[-1], "width": 520}
        step = st.select_slider("Step", first.steps, key=f"{task.NAME}-film-step", **opens, **bound)
    example = first.rows[row]
    st.html(f'<p class="t-note">{escape(task.say(example))}</p>')
    with st.container(horizontal=True, gap="small", key="film-maps"):
        for entry, snapshots in recorded:
            frame = snapshots.frame(step)
            weights, answer = snapshots.maps[frame][row], task.LABELS[snapshots.answers[frame][row]]
            with st.container(width=model_maps.panel_width(example), key=f"film-{entry.name}"):
                model_maps.panel(entry, task, example, answer, None, weights, f"film-figure-{entry.name}")


def _telling_row(recorded: Sequence[tuple[Entry, TrainingSnapshots]]) -> int:
    """The first row that some of the models answer rightly in the end and others do not; else the first."""
    for i, row in enumerate(recorded[0][1].rows):
        right = {snapshots.answers[-1][i] == row.label for _, snapshots in recorded}
        if row.truth and right == {True, False}:
            return i
    return 0
