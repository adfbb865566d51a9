"""Long texts as overlapping windows, and words of several tokens as cells that no window cuts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import fields, replace

from triattn_core.text.roles import Role
from triattn_core.text.segmentation import Run

OVERLAP = 4  # 1 / the share of a window that overlaps with the next


def with_word_cells(role: Role, max_tokens: int) -> Role:
    """The same tokens with one cell per word (pieces with ## continue it), of at most `max_tokens` tokens."""
    runs: list[Run] = []
    for i, string in enumerate(role.strings):
        if runs and string.startswith("##") and i - runs[-1][0] < max_tokens:
            runs[-1] = runs[-1][0], i + 1
        else:
            runs.append((i, i + 1))
    return replace(role, cells=tuple(runs))


def windows(role: Role, max_tokens: int) -> list[Role]:
    """The role itself if it has at most `max_tokens` tokens; otherwise windows of whole cells that overlap by a
    quarter."""
    runs, parts, first, last = role.runs, [], 0, 0
    starts, ends = [start for start, _ in runs], [end for _, end in runs]
    while last < len(runs):
        last = max(first + 1, bisect_left(ends, runs[first][0] + max_tokens + 1))
        parts.append(_part(role, runs[first:last]))
        overlap_start = bisect_left(starts, runs[last - 1][1] - max_tokens // OVERLAP)
        first = min(last, max(first + 1, overlap_start))
    return parts


def _part(role: Role, runs: Sequence[Run]) -> Role:
    start, end = runs[0][0], runs[-1][1]
    columns = {field.name: getattr(role, field.name)[start:end] for field in fields(role) if field.name != "cells"}
    return Role(**columns, cells=tuple((a - start, b - start) for a, b in runs))
