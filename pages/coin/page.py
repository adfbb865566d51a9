"""COIN: a pair of sentences, how each block aligns them with the context term and without it, and what that decides."""

from __future__ import annotations

import streamlit as st

from pages.coin import both_ways, pickers
from pages.shared import (
    canvas_component,
    figures,
    languages,
    models,
    pair_input,
    style,
    token_grouping,
    url_state,
)
from pages.shared.errors import report_errors
from pages.shared.models import MODELS
from pages.shared.page_scene import PageScene
from triattn_core.analysis import coin_blocks
from triattn_core.tasks import TASKS
from triattn_core.views.coin.blocks import ablation_label

SAYS = (
    'Each block aligns every <b class="t-query">query</b> token with the <b class="t-key">keys</b> of the other '
    "sentence: with the context of its own sentence, and without it."
)


head, _ = style.opening()
style.say(head, "COIN", SAYS)
speaks, entries = languages.single(models.entries(None, ("coin",)), "checkpoint", prefer="en")
if not entries:
    st.info("No COIN checkpoint is here yet: Checkpoints lists those available.")
    st.stop()
example = pair_input.pair(speaks, TASKS[entries[0].config["task"]])
answer_place = st.container()
row = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
with row:
    entry = url_state.pick("Checkpoint", entries, "checkpoint", show=lambda entry: entry.name, width=210)
with report_errors():
    by_ablation = MODELS.without(entry, example)
with row:
    settings = pickers.pick(by_ablation)
    st.space("stretch")
    tail = st.container(horizontal=True, vertical_alignment="center", width="content", key="tail")
unablated, grouping = by_ablation[""], settings.grouping()
token_grouping.missing(unablated.trace.texts, grouping)
with answer_place:
    label = unablated.prediction.labels[unablated.prediction.best]
    pair_input.prediction(by_ablation[settings.off], [f"whole model: {label}"] if settings.off else [])
pair = canvas_component.key("coin", *unablated.trace.texts.values(), *grouping.parts)
with report_errors():
    page = PageScene.build("coin", [entry], example, settings, pair, settings.direction)
with tail:
    without = f"-without-{ablation_label(settings.off).replace(' ', '-')}" if settings.off else ""
    page.save_menus(f"coin-{settings.direction.replace('_', '-')}{without}{token_grouping.ending(grouping)}")
both_ways.explore(page, pair, settings.direction)
if quiet := coin_blocks.describe_quiet(entry.name):
    figures.note(quiet)
figures.numbers("All pairs of all blocks as numbers", lambda: page.scene.table, "numbers")
