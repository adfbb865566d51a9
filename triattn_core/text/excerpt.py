"""Of a text that is too long for a model, the part most relevant to the question."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection
from itertools import accumulate

from triattn_core.text.segmentation import sentences
from triattn_core.text.tokenizer import Tokens

UNIT = 10**9  # integer scores, so that ties are exact


def best_excerpt(tokens: Tokens, text: str, max_tokens: int, relevant_ids: Collection[int]) -> Tokens:
    """The run of at most `max_tokens` tokens that shares most with `relevant_ids`; the first one on ties.

    It starts at a sentence, or ends with the text.  A relevant token scores 1 / its count in the text: a name more than
    "the".  A text that fits is returned unchanged.
    """
    if len(tokens) <= max_tokens:
        return tokens
    counts = Counter(tokens.ids)
    cumulative_score = [0, *accumulate(UNIT // counts[id_] if id_ in relevant_ids else 0 for id_ in tokens.ids)]
    starts, last = [start for start, _ in tokens.spans], len(tokens) - max_tokens
    candidates = sorted({min(last, bisect_left(starts, start)) for start, _ in sentences(text)} | {last})
    return tokens.run(
        max(candidates, key=lambda candidate: cumulative_score[candidate + max_tokens] - cumulative_score[candidate]),
        max_tokens,
        text,
    )
