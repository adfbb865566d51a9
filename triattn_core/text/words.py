"""Words of several tokens as cells, and a long text as windows that overlap."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import fields, replace

from triattn_core.text.cells import Run
from triattn_core.text.roles import Role

OVERLAP = 4  # a quarter of a window is read with the next one again


def words(role: Role, most: int) -> Role:
    """The same tokens with each word a cell, of at most `most` tokens; a piece that goes on begins with ##."""
    runs: list[Run] = []
    for i, string in enumerate(role.strings):
        if runs and string.startswith("##") and i - runs[-1][0] < most:
            runs[-1] = runs[-1][0], i + 1
        else:
            runs.append((i, i + 1))
    return replace(role, cells=tuple(runs))


def windows(role: Role, most: int) -> list[Role]:
    """The whole where it has at most `most` tokens; else parts of whole cells, in order, which overlap by a quarter."""
    runs, found, first, last = role.runs, [], 0, 0
    starts, ends = [start for start, _ in runs], [end for _, end in runs]
    while last < len(runs):
        last = max(first + 1, bisect_left(ends, runs[first][0] + most + 1))
        found.append(_part(role, runs[first:last]))
        again = bisect_left(starts, runs[last - 1][1] - most // OVERLAP)
        first = min(last, max(first + 1, again))
    return found


def _part(role: Role, runs: Sequence[Run]) -> Role:
    start, end = runs[0][0], runs[-1][1]
    columns = {field.name: getattr(role, field.name)[start:end] for field in fields(role) if field.name != "cells"}
    return Role(**columns, cells=tuple((a - start, b - start) for a, b in runs))
