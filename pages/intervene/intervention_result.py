"""What an intervention changed: the answer before and after, as bars and numbers."""

from __future__ import annotations

from html import escape

from pages.shared import style
from pages.shared.page_setup import Question
from triattn_core.scenes.intervene_text import ANSWER, ATTENTION, followed_answer
from triattn_core.views.lib.number_format import minus, probability


def headline(finding: str) -> str:
    """HTML: what happened to answer and attention, before all else."""
    first, _, rest = finding.partition(": ")
    title = f"Moved: a probability by {ANSWER:g} or more, attention by {ATTENTION:g} bits or more"
    return (
        f'<p class="t-outcome" title="{title}"><b>{escape(first)}.</b> '
        f'<span class="t-muted">{escape(rest[:1].upper() + rest[1:])}</span></p>'
    )


def answers(result, question: Question) -> str:
    """HTML: what is said before and after, as bars and numbers."""
    colour, rows = style.colour(question.explained.mechanism), ""
    at = followed_answer(result.before.prediction)
    for name, outcome in (("before", result.before), ("after", result.after)):
        best, share = outcome.prediction.best, outcome.prediction.probabilities
        flips = "<b>flips</b> to " if name == "after" and result.flipped else ""
        rows += (
            f'<tr><td class="t-muted">{name}</td><td>{flips}{escape(outcome.prediction.labels[best][:90])}</td>'
            f"<td>{style.bar(share[at], colour)}</td>"
            f'<td class="r">{probability(share[at])}</td>'
            f'<td class="r">{minus(f"{outcome.log_odds:+.3g}")}</td></tr>'
        )
    of = escape(result.before.prediction.labels[at][:60])
    head = f'<tr><th></th><th>says</th><th>probability of “{of}”</th><th></th><th class="r">log-odds</th></tr>'
    return f'<table class="t-table" style="max-width:860px">{head}{rows}</table>'
