"""A command whose rows were set aside for the most part: it says so, fails, and keeps what a resumed run needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triattn_core.scale.job import RayJob

LEAST, SHARE = 20, 0.5  # rows from which on a share is judged, and the share from which on it is too much


def is_too_many(aside: int, rows: int) -> bool:
    """Whether so many rows set aside, beside `rows` others, say that something else is wrong than rows."""
    return aside + rows >= LEAST and aside > SHARE * (aside + rows)


def exit_status(aside: int, rows: int, reasons: Sequence[str]) -> int:
    """1, with a warning on stderr, if too many rows were set aside, else 0.  reasons: the first of their errors."""
    if not is_too_many(aside, rows):
        return 0
    print(f"triattn: WARNING: {aside:,} of {aside + rows:,} rows were set aside, more than half", file=sys.stderr)
    for reason in reasons[:1]:
        print(f"triattn: the first: {reason}", file=sys.stderr)
    return 1


def clear(job: RayJob, aside: int) -> None:
    """Remove what a job has kept; not if too many rows were set aside.  Raises nothing if it cannot be removed: a line
    says so."""
    if not is_too_many(aside, job.rows - aside):
        if reason := job.clear():
            print(f"triattn: kept: {job.folder}; it cannot be removed ({reason})", file=sys.stderr)
        return
    print(f"triattn: kept: {job.folder}; delete it to compute these rows again", file=sys.stderr)
