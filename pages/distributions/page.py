"""Distributions: how the scores of similarity functions spread on one input, and what their stored runs reached."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.distributions import run_spread
from pages.shared import checkpoint_html as parts
from pages.shared import choice_input, figures, pair_input, qa_models, style, url_state
from pages.shared.errors import notice, shown
from triattn_core.results import measured
from triattn_core.tasks import questions
from triattn_core.views import similarity
from triattn_core.views.charts import distributions as view

SAYS = (
    "How far a function's scores spread on one input. The softmax sees them centred: a part that is the same for all "
    "question words it takes away. Below, how far a function's runs spread."
)
CENTRED = {"relevance": "", "centred": ", minus the mean of their row"}
OPENS = ("dot", "scaled_dot", "cosine")  # those of the paper's Figure 4
MOST = 12
ACROSS = 4

head, beside = style.opening()
with beside:
    choice_input.controls(questions.NAME)
style.say(head, "Distributions", SAYS)
cards = qa_models.shelf()
theme = "dark" if style.dark() else "light"
chosen, side = [], None
if cards:
    settings = st.container(horizontal=True, vertical_alignment="bottom", key="settings")
    with settings:
        asked = st.container(width="stretch", key="asked")
    example = choice_input.example(questions.NAME, asked)
    with settings:
        chosen = qa_models.pick_readers(cards, OPENS, MOST)
        quantity = url_state.segments("Quantity", list(CENTRED), "spread")
        shared = url_state.segments("Axis", ["shared", "one each"], "axis") == "shared"
    with shown(stop=False):
        side = qa_models.read(chosen, qa_models.named(cards), example, settings, most=MOST)
    if side is not None:
        values, table = [view.scores(one, quantity) for one in side.panels], view.numbers(side.panels, quantity)
        bins = [view.counts(one, view.edges(values if shared else [one])) for one in values]
        top = max(one.share.max() for one in bins) if shared else None
        with settings, st.popover("Export", width=92, key="export"):
            run_spread.save_button("Scores in numbers, CSV", f"distributions-{quantity}.csv", table)
            run_spread.save_button("All scores, CSV", "scores.csv", lambda: similarity.table(side.panels))
        cells = f"{values[0].size:,} scores each; {pair_input.duration_text(side.found)}"
        part = f", part {side.part + 1} of {side.parts} of the passage" if side.parts > 1 else ""
        with st.container(key="scores"):
            st.html(parts.section(f"Scores before the softmax on this input{CENTRED[quantity]}", cells + part))
            for start in range(0, len(values), ACROSS):
                for i, column in zip(range(start, len(values)), st.columns(ACROSS, gap="medium")):
                    with column:
                        st.html(f"<b>{escape(side.panels[i].title)}</b>")
                        told = view.said(table.iloc[i].to_dict())
                        figures.drawn(view.histogram(bins[i], theme, top=top), told, f"scores-{i}-chart")
                        figures.note(told)
            st.html(run_spread.table(table))
            if told := pair_input.notes(side.found):
                st.html(told)
else:
    st.info("No reader is here yet: train one with triattn train; Checkpoints shows what is on the shelf.")
found, problems = measured.all_records()
for said in problems:
    notice(said)
figures.note(qa_models.OUTPUTS)
run_spread.runs(found, [card.name for card in chosen], theme)
