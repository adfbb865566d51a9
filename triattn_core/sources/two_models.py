"""Two models of others over the same rows: how much of each row either has right, and which words.

The difference is tested over rows: by McNemar's test where a row is right or wrong, by flipped signs where it is right
in part.  Of words, two models may cut a text into other tokens: each is asked for its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch

from triattn_core.analysis.mining.failing_rows import measure_each
from triattn_core.analysis.significance import paired_p
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow
from triattn_core.importers.token_coords import name_ids
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.own_text import names_of_labels
from triattn_core.sources.row_answers import AskedSpans, ask_row
from triattn_core.sources.transformer import Transformer

Model = Transformer | OwnModule
SIDES = ("a", "b")  # the columns of the two models


@dataclass(frozen=True)
class RowDifference:
    """b less a over the rows that both were asked.

    rows: how many.  points: of what is right, in per cent.  p, test: of `significance.paired_p`.  more: the lines of
    which a, and of which b has more right, the furthest apart first.
    """

    rows: int
    points: float
    p: float
    test: str
    more: tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Judged:
    """One thing that a model is asked of a row, its label or a next word: what is `right` and what it `said`, the most
    likely, each with its probability."""

    right: str
    probability: float
    said: str
    said_probability: float

    @property
    def is_right(self) -> bool:
        return self.said == self.right


def compare_rows(a: Mapping[int, float], b: Mapping[int, float]) -> RowDifference:
    """a, b: of each model how much of a row is right, 0 to 1, by its line.  Raises DataError without common rows."""
    lines = sorted(a.keys() & b.keys())
    if not lines:
        raise DataError("no row was asked of both models")
    left, right = (np.array([shares[line] for line in lines]) for shares in (a, b))
    p, test = paired_p(left, right)
    order, gain = np.argsort(-np.abs(right - left), kind="stable"), right - left
    more = [tuple(lines[i] for i in order if sign * gain[i] > 0) for sign in (-1, 1)]
    return RowDifference(len(lines), round(100 * float(gain.mean()), 2), p, test, (more[0], more[1]))


@torch.inference_mode()
def right_of(model: Model, row: TextRow) -> tuple[float, int]:
    """How much of a row a model has right, 0 to 1, and of how many words or labels.  Raises as `ask_row`."""
    asked = ask_row(model, row)
    count = 1 if isinstance(asked, AskedSpans) else asked.right.numel()
    return float(asked.score(asked.asked.run())[0, 0]), count


def measure_both(models: Sequence[Model], rows: Sequence[tuple[int, Any]]) -> pd.DataFrame:
    """Of each row `row`, what the first and the second model have right of it, `a`, `b`, and of how many words each is
    asked, `asked a`, `asked b`.  Raises as `ask_row`."""
    return measure_each(rows, partial(_both, models))


def _both(models: Sequence[Model], row: TextRow) -> pd.DataFrame:
    found = [right_of(model, row) for model in models]
    shares = {side: share for side, (share, _) in zip(SIDES, found)}
    return pd.DataFrame([shares | {f"asked {side}": count for side, (_, count) in zip(SIDES, found)}])


@torch.inference_mode()
def judge_row(model: Model, row: TextRow) -> list[Judged]:
    """What a model says where it is asked: once for a label or an answer, else at each next word.  Of an answer `right`
    is the likeliest of its spans, with the probability of all.  Raises as `ask_row`."""
    asked = ask_row(model, row)
    if isinstance(asked, AskedSpans):
        return [_judge_span(asked)]
    shares = asked.logits(asked.asked.run())[0].softmax(-1)
    ids, best = asked.right.reshape(-1), shares.argmax(-1)
    words = _names(model, [*ids.tolist(), *best.tolist()])
    odds = [shares.gather(-1, numbers[:, None])[:, 0].tolist() for numbers in (ids, best)]
    return [Judged(*parts) for parts in zip(words[: len(ids)], odds[0], words[len(ids) :], odds[1])]


def _judge_span(asked: AskedSpans) -> Judged:
    shares = asked.logits(asked.asked.run())[0, 0].softmax(-1)
    found, best = shares[asked.right], int(shares.argmax())
    likeliest = int(asked.right[found.argmax()])
    return Judged(asked.texts[likeliest], float(found.sum()), asked.texts[best], float(shares[best]))


def _names(model: Model, ids: list[int]) -> list[str]:
    """Of labels or tokens by their numbers."""
    if labels := names_of_labels(model):
        return [str(labels[i]) for i in ids]
    if isinstance(model, OwnModule):
        return [(model.names or ())[i] for i in ids]
    return [name for i in ids for name in name_ids(model.tokenizer, [i]).tokens]
