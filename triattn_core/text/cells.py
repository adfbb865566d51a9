"""Filtering (Tri-Attention, section V-B): a long sequence as a few cells, each a run of tokens to be averaged.

Runs are disjoint and never cross the end of a turn or a sentence, so that every cell unfolds to its tokens and belongs
to one segment.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import groupby

Run = tuple[int, int]

_END = re.compile(
    r"""(?<!\b[A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bvs)[.!?]+["'”’)\]]*\s+|[。！？]+[”’」』）]*|\n+""",
    re.VERBOSE,
)
_CLAUSE = re.compile(
    r"""[,;:]+["'”’)\]]*\s+|[)\]]+[,;:]*\s+|\s+(?=[(\[])|\s[-–—]+\s+|—|[，、；：]+[”’」』）]*""",
)


def cells(segments: Sequence[Hashable], most: int) -> tuple[Run, ...]:
    """Runs `(start, end)` over tokens, in order: at most `most`, and no more than there are tokens.

    segments: the segment of each token; tokens of one segment stand together.  Each segment has a cell; the others go
    where cells are longest.  More segments than `most` have a cell each all the same: see `merged`.
    """
    runs, start = [], 0
    for _, group in groupby(segments):
        size = sum(1 for _ in group)
        runs.append((start, size))
        start += size
    counts = [1] * len(runs)
    heap = [(-size, i) for i, (_, size) in enumerate(runs) if size > 1]
    heapq.heapify(heap)
    for _ in range(min(most, len(segments)) - len(runs)):
        _, i = heapq.heappop(heap)
        counts[i] += 1
        if counts[i] < runs[i][1]:
            heapq.heappush(heap, (-runs[i][1] / counts[i], i))
    return tuple(
        (start + size * k // count, start + size * (k + 1) // count)
        for (start, size), count in zip(runs, counts)
        for k in range(count)
    )


@lru_cache(1024)
def sentences(text: str) -> tuple[Run, ...]:
    """Spans of the sentences of a text: they touch, and together they are the text."""
    return _cut(text, [match.end() for match in _END.finditer(text)])


@lru_cache(1024)
def phrases(text: str) -> tuple[Run, ...]:
    """Spans of the stretches between punctuation marks, which stand with what they end; they touch, and together they
    are the text.  A mark inside a word or a number ends nothing."""
    return _cut(text, sorted({match.end() for marks in (_END, _CLAUSE) for match in marks.finditer(text)}))


def _cut(text: str, ends: Sequence[int]) -> tuple[Run, ...]:
    ends = [end for end in ends if text[:end].strip() and text[end:].strip()] + [len(text)]
    return tuple(zip([0, *ends], ends))


def merged(spans: Sequence[Run], most: int) -> tuple[tuple[int, int, Run], ...]:
    """(first, last, span) of at most `most` segments from touching spans: the shortest neighbours are joined first."""
    found = [(i, i, span) for i, span in enumerate(spans)]
    while len(found) > max(1, most):
        sizes = [found[i + 1][2][1] - found[i][2][0] for i in range(len(found) - 1)]
        i = sizes.index(min(sizes))
        (first, _, (start, _)), (_, last, (_, end)) = found[i : i + 2]
        found[i : i + 2] = [(first, last, (start, end))]
    return tuple(found)
