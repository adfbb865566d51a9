"""Is this map signal: attention replaced along an axis, over many draws, as a section of a page."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pages.common import asking, cards, figures, state
from pages.common.change_said import followed
from pages.common.errors import shown
from pages.common.figures import minus
from triattn_core import records
from triattn_core.analysis.offered import REPLACEMENTS
from triattn_core.views import intervened as view

LEVEL = 0.05


def section(question: asking.Question) -> None:
    """The pickers, the distribution over draws, and what it says."""
    st.html(cards.section("Is this map signal?", "attention replaced in all layers and both directions, at once"))
    tri = records.model(question.card, "mechanism") == "tri"
    with st.container(horizontal=True, vertical_alignment="bottom", key="null-settings"):
        how = state.segments("Attention becomes", list(REPLACEMENTS), "null", default=1)
        axis = state.segments("Along", ["key", "context"] if tri else ["key"], "along")
        draws = state.segments("Draws", [10, 30, 100], "draws", default=1) if REPLACEMENTS[how].drawn else 1

    def run(bundle):
        from triattn_core.analysis.nulls import null

        found = null(bundle, question.example, how, axis, draws, option=question.option)
        return found.log_odds, found.flipped, found.before.log_odds, found.before.prediction

    with shown():
        key = ("null", question.example, question.option, how, axis, draws)
        odds, flipped, original, answer = asking.answer(question.card, f"{draws} draws", run, *key)
    said = told(how, axis, odds, flipped, original, answer.labels[followed(answer)])
    figures.drawn(view.draws(odds.tolist(), original, asking.theme()), said, "null-draws")
    figures.note(said)
    rows = pd.DataFrame({"draw": range(1, len(odds) + 1), "log-odds": odds, "flips": flipped})
    figures.numbers("Draws as numbers", rows, "null-numbers")


def told(how: str, axis: str, odds, flipped, original: float, answer: str) -> str:
    """A sentence: the log-odds with the weights replaced, beside the original's, and the flips."""
    many = f" ± {odds.std():.2g} over {len(odds)} draws" if len(odds) > 1 else ""
    said = f"With {how} attention along {axis}s ({REPLACEMENTS[how].how}) the log-odds of “{answer}” are "
    said += f"{odds.mean():+.3g}{many}, against {original:+.3g}; {int(flipped.sum())} of {len(odds)} flip the answer. "
    if len(odds) > 1:
        below, p = int((odds < original).sum()), chance(odds, original)
        said += f"The original lies above {below} of the {len(odds)} draws, p = {p:.2g} (two-sided): "
        better = "the map is more than chance" if original > odds.mean() else "others serve this answer better"
        said += (
            f"{better}, by {abs(original - odds.mean()):.2g} in the mean."
            if p <= LEVEL
            else f"not evidence enough that this map is more than chance; {len(odds)} draws could show p = "
            f"{chance(odds, float('inf')):.2g} at best."
        )
    return minus(said)


def chance(odds, original: float) -> float:
    """How often so extreme a rank among the draws comes about where the original is one of them, on either side."""
    fewest = min(int((odds <= original).sum()), int((odds >= original).sum()))
    return min(1.0, 2 * (1 + fewest) / (1 + len(odds)))
