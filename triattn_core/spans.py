"""Answers of readers: the spans of a passage that are most likely, of all its windows together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from triattn_core.batch import collate
from triattn_core.checkpoint import Bundle, outputs, together
from triattn_core.text.texts import Texts

COUNT = 5  # spans of an answer: the best and the next best


class Span(NamedTuple):
    """Characters `start` to `end` of the passage; `window`: the one whose words gave it its probability."""

    start: int
    end: int
    probability: float
    window: int


def best_spans(scores: Sequence[Tensor], longest: int, count: int) -> list[tuple[float, int, int, int]]:
    """(probability, window, first word, last word) of the `count` most likely spans of at most `longest` words.

    scores: [words, 2] of each window, start and end before their softmax.  The probability is that of the start times
    that of the end, each over the words of all windows together: with one window p_1 p_2 of Eqs. 11 and 12.
    """
    starts, ends = torch.cat([one.double() for one in scores]).logsumexp(0)
    found = []
    for window, one in enumerate(scores):
        start, end = one[:, 0].double() - starts, one[:, 1].double() - ends
        joint = start[:, None] + pad(end, (0, longest - 1), value=-torch.inf).unfold(0, longest, 1)  # [words, longest]
        top = joint.flatten().topk(min(count, joint.numel()))
        for value, place in zip(top.values.exp().tolist(), top.indices.tolist()):
            if value > 0 or not found:
                first, more = divmod(place, longest)
                found.append((value, window, first, min(first + more, len(one) - 1)))
    return sorted(found, key=lambda one: -one[0])


def located(windows: Sequence[Texts], scores: Sequence[Tensor], longest: int, count: int = COUNT) -> tuple[Span, ...]:
    """The best spans as characters of the passage, each once though several windows have it."""
    found: dict[tuple[int, int], Span] = {}
    for probability, window, first, last in best_spans(scores, longest, count):
        passage = windows[window].roles["passage"]
        place = passage.spans[passage.runs[first][0]][0], passage.spans[passage.runs[last][1] - 1][1]
        found.setdefault(place, Span(*place, probability, window))
    return tuple(found.values())[:count]


def answers(bundles: Sequence[Bundle], examples: Sequence, size: int = 64) -> list[list[tuple[Span, ...]]]:
    """What each bundle answers to each example: [bundles][examples], the best span first.

    Windows of like length go in batches of at most `size`, and the encoder reads each once for all bundles.  Raises
    ConfigError where they do not share it.
    """
    together(bundles)
    first = bundles[0]
    grouped = first.task.roles(examples, first.tokenizer, first.config.limits)
    rows = [row for one in grouped for row in one]
    scores: list[list[Tensor]] = [[torch.empty(0)] * len(rows) for _ in bundles]
    for places, found in outputs(bundles, rows, size):
        for mine, some in zip(scores, found):
            for place, one in zip(places, some):
                mine[place] = one[: len(rows[place].roles["passage"].runs)]
    told = []
    for bundle, mine in zip(bundles, scores):
        rest = iter(mine)
        per_example = ([next(rest) for _ in windows] for windows in grouped)
        longest = bundle.config.model.longest
        told.append([located(windows, some, longest) for windows, some in zip(grouped, per_example)])
    return told


@torch.inference_mode()
def terms(bundle: Bundle, example, query: int, key: int, window: int = 0) -> dict[str, np.ndarray]:
    """What the score of passage word `query` and question word `key` is made of: by term [d], all summing to it."""
    texts = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0][window]
    states = bundle.model.states(bundle.encoder(collate([texts], bundle.tokenizer).to(bundle.device)))
    h, u = (one.vectors[0, place] for one, place in zip(states, (query, key)))
    return {name: one.float().cpu().numpy() for name, one in bundle.model.attention.similarity.terms(h, u).items()}
