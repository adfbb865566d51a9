"""A table of cases that grows in a temporary file, so that memory does not grow with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from triattn_core.analysis.mining.case_rows import CaseRows
from triattn_core.analysis.mining.case_table import GROUP, WINDOW
from triattn_core.text.atomic_write import one_line


class CaseSpill:
    """Takes the tables of batches, in any order within a window of WINDOW rows, and gives them back in the order of the
    file.

    file: where they are put, on the disk of `out`.  types: the columns.  rows: how many there are so far.
    """

    def __init__(self, file: Path, out: Path, types: dict[str, pa.DataType]):
        self.rows, self._file, self._out, self._types = 0, file, out, types
        self._pending: list[pd.DataFrame] = []
        self._writer = pq.ParquetWriter(file, pa.schema(list(types.items())), compression="zstd")

    @property
    def held(self) -> int:
        """The number of rows in memory."""
        return sum(map(len, self._pending))

    def append(self, table: pd.DataFrame) -> None:
        """Add the table of a batch.  Raises DataError if it cannot be written."""
        self.rows += len(table)
        self._pending.append(table)
        if self.held >= GROUP + WINDOW:  # all but the last WINDOW rows are of windows that are done
            self._write(GROUP)

    def _write(self, count: int) -> None:
        """Write the first so many rows of those that are pending."""
        table = pd.concat(self._pending, ignore_index=True).sort_values("row", ignore_index=True)
        first = pa.table({name: pa.array(table[name][:count], kind) for name, kind in self._types.items()})
        self._pending = [table[count:]]
        with one_line(self._out):
            self._writer.write_table(first, GROUP)

    def finish(self) -> None:
        """Write what is pending; no table can be added any more.  Raises DataError if it cannot be written."""
        if self._pending and self._writer.is_open:
            self._write(self.held)
        with one_line(self._out):
            self._writer.close()

    def close(self) -> None:
        """Let go of the file, whether it is finished or not."""
        with suppress(OSError):
            self._writer.close()

    def tables(self) -> Iterator[pa.Table]:
        """The rows, in the order of the file, in pieces of GROUP."""
        file = pq.ParquetFile(self._file)
        return (file.read_row_group(number) for number in range(file.num_row_groups))

    def case_rows(self) -> CaseRows:
        """The rows, read when they are asked for, while the file is there."""
        return CaseRows.of_files([self._file])


@contextmanager
def spilling(out: Path, types: dict[str, pa.DataType]) -> Iterator[CaseSpill]:
    """A spill on the disk of `out`, which is gone when the block ends; for a pipe, among temporary files.

    Raises DataError if it cannot be written.
    """
    on_disk = out.is_dir() or out.is_file() or not out.exists()
    with TemporaryDirectory(".part", ".triattn-", out.resolve().parent if on_disk else None) as folder:
        spill = CaseSpill(Path(folder, "cases.parquet"), out, types)
        try:
            yield spill
        finally:
            spill.close()
