"""A file of rows under way: a batch a step, for command line and pages alike; mining, or a question put to each row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

import pandas as pd

from triattn_core.analysis.mined import TOLD, About, Checkpoint, Mined, joined
from triattn_core.analysis.mining import Part, mine
from triattn_core.analysis.sources import Source, examples
from triattn_core.attention.similarity.exponential import at_once
from triattn_core.checkpoint import Bundle
from triattn_core.errors import DataError

MANY, SMALL = 200, 8  # of fewer lines the batches are small, and nothing is compiled for them


@dataclass
class Run:
    """Who holds it takes steps, and stops when they like; what it has is kept.

    over: makes parts of rows, as `contexts.over` does, of the first `most` lines; without it cases are mined.
    lines: of the file, about; line: how far it is read; whole: to its end.
    """

    bundles: Sequence[Bundle]
    source: Source
    command: str = ""
    over: Callable[[Iterator], Iterator[Part]] | None = None
    most: int | None = None
    parts: list[Part] = field(default_factory=list)
    whole: bool = False
    seconds: float = 0.0

    def __post_init__(self):
        lines = self.source.count(self.bundles[0].task.NAME)
        self.lines = min(lines, self.most or lines)
        rows = islice(examples(self.bundles[0].task.NAME, self.source), self.most)
        small = SMALL if self.lines < MANY else 64
        self._parts = mine(self.bundles, rows, small) if self.over is None else self.over(rows)

    @property
    def line(self) -> int:
        return self.parts[-1].line if self.parts else 0

    @property
    def rows(self) -> int:
        """How many are in the table so far."""
        return sum(part.table["row"].nunique() for part in self.parts if len(part.table))

    @property
    def aside(self) -> int:
        return sum(len(part.aside) for part in self.parts)

    def step(self) -> bool:
        """One batch more; False where there is none."""
        started = time.perf_counter()
        with at_once() if self.lines < MANY else nullcontext():
            part = next(self._parts, None)
        self.seconds += time.perf_counter() - started
        if part is None:
            self.whole = True
        else:
            self.parts.append(part)
        return part is not None

    def table(self) -> pd.DataFrame:
        """What a question has so far.  Raises DataError where no row could be read."""
        self._told()
        return pd.concat([part.table for part in self.parts], ignore_index=True)

    def _told(self) -> list[str]:
        told = [one for part in self.parts for one in part.aside]
        if not self.rows:
            raise DataError(told[0] if told else f"{self.source.name}: no row in it")
        return told

    def mined(self) -> Mined:
        """What it has.  Raises DataError where no row could be read."""
        told = self._told()
        first = self.bundles[0]
        about = About(
            task=first.task.NAME,
            language=first.config.language,
            checkpoints=tuple(map(_named, self.bundles)),
            data=self.source.name,
            sha256=self.source.sha256,
            lines=self.line,
            whole=self.whole,
            aside=len(told),
            complaints=tuple(told[: TOLD]),
            seconds=round(self.seconds, 2),
            device=first.device,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            command=self.command,
        )
        return joined([part.table for part in self.parts], about)


def _named(bundle: Bundle) -> Checkpoint:
    model = bundle.config.model
    similarity = getattr(model, "similarity", None)
    return Checkpoint(name=bundle.name, mechanism=model.mechanism, similarity=similarity, digest=bundle.digest)
