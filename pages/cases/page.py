"""Cases: several mechanisms over many rows: who is right where, whether that is chance, and each row to look into."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    case_detail,
    case_list,
    case_style,
    case_summary,
    checkpoint_picker,
    languages,
    models,
    row_source,
    style,
    task_picker,
    url_state,
)
from pages.shared.errors import report_errors
from triattn_core.checkpoint import metadata
from triattn_core.sources import open_source
from triattn_core.sources.source import Ability, lacks
from triattn_core.tasks import InputForm, form
from triattn_core.trace.axes import TAN_MECHANISMS
from triattn_core.views.side_by_side import MOST

LEAD = "Which mechanism is right on which examples, whether that is significant, and how much context mattered."

head, toolbar = style.opening()
with toolbar:
    task = task_picker.picker(TAN_MECHANISMS)
style.say(head, "Cases", LEAD)
case_style.inject_style()
task_picker.missing(TAN_MECHANISMS)
entries_by_language = languages.by_language(models.entries(task, TAN_MECHANISMS))
sets = {code: checkpoint_picker.presets(language_entries) for code, language_entries in entries_by_language.items()}
sets = {code: preset for code, preset in sets.items() if preset}
if not sets:
    st.info("Cases need two checkpoints of one task and similarity: Checkpoints lists those available.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    spoken = next(iter(sets))
    if len(sets) > 1:
        spoken = url_state.segments("Language", list(sets), "language", show=metadata.language_name)
    similarity = url_state.segments("Similarity", list(sets[spoken]), "similarity")
    names, added = sets[spoken][similarity], {}
    if form(task) is InputForm.PAIR:
        fitting = [
            entry for entry in models.others() if not lacks(open_source(entry), (), [Ability.ROWS, Ability.LABELS])
        ]
        added = checkpoint_picker.pick_others(fitting, MOST - 1)
        names = names[-(MOST - len(added)) :]  # Tri is the last
    rows_choice = row_source.pick({*names, *added}, task, spoken, of_any=True)
    st.space("stretch")
    tail = st.container(width="content", key="tail")
entries_by_name = {entry.name: entry for entry in models.entries(task)}
with report_errors():
    chosen = [*(entries_by_name[name] for name in names), *added.values()]
    cases = row_source.table(rows_choice, task, spoken, chosen, wait=bool(added))
if cases is None:
    st.stop()
with report_errors():
    examples = case_summary.show_summary(cases, tail)
left, right = st.container(key="main").columns([2.7, 1], gap="medium")
with left:
    if cases.num_labelled:
        case_summary.show_agreement(cases, examples)
    rows = case_list.filter_cases(cases, examples)
case_detail.show_rows(cases, rows, examples, left, right)
