"""Answers of readers: the spans of a passage that are most likely, of all its windows together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from triattn_core.batch import collate
from triattn_core.checkpoint import Bundle, outputs, together
from triattn_core.errors import InputError
from triattn_core.text.texts import Texts
from triattn_core.trace import AttentionTrace

COUNT = 5  # spans of an answer: the best and the next best
QUESTION = re.compile(r"(?<![a-z])u(?![a-z])")  # a question word's state in the name of a term
DIMENSIONS = 5  # of a score that are listed


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
def states(bundle: Bundle, example, window: int = 0) -> tuple[Tensor, Tensor]:
    """H [M, d] and U [N, d]: the states of the words of a window and of the question."""
    texts = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0][window]
    passage, question = bundle.model.states(bundle.encoder(collate([texts], bundle.tokenizer).to(bundle.device)))
    return passage.vectors[0], question.vectors[0]


def terms(bundle: Bundle, example, query: int, key: int, window: int = 0) -> dict[str, np.ndarray]:
    """What the score of passage word `query` and question word `key` is made of: by term [d], all summing to it."""
    return terms_of(bundle, states(bundle, example, window), query, key)


@torch.inference_mode()
def terms_of(bundle: Bundle, found: tuple[Tensor, Tensor], query: int, key: int) -> dict[str, np.ndarray]:
    """The same from `states`."""
    parts = bundle.model.attention.similarity.terms(found[0][query], found[1][key])
    return {name: one.float().cpu().numpy() for name, one in parts.items()}


def inside(trace: AttentionTrace, query: int, key: int) -> None:
    """Raises InputError where a reader's trace has no such cell."""
    sizes = trace.site("attention/weight").sizes
    if not (0 <= query < sizes["query"] and 0 <= key < sizes["key"]):
        has = f"passage words are 0 to {sizes['query'] - 1}, question words 0 to {sizes['key'] - 1}"
        raise InputError(f"There is no cell {query}.{key}: {has}.")


def facts(trace: AttentionTrace, terms: Mapping[str, np.ndarray], query: int, key: int) -> dict:
    """The exact numbers of a cell of a reader's trace, with the terms [d] that its score is made of.

    score; `centred`, the score minus the mean of its row; weight, its rank in its row, largest first, `of` how many;
    terms: [name, value]; alike: the terms without u, which all cells of a row share and the softmax does not see;
    dimensions: the largest products, as (number of the term, dimension, value), all from 0;
    width: d.
    """
    sites = (trace.site(f"attention/{name}").transpose("query", "key") for name in ("weight", "relevance"))
    weights, scores = (one.values[query].astype(np.float64) for one in sites)
    parts = [(i, at, float(value)) for i, one in enumerate(terms.values()) for at, value in enumerate(one)]
    return {
        "score": float(scores[key]),
        "centred": float(scores[key] - scores.mean()),
        "weight": float(weights[key]),
        "rank": int((weights > weights[key]).sum()) + 1,
        "of": len(weights),
        "terms": [[name, float(one.sum(dtype=np.float64))] for name, one in terms.items()],
        "alike": [name for name in terms if not QUESTION.search(name)],
        "dimensions": sorted(parts, key=lambda one: -abs(one[2]))[:DIMENSIONS],
        "width": len(next(iter(terms.values()))),
    }
