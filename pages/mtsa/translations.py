"""What a translation model says of a sentence: its candidates by beam search, best first, with their scores."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.mtsa import role_spans
from pages.shared import pair_input
from pages.shared.sentence_input import SentencePage
from triattn_core.inference.predictions import Candidate
from triattn_core.sources.explanation import describe_duration
from triattn_core.views.lib.number_format import minus

SCORE = (
    "log p: natural logarithm of the whole translation's probability; score: that over the length penalty, by which "
    "beam search ranks; the maps are of the first"
)


def show(top: SentencePage) -> None:
    """Shows the best translation, then all candidates with probability and score."""
    prediction, config = top.explanation.prediction, top.entry.config
    language = escape(str(config["target_language"]))
    best, facts = prediction.candidates[0], [role_spans.measured(top.entry), describe_duration([top.explanation])]
    aside = "".join(f'<span class="t-muted t-num">{escape(fact)}</span>' for fact in facts if fact)
    with top.answer:
        st.html(
            f'<div class="t-says"><b lang="{language}">{escape(best.text) or "(empty)"}</b>{aside}</div>'
            f'<div class="t-scroll">{table(prediction.candidates, language)}</div>'
            f'<p class="t-note">{SCORE}.</p>' + pair_input.notes([top.explanation])
        )


def table(candidates: Sequence[Candidate], language: str) -> str:
    """HTML: a line for each candidate, with log p and score."""
    heads = '<td class="r"></td><th>candidate</th><th class="r">log p</th><th class="r">score</th>'
    lines = "".join(
        f'<tr><td class="r">{place}</td><td lang="{language}">{escape(one.text) or "(empty)"}</td>'
        f'<td class="r">{minus(f"{one.log_probability:.2f}")}</td><td class="r">{minus(f"{one.score:.2f}")}</td></tr>'
        for place, one in enumerate(candidates, 1)
    )
    return f'<table class="t-table t-candidates"><tr>{heads}</tr>{lines}</table>'
