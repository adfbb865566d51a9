"""Traces of a reader's attention between a passage and a question, from a seed."""

from __future__ import annotations

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.views import similarity

PASSAGE = "The red <boat> left, the blue boat stayed."


QUESTION = "Which boat left?"


M, N = 7, 3


def coords(axis: str, text: str, name: str, count: int) -> dict:
    spans, start = [], 0
    for word in text.split()[:count]:
        at = text.index(word, start)
        spans.append((word, at, at + len(word)))
        start = at + len(word)
    columns = {
        "token": [span[0] for span in spans],
        "start": [span[1] for span in spans],
        "end": [span[2] for span in spans],
    }
    columns |= {"text": [name] * count, "special": [0] * count, "segment": [""] * count, "tokens": [1] * count}
    return {f"{axis}_{column}": (axis, values) for column, values in columns.items()}


def softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def make_trace(seed: int = 1, size: float = 1.0, m: int = M, checkpoint: str = "one") -> AttentionTrace:
    draw = np.random.default_rng(seed)
    query, key = coords("query", PASSAGE, "passage", m), coords("key", QUESTION, "question", N)
    scores = size * draw.normal(size=(m, N))
    sites = {
        "attention/relevance": (scores, query | key, ("query", "key"), {"quantity": "relevance", "sums_over": ""}),
        "attention/weight": (
            softmax(scores),
            query | key,
            ("query", "key"),
            {"quantity": "weight", "sums_over": "key"},
        ),
    }
    for end in ("start", "end"):
        values = softmax(3 * draw.normal(size=m))
        sites[f"{end}/weight"] = (values, query, ("query",), {"quantity": "weight", "sums_over": "query"})
    arrays = {n: xr.DataArray(v.astype(np.float32), c, d, attrs=a) for n, (v, c, d, a) in sites.items()}
    return AttentionTrace(arrays, {"passage": PASSAGE, "question": QUESTION}, {"checkpoint": checkpoint})


def panels() -> list[similarity.FunctionPanel]:
    """The best answer of the first is `blue boat`; that of the second stands in another part."""
    left = PASSAGE.index("blue")
    return [
        similarity.FunctionPanel("dot-product", make_trace(1), ((left, left + 9, 0.4), (0, 3, 0.2)), True),
        similarity.FunctionPanel("cosine", make_trace(2, 0.1, checkpoint="two"), ((0, 3, 0.3),), False, 4),
    ]
