"""BLEU of what a translation model of others writes of its sources: the most likely token, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from triattn_core.analysis.score_test import paired_test
from triattn_core.errors import InputError
from triattn_core.importers.text_rows import TextRow
from triattn_core.sources.transformer import NEXT_TOKEN, Transformer
from triattn_core.sources.transformer_inputs import read_text
from triattn_core.sources.written import with_start, write
from triattn_core.tasks import translation

BLEU = "bleu"
RATIO, MORE = 2, 10  # a translation has at most RATIO times the tokens of its source, and MORE

Counts = tuple[int, ...]


def is_translator(model: Any) -> bool:
    """Whether it is a model of others with a decoder that reads an encoder and writes."""
    return isinstance(model, Transformer) and model.writes and model.head == NEXT_TOKEN


def can_measure() -> bool:
    """Whether the package that measures BLEU is installed."""
    with suppress(InputError):
        return bool(translation.require_bleu())
    return False


def count_written(model: Transformer, row: TextRow) -> Counts:
    """The counts of `tasks.translation` of what a model writes of the first text; references: those of the row, else
    its second text.  Raises as `read_text`."""
    inputs, tokens = read_text(model, row.texts[0])
    most = min(RATIO * len(tokens) + MORE, model.longest)
    ids = write(model, with_start(model, inputs), most)
    text = model.tokenizer.decode(ids, skip_special_tokens=True).strip()
    return translation.counts((False, text, row.references or row.texts[1:]))


def corpus_score(counts: Sequence[Counts]) -> float:
    """BLEU of a file, in per cent, from the counts of its rows."""
    return round(translation.score(np.sum(counts, 0)), 2)


def compare_bleu(a: Mapping[int, Counts], b: Mapping[int, Counts]) -> dict[str, float]:
    """b less a over the rows of both, by line: `points` of BLEU, the ends of its 95 % interval `low` and `high`, and
    `p` of `score_test.paired_test`."""
    lines = sorted(a.keys() & b.keys())
    first, second = (np.array([[counts[line] for line in lines]], float) for counts in (a, b))
    points, low, high, p = paired_test(first, second, translation.score)
    return {"points": round(points, 2), "low": round(low, 2), "high": round(high, 2), "p": p}
