"""Which tokens drive the span that answers a question: the attribution methods of extractive question answering.

The tokens of the answer itself stay where others are deleted: without them the span could not be given at all.  What
attention gives is read from the first and the last token of the span, by half each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from triattn_core.cached import cached_property
from triattn_core.sources.answer_spans import passage_places, span_scores, spans_of
from triattn_core.sources.transformer_attribution import JointText


@dataclass(frozen=True)
class AnsweredText(JointText):
    """A question and a passage as a loaded model reads them, and the span that is its answer."""

    @cached_property
    def passage(self) -> list[int]:
        """The positions of the passage."""
        return passage_places(self.transformer.tokenizer, self.inputs["input_ids"][0])

    @property
    def span(self) -> tuple[int, int]:
        """The positions of the first and last token of the answer."""
        return spans_of(self.passage)[self.answer]

    @property
    def words(self) -> list[int]:
        """The positions of tokens that are neither special nor of the answer."""
        start, end = self.span
        return [i for i in super().words if not start <= i <= end]

    @cached_property
    def read_from(self) -> np.ndarray:
        """[n]: half from the first token of the answer, half from the last."""
        shares = np.zeros(len(self.tokens))
        for place in self.span:
            shares[place] += 0.5
        return shares

    def shares(self, outputs: Any, ids: Tensor, kept: Sequence[Sequence[int]]) -> np.ndarray:
        """The probability of the same tokens among the spans of what is left of the passage, row by row."""
        found, passage = np.zeros(len(ids)), set(self.passage)
        for row, places in enumerate(kept):
            spans = spans_of([n for n, place in enumerate(places) if place in passage])
            scores = span_scores(outputs, spans)[row].double().softmax(-1)
            start, end = map(places.index, self.span)
            found[row] = float(scores[spans.index((start, end))])
        return found
