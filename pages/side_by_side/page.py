"""Side by side: one example under two to four checkpoints, or two options or inputs under one; on one colour scale."""

from __future__ import annotations

import streamlit as st

from pages.shared import (
    attention_worth,
    canvas_component,
    checkpoint_picker,
    choice_input,
    models,
    pair_input,
    style,
    task_picker,
    token_grouping,
)
from pages.shared.errors import report_errors
from pages.shared.page_scene import PageScene
from pages.side_by_side import answers, maps, pickers
from triattn_core.sources import open_source
from triattn_core.sources.source import Ability, lacks
from triattn_core.tasks import TASKS, InputForm, form
from triattn_core.views.side_by_side import FEWEST

head, toolbar = style.opening()
with toolbar:
    task = task_picker.picker(checkpoint_picker.KINDS, checkpoint_picker.KEY, "checkpoint")
    choice_input.controls(task)
words, pairs = task_picker.TASKS[task], form(task) is InputForm.PAIR
style.say(head, "Side by side", words.side)
task_picker.missing(checkpoint_picker.KINDS)
all_entries = models.entries(task, checkpoint_picker.KINDS)
speaks, entries = checkpoint_picker.pick_language(all_entries, prefer="en")
entries += [entry for entry in models.others() * pairs if not lacks(open_source(entry), (), [Ability.PAIRS])]
example = pair_input.pair(speaks, TASKS[task]) if pairs else choice_input.example(task)
edits, predictions = st.container(), st.container()
if len(entries) < FEWEST:
    st.info("Side by side needs two checkpoints of one task: Checkpoints lists those available.")
    st.stop()
with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
    checkpoints, settings = pickers.pick(task, words, entries)
    several = settings.compare == pickers.MECHANISMS
    if not several:
        style.say(head, "Side by side", words.options if settings.compare == pickers.OPTIONS else pickers.EDITS)
        st.space("stretch")
        tail = st.container(horizontal=True, width="content", key="tail")
settings = pickers.with_edit(settings, edits, task, example)
above = st.container()  # a changing number of lines here must not move the figure, which would be shown twice
with above, report_errors():
    page = PageScene.build("side_by_side", checkpoints, example, settings)
comparison = page.scene.comparison
page.key = canvas_component.key("side", *comparison.parts)
with above:
    answers.show_notes(comparison, settings)
with predictions:
    answers.show(comparison, settings.compare, example, pairs)
    if several:  # more settings than with options: what is saved stands above them
        tail = answers.show_models(comparison, pairs)
with tail:
    attention_worth.notes(comparison.entries)
    page.save_menus("side-by-side" + token_grouping.ending(settings.grouping()))
maps.show(page, settings)
