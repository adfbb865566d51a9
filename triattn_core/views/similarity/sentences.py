"""Similarity in words: sizes and answers, what is drawn of a passage, and what was folded."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.views.lib.cell import describe_aggregation
from triattn_core.views.lib.number_format import probability
from triattn_core.views.similarity.panels import ATTENTION, OVER_PASSAGE, OVER_PASSAGE_SITE, FunctionPanel

SAME = 1e-6  # between weights: less is rounding
ENDS = "The answer's start and end are added up over the passage; the answer itself is the reader's, word by word."
FLOWS = {
    "relevance": "Relevance: the score before the softmax.",
    "centred": "Centred: the score minus its row's mean, all that passage → question, the softmax of a row, sees.",
    "weight": "Weight, passage → question: each passage word attends to the question; a row sums to one.",
    OVER_PASSAGE: "Over passage, question → passage: the question attends to the passage; a column sums to one.",
}
PARTS = {"query": "passage", "key": "question"}


def counted(trace: AttentionTrace, part: int = 0, parts: int = 1) -> str:
    """What of a passage is drawn: part `part`, from 0.  trace: as it is, with a row a word."""
    if parts == 1:
        rows = trace.site(ATTENTION.with_quantity("weight")).sizes["query"]
        return f"{rows} word{'s' * (rows != 1)} and marks"
    over = f"probabilities of answers are over all {parts} parts, the curves of start and end over this one"
    return f"part {part + 1} of {parts} drawn: {over}"


def fold_notes(panels: Sequence[FunctionPanel], quantity: str) -> str:
    """What was folded; of all panels that say it otherwise."""
    drawn = ATTENTION.with_quantity("weight" if quantity == "weight" else "relevance")
    site = OVER_PASSAGE_SITE if quantity == OVER_PASSAGE else drawn
    over = ("query",) if quantity == OVER_PASSAGE else ("key",)
    folds = dict.fromkeys(describe_aggregation(panel.site(site), over) for panel in panels)
    columns = [_describe_equal_columns(panel) for panel in panels if quantity == OVER_PASSAGE]
    return " ".join(filter(None, [*folds, ENDS * any(folds), *columns]))


def _describe_equal_columns(panel: FunctionPanel) -> str:
    """Whether all question words share one distribution over the passage, as with BiDAF."""
    if not panel.is_one_for_all:
        return ""
    return f"{panel.title}: one distribution, from the highest score of each passage word, for all question words."


def describe_flow(panels: Sequence[FunctionPanel], quantity: str) -> str:
    """Which way the attention of a quantity runs, over what its softmax is, and what sentinels take."""
    sentinels = [_describe_sentinel(panel, quantity) for panel in panels if panel.has_sentinel]
    return " ".join([FLOWS[quantity], *sentinels])


def _describe_sentinel(panel: FunctionPanel, quantity: str) -> str:
    """The mean share of a distribution that no word has."""
    down = quantity == OVER_PASSAGE
    sums = panel.values_of(OVER_PASSAGE if down else "weight").values.astype(np.float64).sum(0 if down else 1)
    return f"{panel.title}: its sentinel takes {1 - sums.mean():.1%} of a {'column' if down else 'row'} on average."


def alt(panels: Sequence[FunctionPanel]) -> str:
    """What the figure shows in words: sizes, and the answer that comes of each function."""
    weights, passage = panels[0].weights, panels[0].trace.texts["passage"]
    answers = "; ".join(f"{panel.title} answers {_answer(panel, passage)}" for panel in panels)
    sizes = [_size(weights, axis, name) for axis, name in PARTS.items()]
    return " ".join([f"Maps of {' by '.join(sizes)}: {answers}.", *filter(None, map(_describe_constant_rows, panels))])


def _size(weights: xr.DataArray, axis: str, part: str) -> str:
    size = weights.sizes[axis]
    if f"{axis}_cells" in weights.coords:
        return f"{size} group{'s' * (size != 1)} of {part} words"
    return f"{size} {part} word{'s' * (size != 1)}"


def _describe_constant_rows(panel: FunctionPanel) -> str:
    """Whether the passage word matters for what is attended to, where it does not."""
    weights = panel.weights.values
    if min(weights.shape) > 1 and np.ptp(weights, axis=0).max() < SAME:
        return f"{panel.title} gives every passage word the same weights: what it attends to is the question's alone."
    return ""


def _answer(panel: FunctionPanel, passage: str) -> str:
    if not panel.spans:
        return "nothing"
    start, end, share = panel.spans[0]
    return f"“{shorten(passage[start:end], 60, placeholder=' …')}” with probability {probability(share)}"
