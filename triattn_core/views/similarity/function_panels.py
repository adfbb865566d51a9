"""Similarity functions as panels of a figure: maps of passage × question words, and where an answer starts and ends."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten

import numpy as np

from triattn_core.views.lib.marks import Cells, Ground, Mark, Shares
from triattn_core.views.lib.number_format import probability
from triattn_core.views.lib.panel import Answer, Values
from triattn_core.views.lib.panel import Panel as FigurePanel
from triattn_core.views.lib.reading import Span
from triattn_core.views.lib.readout import Case, Readout, Sentence
from triattn_core.views.similarity.panels import OVER_PASSAGE, FunctionPanel, answer_words

PAIR, WORD = ("query", "key"), ("query",)
WAYS = {"weight": "passage → question", OVER_PASSAGE: "question → passage"}
ANSWER = 60  # letters of one above its map; it is whole in the passage
ONE_FOR_ALL = "one for all question words"
HELP = ("probability of the answer", "probability of the next best")
LOOKS = (("answer", "answers"), ("next", "next best"))


def panel(
    shown: FunctionPanel, index: int, count: int, quantity: str, levels: np.ndarray, scale: str, exact: bool
) -> FigurePanel:
    """One function.  count: of all.  levels: uint8 [query, key] on the scale of this name.  exact: with all numbers."""
    answered = np.isin(np.arange(levels.shape[0]), answer_words(shown))
    arrays = {"levels": Values(PAIR, levels), "answered": Values(WORD, answered)}
    arrays |= {end: Values(WORD, shown.end(end).values) for end in ("start", "end")}
    if exact:
        arrays["values"] = Values(PAIR, shown.values_of(quantity).values)
    marks: list[Mark] = [Ground("answered")]
    if index == count - 1:
        lines = ("probability", *(["grey: others"] if count > 1 else []))
        marks += [Shares(end, f"Answer {end}", lines) for end in ("start", "end")]
    return FigurePanel(
        shown.title,
        *PAIR,
        Cells("levels", scale),
        arrays,
        marks=marks,
        place=(0, index),
        answer=_answer(shown),
        help=_quantity_help(shown, quantity),
        chooses=("function", index),
        spans=[
            Span(start, end, look, says, probability(share), help_)
            for (start, end, share), (look, says), help_ in zip(shown.spans, LOOKS, HELP)
        ]
        or [Span(0, 0, "answer", "answers nothing")],
    )


def _answer(shown: FunctionPanel) -> Answer:
    """The best span; below it where that is, or the next best."""
    texts = [cut(shown, span) for span in shown.spans[:2]]
    if not texts:
        return Answer("", 0.0, shown.right)
    below = f"next {probability(shown.spans[1][2])}: {texts[1]}" if len(texts) > 1 else ""
    below = f"in part {shown.elsewhere}" if shown.elsewhere else below
    said = shorten(texts[0], ANSWER, placeholder=" …")
    return Answer(said, shown.spans[0][2], shown.right, below)


def cut(shown: FunctionPanel, span: Sequence) -> str:
    """The words of a span."""
    return " ".join(shown.trace.texts["passage"][span[0] : span[1]].split())


def readout(exact: bool) -> Readout:
    """What is said of a cell at the pointer.  exact: whether all numbers are there, not levels alone."""
    value = "{title}: {help} " + ("{values}" if exact else "≈ {levels:level}")
    said = ("{query} × {key}", value, "start {start:probability}, end {end:probability}")
    return Readout("", [], [], [], [Sentence([Case(text)]) for text in said])


def _quantity_help(shown: FunctionPanel, quantity: str) -> str:
    """What a number of the map is."""
    if quantity not in WAYS:
        return quantity
    shared = f", {ONE_FOR_ALL}" if quantity == OVER_PASSAGE and shown.is_one_for_all else ""
    return f"weight, {WAYS[quantity]}{shared}"
