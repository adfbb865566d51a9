"""Compare: checkpoints of a task over many rows, how they were trained, and what in their settings differs."""

from __future__ import annotations

import streamlit as st

from pages.compare import over_rows, two_others
from pages.shared import (
    case_style,
    checkpoint_differences,
    checkpoint_picker,
    disagreements,
    models,
    other_models,
    pair_input,
    row_source,
    style,
    task_picker,
    url_state,
)
from pages.shared.errors import report_errors
from triattn_core.checkpoint import metadata
from triattn_core.sources import open_source
from triattn_core.sources.source import Ability, lacks
from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.trace.axes import TAN_MECHANISMS
from triattn_core.views import side_by_side as view

LEAD = (
    "Any two to four checkpoints of one task: which predictions differ, and on which rows; and how they were trained."
)

head, toolbar = style.opening()
style.say(head, "Compare", LEAD)
case_style.inject_style()
task_names = [name for name in TASKS if len(models.entries(name)) >= view.FEWEST]
task_names += [other_models.TASK] * (len(two_others.scored_models()) >= view.FEWEST)
if not task_names:
    st.info("Compare needs two checkpoints of one task: Checkpoints lists those available.")
    st.stop()
with toolbar:
    task = url_state.segments("Task", task_names, task_picker.KEY, show=task_picker.label, label_visibility="collapsed")
if task == other_models.TASK:
    style.say(head, "Compare", two_others.SAYS)
    two_others.show()
    st.stop()
speaks, entries = checkpoint_picker.pick_language(models.entries(task), prefer="en")
if form(task) is InputForm.PAIR:  # classifiers of others, of any language
    entries += [entry for entry in models.others() if not lacks(open_source(entry), (), [Ability.ROWS, Ability.LABELS])]
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    if len(speaks.takes) > 1:
        pair_input.language(speaks)
    checkpoints = checkpoint_picker.pick_checkpoints(entries)
    if len(checkpoints) < view.FEWEST:
        st.info("Choose at least two checkpoints.")
        st.stop()
    rows = row_source.pick({entry.name for entry in checkpoints}, task, speaks.now)
    st.space("stretch")
    tail = st.container(width="content", key="tail")
cases = None
are_quick = {metadata.model_setting(entry, "mechanism") for entry in checkpoints} <= set(TAN_MECHANISMS)
with report_errors(stop=False):
    cases = row_source.table(rows, task, speaks.now, checkpoints, wait=not are_quick)
if cases is not None:
    over_rows.show(cases, tail)
over_rows.link_side_by_side(task, checkpoints)
config, loss = st.container(key="main-training").columns([1.15, 1], gap="large")
with config:
    checkpoint_differences.show(checkpoints)
with loss:
    disagreements.losses(checkpoints)
