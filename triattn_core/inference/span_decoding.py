"""Decoding of answer spans: the most likely spans of a passage over all its windows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from triattn_core.attention.qa_flows import OVER_PASSAGE
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.configs.reader import ReaderConfig
from triattn_core.errors import InputError
from triattn_core.inference.batch import collate
from triattn_core.inference.predictions import Span
from triattn_core.models.reader import Answering
from triattn_core.text.texts import Texts
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

ATTENTION = Site(role="attention")  # of a reader
COUNT = 5  # spans per answer
QUESTION = re.compile(r"(?<![a-z])u(?![a-z])")  # matches the question state in the name of a term
PASSAGE = re.compile(r"(?<![a-z])h(?![a-z])")  # matches the passage state
SOME = 5e-4  # of the weights: less is rounding
DIMENSIONS = 5  # of a score to list


def best_spans(scores: Sequence[Tensor], longest: int, count: int) -> list[tuple[float, int, int, int]]:
    """(probability, window, first word, last word) of the `count` most likely spans of at most `longest` words.

    scores: [words, 2] of each window, start and end before their softmax.  The probability is p(start) × p(end), each a
    softmax over the words of all windows; with one window, p_1 p_2 of Eqs. 11 and 12.
    """
    starts, ends = torch.cat([window_scores.double() for window_scores in scores]).logsumexp(0)
    spans: list[tuple[float, int, int, int]] = []
    for window, window_scores in enumerate(scores):
        start, end = window_scores[:, 0].double() - starts, window_scores[:, 1].double() - ends
        joint = start[:, None] + pad(end, (0, longest - 1), value=-torch.inf).unfold(0, longest, 1)  # [words, longest]
        top = joint.flatten().topk(min(count, joint.numel()))
        for value, index in zip(top.values.exp().tolist(), top.indices.tolist()):
            if value > 0 or not spans:
                first, offset = divmod(index, longest)
                spans.append((value, window, first, min(first + offset, len(window_scores) - 1)))
    return sorted(spans, key=lambda span: -span[0])


def locate_spans(
    windows: Sequence[Texts], scores: Sequence[Tensor], longest: int, count: int = COUNT
) -> tuple[Span, ...]:
    """The best spans as characters of the passage, without duplicates from overlapping windows.

    scores: [words, 2] of each window, start and end before their softmax; after its words, padding.
    """
    scores = [window_scores[: len(row.roles["passage"].runs)] for row, window_scores in zip(windows, scores)]
    spans: dict[tuple[int, int], Span] = {}
    for probability, window, first, last in best_spans(scores, longest, count):
        passage = windows[window].roles["passage"]
        characters = passage.spans[passage.runs[first][0]][0], passage.spans[passage.runs[last][1] - 1][1]
        spans.setdefault(characters, Span(*characters, probability, window))
    return tuple(spans.values())[:count]


def longest_answer(bundle: Bundle) -> int:
    """The most words of an answer span of a reader."""
    assert isinstance(bundle.config.model, ReaderConfig), bundle.name
    return bundle.config.model.longest


@torch.inference_mode()
def states(bundle: Bundle, example, window: int = 0) -> tuple[Tensor, Tensor]:
    """H [M, d] and U [N, d]: the states of the words of a window and of the question."""
    texts = bundle.task.roles([example], bundle.tokenizer, bundle.config.limits)[0][window]
    assert isinstance(bundle.model, Answering), bundle.name
    passage, question = bundle.model.states(bundle.encoder(collate([texts], bundle.tokenizer).to(bundle.device)))
    return passage.vectors[0], question.vectors[0]


def score_terms(bundle: Bundle, example, query: int, key: int, window: int = 0) -> dict[str, np.ndarray]:
    """The terms [d] that add up to the score of passage word `query` and question word `key`."""
    return score_terms_of(bundle, states(bundle, example, window), query, key)


@torch.inference_mode()
def score_terms_of(bundle: Bundle, word_states: tuple[Tensor, Tensor], query: int, key: int) -> dict[str, np.ndarray]:
    """As `score_terms`, from `states`."""
    assert isinstance(bundle.model, Answering), bundle.name
    terms = bundle.model.attention.similarity.terms(word_states[0][query], word_states[1][key])
    return {name: term.float().cpu().numpy() for name, term in terms.items()}


def require_cell(trace: AttentionTrace, query: int, key: int) -> None:
    """Raises InputError if a reader's trace has no such cell."""
    sizes = trace.site(ATTENTION.with_quantity("weight")).sizes
    if not (0 <= query < sizes["query"] and 0 <= key < sizes["key"]):
        ranges = f"passage words are 0 to {sizes['query'] - 1}, question words 0 to {sizes['key'] - 1}"
        raise InputError(f"There is no cell {query}.{key}: {ranges}.")


def cell_facts(trace: AttentionTrace, terms: Mapping[str, np.ndarray], query: int, key: int) -> dict:
    """The exact numbers of one cell of a reader's trace, with the terms [d] of its score.

    score; centred: the score minus the mean of its row; weight; rank: of the weight in its row, largest first; of: the
    row's length; sentinel: the share of the row that no word has, 0 without a sentinel; terms: [name, value]; alike:
    names of the terms without u, which are equal along a row and cancel in the softmax over the question; alike_down:
    those without h, equal along a column; dimensions: the largest products, as (index of the term, dimension, value);
    width: d.
    over_passage: the weight of the passage word for the question word, with its rank among passage words and the
    sentinel's share; `one_for_all` where all question words have one distribution, as in BiDAF; only of readers whose
    question words attend too.
    """
    sites = (trace.site(ATTENTION.with_quantity(name)).transpose("query", "key") for name in ("weight", "relevance"))
    weights, scores = (array.values[query].astype(np.float64) for array in sites)
    products = [
        (i, dimension, float(value)) for i, term in enumerate(terms.values()) for dimension, value in enumerate(term)
    ]
    return {
        "score": float(scores[key]),
        "centred": float(scores[key] - scores.mean()),
        "weight": float(weights[key]),
        "rank": int((weights > weights[key]).sum()) + 1,
        "of": len(weights),
        "sentinel": _sentinel_share(weights),
        "terms": [[name, float(term.sum(dtype=np.float64))] for name, term in terms.items()],
        "alike": [name for name in terms if not QUESTION.search(name)],
        "alike_down": [name for name in terms if not PASSAGE.search(name)],
        "dimensions": sorted(products, key=lambda product: -abs(product[2]))[:DIMENSIONS],
        "width": len(next(iter(terms.values()))),
    } | _over_passage(trace, query, key)


def _over_passage(trace: AttentionTrace, query: int, key: int) -> dict[str, dict]:
    if OVER_PASSAGE not in trace.sites:
        return {}
    array = trace.site(OVER_PASSAGE)
    is_per_word = "key" in array.dims
    weights = (array.isel(key=key) if is_per_word else array).values.astype(np.float64)
    rank = int((weights > weights[query]).sum()) + 1
    facts = {"weight": float(weights[query]), "rank": rank, "of": len(weights)}
    return {"over_passage": facts | {"sentinel": _sentinel_share(weights), "one_for_all": not is_per_word}}


def _sentinel_share(weights: np.ndarray) -> float:
    """What a distribution over words leaves to a sentinel, as DCN has one; rounding is none."""
    share = 1 - float(weights.sum())
    return share if share >= SOME else 0.0
