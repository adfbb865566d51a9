"""Of a text that is longer than a model reads, the part that is nearest to what is asked."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection
from itertools import accumulate

from triattn_core.text.cells import sentences
from triattn_core.text.tokenizer import Tokens

UNIT = 10**9  # whole numbers: equal runs are equal


def nearest(tokens: Tokens, text: str, most: int, asked: Collection[int]) -> Tokens:
    """The run of at most `most` tokens that shares most with the ids that are asked for; the first of equal ones.

    It begins where a sentence begins, or ends with the text.  A token that is asked for counts one over how often it
    stands in the text: a name more than "the".  A text that fits is left as it is.
    """
    if len(tokens) <= most:
        return tokens
    often = Counter(tokens.ids)
    worth = [0, *accumulate(UNIT // often[one] if one in asked else 0 for one in tokens.ids)]
    starts, last = [start for start, _ in tokens.spans], len(tokens) - most
    begins = sorted({min(last, bisect_left(starts, start)) for start, _ in sentences(text)} | {last})
    return tokens.run(max(begins, key=lambda begin: worth[begin + most] - worth[begin]), most, text)
