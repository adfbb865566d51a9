"""Spans of a passage, as a model of extractive question answering gives them.

The score of a span is the start score of its first token plus the end score of its last (Devlin et al. 2019, section
4.2).  Its probability is the softmax over all spans of the passage of at most LONGEST tokens: that there is no answer,
which some models say at [CLS], is not among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from triattn_core.importers.token_coords import special_ids

LONGEST = 30  # tokens
NO_PASSAGE = "a question and a passage are needed: the answer is a span of the second text"


def passage_places(tokenizer: Any, ids: Tensor) -> list[int]:
    """The positions of the passage in ids [n], the last run of tokens that are not special; empty where it is the only
    one, so that there is no question."""
    special, runs = special_ids(tokenizer), list[list[int]]()
    for place, number in enumerate(ids.tolist()):
        if number in special:
            runs.append([])
        elif runs:
            runs[-1].append(place)
    runs = [run for run in runs if run]
    return runs[-1] if len(runs) > 1 else []


def spans_of(places: Sequence[int]) -> list[tuple[int, int]]:
    """The first and last position of each span of at most LONGEST of these positions, which follow each other."""
    return [(start, end) for n, start in enumerate(places) for end in places[n : n + LONGEST]]


def span_scores(outputs: Any, spans: Sequence[tuple[int, int]]) -> Tensor:
    """[B, spans]: the score of each, before the softmax."""
    starts, ends = torch.tensor(spans).T
    return (outputs.start_logits[:, starts] + outputs.end_logits[:, ends]).float().cpu()


def span_text(tokenizer: Any, ids: Tensor, span: tuple[int, int]) -> str:
    """The text of a span, as the tokenizer writes it."""
    return tokenizer.decode(ids[span[0] : span[1] + 1]).strip()
