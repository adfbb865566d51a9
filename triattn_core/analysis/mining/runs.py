"""A run over a file of rows in steps, for the command line and pages: case mining, or an analysis of each row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

import pandas as pd

from triattn_core.analysis.measures import cases, measure_rows
from triattn_core.analysis.mining.case_table import MAX_COMPLAINTS, CaseTable, Checkpoint, TableInfo, join_tables
from triattn_core.analysis.mining.failing_rows import Over
from triattn_core.analysis.mining.miner import Batch, TablePart, batches
from triattn_core.analysis.mining.sources import Source, read_examples, watch_truncation
from triattn_core.attention.tri_similarity.exponential import without_compilation
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import DataError
from triattn_core.inference.device import package_versions

MANY, SMALL = 200, 8  # with fewer lines than MANY, batches are SMALL and nothing is compiled


@dataclass
class Run:
    """A resumable loop: the caller takes steps and may stop at any time, even during one; parts so far are kept, and an
    interrupted step is computed again.

    bundles: checkpoints, or with `read` other models, each with a name and a device.
    analyse: makes the table of a row, such as `context_shares.measure_rows`; without it, cases are mined.  max_rows:
    read only the first lines.  read: yields the rows of the source, by default the examples of the checkpoints' task.
    sink: takes the table of each part, which is not kept then.  size: texts of a batch of cases, by default by how
    many lines there are.
    lines: approximate number of lines; line: last line read; is_complete: whether all rows that can be read are in
    the table; truncated: why the file was not read to its end, if so.
    """

    bundles: Sequence[Any]
    source: Source
    command: str = ""
    analyse: Over | None = None
    max_rows: int | None = None
    read: Callable[[Source], Iterator[tuple[int, object]]] | None = None
    sink: Callable[[pd.DataFrame], object] | None = None
    size: int | None = None
    parts: list[TablePart] = field(default_factory=list)
    is_complete: bool = False
    seconds: float = 0.0

    def __post_init__(self):
        if self.read is None:
            task = self.bundles[0].task.NAME
            lines, found = self.source.count(task), read_examples(task, self.source)
        else:
            lines, found = self.source.lines, self.read(self.source)
        self.lines = min(lines, self.max_rows or lines)
        self._sunk = 0
        self._truncation: list[str] = []
        rows = watch_truncation(islice(found, self.max_rows), self._truncation)
        if self.analyse is None:
            size = self.size or (SMALL if self.lines < MANY else 64)
            self._parts = (partial(self._mine, batch) for batch in batches(self.bundles, rows, size))
        else:
            self._parts = (partial(self._row, row) for row in rows)
        self._under_way: Callable[[], TablePart] | None = None

    def _mine(self, batch: Batch) -> TablePart:
        (part,) = measure_rows(cases(self.bundles), batch.rows, len(batch.rows))
        return replace(part, line=batch.line)

    def _row(self, row: tuple[int, Any]) -> TablePart:
        assert self.analyse is not None  # else the rows are mined in batches
        return next(measure_rows(self.analyse, [row]))

    @property
    def truncated(self) -> str:
        return "".join(self._truncation)

    @property
    def line(self) -> int:
        return self.parts[-1].line if self.parts else 0

    @property
    def rows(self) -> int:
        """The number of rows in the table so far."""
        return self._sunk + sum(part.table["row"].nunique() for part in self.parts if len(part.table))

    @property
    def aside(self) -> int:
        return sum(len(part.aside) for part in self.parts)

    def step(self) -> bool:
        """Runs one more batch; returns False if there is none."""
        if self._under_way is None:
            self._under_way = next(self._parts, None)
        compute = self._under_way
        if compute is None:
            self.is_complete = True
            return False
        start = time.perf_counter()
        with without_compilation() if self.lines < MANY else nullcontext():
            part = compute()
        if self._under_way is compute:  # an interrupted step may end in one thread after another has restarted it
            self._under_way = None
            self._keep(part)
            self.seconds += time.perf_counter() - start
        return True

    def _keep(self, part: TablePart) -> None:
        if self.sink is None:
            self.parts.append(part)
            return
        if len(part.table):  # else it may lack the columns
            self.sink(part.table)
        self._sunk += len(part.table)
        aside = (*self.parts[0].aside, *part.aside) if self.parts else part.aside
        self.parts = [TablePart(pd.DataFrame(), aside, part.line)]

    def table(self) -> pd.DataFrame:
        """The analysis table so far.  Raises DataError if no row could be read."""
        self._error_lines()
        return pd.concat([part.table for part in self.parts], ignore_index=True)

    def _error_lines(self) -> list[str]:
        complaints = [complaint for part in self.parts for complaint in part.aside]
        if not self.rows:
            raise DataError(complaints[0] if complaints else f"{self.source.name}: no row in it")
        return complaints

    def case_table(self) -> CaseTable:
        """The case table so far.  Raises DataError if no row could be read."""
        about = self.table_info()
        return join_tables([part.table for part in self.parts if len(part.table)], about)

    def table_info(self) -> TableInfo:
        """The provenance of the case table so far.  Raises DataError if no row could be read."""
        complaints = self._error_lines()
        return table_info(
            self.bundles, self.source, self.line, self.is_complete, complaints, self.seconds, self.command,
            self.truncated,
        )  # fmt: skip


def table_info(
    bundles: Sequence[Bundle],
    source: Source,
    lines: int,
    is_complete: bool,
    complaints: Sequence[str],
    seconds: float,
    command: str,
    truncated: str = "",
    device: str | None = None,
) -> TableInfo:
    """The provenance of a table that was mined just now.  device: of the workers; None: that of the checkpoints."""
    first = bundles[0]
    return TableInfo(
        task=first.task.NAME,
        language=first.config.language,
        checkpoints=tuple(map(_checkpoint_info, bundles)),
        data=source.name,
        sha256=source.sha256,
        lines=lines,
        whole=is_complete and not truncated,
        aside=len(complaints),
        complaints=tuple(complaints[:MAX_COMPLAINTS]),
        seconds=round(seconds, 2),
        device=device or first.device,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        versions=dict(package_versions()),
        truncated=truncated,
    )


def _checkpoint_info(bundle: Bundle) -> Checkpoint:
    model = bundle.config.model
    similarity = getattr(model, "similarity", None)
    return Checkpoint(name=bundle.name, mechanism=model.mechanism, similarity=similarity, digest=bundle.digest)
