"""What a translation model says of a sentence: its candidates by beam search, best first, with their scores.  Long
ones scroll or fold."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.mtsa import role_spans
from pages.shared import pair_input, style
from pages.shared.sentence_input import SentencePage
from triattn_core.inference.predictions import Candidate
from triattn_core.sources.explanation import describe_duration
from triattn_core.views.lib.number_format import minus

SCORE = (
    "log p: natural logarithm of the whole translation's probability; score: that over the length penalty, by which "
    "beam search ranks; the maps are of the first"
)


LONG = 240  # characters of a translation, beyond which the candidates are folded


def show(top: SentencePage) -> None:
    """Shows the best translation with what must be said of it, then all candidates with probability and score."""
    prediction, config = top.explanation.prediction, top.entry.config
    language = escape(str(config["target_language"]))
    best, facts = prediction.candidates[0], [role_spans.measured(top.entry), describe_duration([top.explanation])]
    aside = "".join(f'<span class="t-muted t-num">{escape(fact)}</span>' for fact in facts if fact)
    with top.answer:
        says = style.scrolled(f'<b lang="{language}">{_text(best)}</b>', len(best.text) > LONG, "Translation")
        st.html(
            f'<div class="t-says">{says}{aside}</div>'
            + pair_input.notes([top.explanation])
            + candidates(prediction.candidates, language)
        )


def candidates(found: Sequence[Candidate], language: str) -> str:
    """HTML: the table of candidates, and what its numbers are; folded where one of them is long."""
    html = f'<div class="t-scroll">{table(found, language)}</div><p class="t-note">{SCORE}.</p>'
    if max(len(one.text) for one in found) <= LONG:
        return html
    best, last = (minus(f"{one.score:.2f}") for one in (found[0], found[-1]))
    return (
        f'<details class="t-note"><summary>{len(found)} candidates, scores {best} to {last}</summary>{html}</details>'
    )


def _text(candidate: Candidate) -> str:
    """A translation in HTML, with `…` where it stopped at the length limit."""
    return (escape(candidate.text) or "(empty)") + " …" * (not candidate.ended)


def table(candidates: Sequence[Candidate], language: str) -> str:
    """HTML: a line for each candidate, with log p and score."""
    heads = '<td class="r"></td><th>candidate</th><th class="r">log p</th><th class="r">score</th>'
    lines = "".join(
        f'<tr><td class="r">{place}</td><td lang="{language}">{_text(one)}</td>'
        f'<td class="r">{minus(f"{one.log_probability:.2f}")}</td><td class="r">{minus(f"{one.score:.2f}")}</td></tr>'
        for place, one in enumerate(candidates, 1)
    )
    return f'<table class="t-table t-candidates"><tr>{heads}</tr>{lines}</table>'
