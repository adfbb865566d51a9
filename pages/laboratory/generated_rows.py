"""A generated row of a laboratory task: the maps of the chosen models on it, and what is known beyond this row."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.laboratory import answer_changes, evidence, fresh_rows, live, method_scores, model_maps, row_input
from pages.shared import study_strip, style
from pages.shared.errors import report_errors
from triattn_core.results.laboratory import laboratory_records
from triattn_core.tasks.laboratory import LaboratoryTask
from triattn_core.views.charts import truth_map

CELLS = (
    "Tri-Attention has a weight for each pair of key and context. Two-way attention has one for each token alone, "
    "drawn in the row or column “alone”; joint two-way attention also weighs the query itself, where that row and "
    "column meet. Even: the share of the true cells if all weights of a model were equal."
)


def show(task: LaboratoryTask, settings: DeltaGenerator) -> None:
    """Shows the row, the maps, and the evidence over many rows.  settings: the row of pickers, which it extends."""
    entries = model_maps.entries(task)
    with settings:
        shown_entries = model_maps.chosen_models(entries, task) if entries else []
    row = None
    with report_errors(stop=False):  # what was measured below needs no row
        row = row_input.row(task)
        study_strip.note_example(row)
        question, mark, _ = task.say(row).partition("? ")  # the fields say the rest
        st.html(f'<p class="t-truth">{escape(question + mark)}<b>{escape(row_input.truth(task, row))}</b></p>')
    if not entries:
        st.info("No model of this task is trained yet: triattn train checkpoints/laboratory/…/config.json makes one.")
        return
    if row is not None:
        with report_errors(stop=False):
            now = answer_changes.AnsweredRow(row, model_maps.maps(shown_entries, task, row))
            if (before := answer_changes.previous_answer(task, now)) is not None:
                st.html(f"<p data-history>{escape(answer_changes.describe(before, now, task))}</p>")
            legend = truth_map.legend(style.theme())
            st.html(f'<p class="t-note">{legend}</p>{_folded("How to read the maps", CELLS)}')
            fresh_rows.trial(shown_entries, task)
    about = f"<b>Proved:</b> {escape(task.PROVED)}<br><b>Only observed:</b> {escape(task.OBSERVED)}"
    st.html(_folded("What is proved, and what is only observed", about))
    records = laboratory_records()
    evidence.scores(entries, task, records, model_maps.references(entries))
    evidence.steps(entries, task, records)
    evidence.sizes(entries, task, records)
    method_scores.show_methods(shown_entries)
    evidence.replay(shown_entries, task)
    live.train_here(entries, task, row or task.examples()[task.OPENING_ROW])


def _folded(mark: str, note: str) -> str:
    """HTML: a note of our own HTML behind a mark."""
    return f'<details class="t-note"><summary>{mark}</summary><div>{note}</div></details>'
