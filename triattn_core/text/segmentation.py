"""Filtering (Tri-Attention, section V-B): a long sequence as a few cells, each a run of tokens that are averaged.

Runs are disjoint and never cross the end of a turn or sentence, so that every cell belongs to one segment and can be
unfolded to its tokens.
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


def divide_into_cells(segments: Sequence[Hashable], max_cells: int) -> tuple[Run, ...]:
    """Runs `(start, end)` over tokens, in order: at most `max_cells`, and not more than there are tokens.

    segments: the segment of each token; tokens of a segment are contiguous.  Each segment gets one cell, even if there
    are more segments than `max_cells` (see `merge_spans`); further cells split the longest ones.
    """
    runs, start = [], 0
    for _, group in groupby(segments):
        size = sum(1 for _ in group)
        runs.append((start, size))
        start += size
    counts = [1] * len(runs)
    heap: list[tuple[float, int]] = [(-size, i) for i, (_, size) in enumerate(runs) if size > 1]
    heapq.heapify(heap)
    for _ in range(min(max_cells, len(segments)) - len(runs)):
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
    """Spans of the sentences of a text, contiguous and covering all of it."""
    return _cut(text, [match.end() for match in _END.finditer(text)])


@lru_cache(1024)
def phrases(text: str) -> tuple[Run, ...]:
    """Spans between punctuation marks, each with the mark at its end; contiguous and covering all of the text.  Marks
    inside a word or number do not count."""
    return _cut(text, sorted({match.end() for marks in (_END, _CLAUSE) for match in marks.finditer(text)}))


def _cut(text: str, ends: Sequence[int]) -> tuple[Run, ...]:
    ends = [end for end in ends if text[:end].strip() and text[end:].strip()] + [len(text)]
    return tuple(zip([0, *ends], ends))


def merge_spans(spans: Sequence[Run], max_groups: int) -> tuple[tuple[int, int, Run], ...]:
    """(first, last, span) of at most `max_groups` groups of contiguous spans; the shortest neighbours merge first."""
    groups = [(i, i, span) for i, span in enumerate(spans)]
    while len(groups) > max(1, max_groups):
        sizes = [groups[i + 1][2][1] - groups[i][2][0] for i in range(len(groups) - 1)]
        i = sizes.index(min(sizes))
        (first, _, (start, _)), (_, last, (_, end)) = groups[i : i + 2]
        groups[i : i + 2] = [(first, last, (start, end))]
    return tuple(groups)
