"""What an intervention changed: the answer before and after, as bars and numbers."""

from __future__ import annotations

from html import escape

from pages.common import inputs, style
from pages.common.asking import Question
from triattn_core.case_card.intervene_said import followed
from triattn_core.views.signs import minus


def answers(found, question: Question) -> str:
    """HTML: what is said before and after, as bars and numbers."""
    colour, rows = style.colour(question.found.mechanism), ""
    at = followed(found.before.prediction)
    for name, one in (("before", found.before), ("after", found.after)):
        best, share = one.prediction.best, one.prediction.probabilities
        flips = "<b>flips</b> to " if name == "after" and found.flipped else ""
        rows += (
            f'<tr><td class="t-muted">{name}</td><td>{flips}{escape(one.prediction.labels[best][:90])}</td>'
            f"<td>{style.bar(share[at], colour)}</td>"
            f'<td class="r">{inputs.number(share[at])}</td>'
            f'<td class="r">{minus(f"{one.log_odds:+.3g}")}</td></tr>'
        )
    of = escape(found.before.prediction.labels[at][:60])
    head = f'<tr><th></th><th>says</th><th>probability of “{of}”</th><th></th><th class="r">log-odds</th></tr>'
    return f'<table class="t-table" style="max-width:860px">{head}{rows}</table>'
