"""What an intervention changed: the answer before and after, as bars and numbers."""

from __future__ import annotations

from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import figures, style
from triattn_core.scenes.intervene import InterveneScene
from triattn_core.scenes.intervene_parts import Intervention
from triattn_core.scenes.intervene_text import ANSWER, ATTENTION, followed_answer
from triattn_core.views.lib.number_format import minus, probability


def show(scene: InterveneScene) -> DeltaGenerator:
    """Notes, bars, headline and the change in a sentence; returns the place of the sentence, for `show_random`."""
    for note in scene.intervention.result.notes:
        st.info(note)
    st.html(answers(scene.intervention))
    st.html(headline(scene.intervention.finding))
    change = st.empty()
    with change:
        figures.note(scene.change)
    return change


def show_random(scene: InterveneScene, change: DeltaGenerator) -> None:
    """Rewrites the sentence to compare with random sets of as many units, and shows their table; nothing if these were
    not run."""
    if "random" in scene.panels:
        with change:
            figures.note(scene.change)
        figures.numbers("The units at random as numbers", scene.panels["random"].rows, "random-numbers")


def headline(finding: str) -> str:
    """HTML: the main finding on answer and attention."""
    first, _, details = finding.partition(": ")
    title = f"Moved: a probability by {ANSWER:g} or more, attention by {ATTENTION:g} bits or more"
    return (
        f'<p class="t-outcome" title="{title}"><b>{escape(first)}.</b> '
        f'<span class="t-muted">{escape(details[:1].upper() + details[1:])}</span></p>'
    )


def answers(intervention: Intervention) -> str:
    """HTML: the answers before and after, as bars and numbers."""
    result, rows = intervention.result, ""
    colour = style.colour(intervention.question.explanation.mechanism)
    answer_index = followed_answer(result.before.prediction)
    for name, outcome in (("before", result.before), ("after", result.after)):
        best, share = outcome.prediction.best, outcome.prediction.probabilities
        flips = "<b>flips</b> to " if name == "after" and result.flipped else ""
        rows += (
            f'<tr><td class="t-muted">{name}</td><td>{flips}{escape(outcome.prediction.labels[best][:90])}</td>'
            f"<td>{style.bar(share[answer_index], colour)}</td>"
            f'<td class="r t-line">{probability(share[answer_index])}</td>'
            f'<td class="r">{minus(f"{outcome.log_odds:+.3g}")}</td></tr>'
        )
    label = escape(result.before.prediction.labels[answer_index][:60])
    head = f'<tr><td></td><th>says</th><th>probability of “{label}”</th><td></td><th class="r">log-odds</th></tr>'
    return f'<table class="t-table" style="max-width:860px">{head}{rows}</table>'
