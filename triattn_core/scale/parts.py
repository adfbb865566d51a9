"""The parts that workers wrote, as one table in the order of the file: each row once, whatever was killed meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 8192  # of a table, at least, but for the last
OPEN = 32  # files at a time
GAP = 16  # lines without a row, such as empty ones, that do not end a range, at most


class RowRange(NamedTuple):
    """Rows `first` to `last` in a row group of a file, with no large gap between them."""

    first: int
    last: int
    file: Path
    group: int


def ordered_parts(folder: Path, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """Yield tables of results (`worker.result_schema`), sorted by `row` within and between them, each row once.

    A worker that is killed after it wrote its part and before this was noted writes the part again: the first counts.
    A batch may hold rows from far apart in the file, so it is ranges of rows that are merged; the results of one table
    are held at a time.
    """
    open_file = lru_cache(OPEN)(pq.ParquetFile)
    together: list[RowRange] = []
    reach = -1
    for rows in sorted(_row_ranges(folder)):
        if together and rows.first > reach and reach - together[0].first >= ROWS - 1:
            yield _sorted_once(together, open_file, columns)
            together = []
        together.append(rows)
        reach = max(reach, rows.last)
    if together:
        yield _sorted_once(together, open_file, columns)


def _row_ranges(folder: Path) -> Iterator[RowRange]:
    for path in folder.glob("*.parquet"):
        file = pq.ParquetFile(path)
        rows, start = file.read(["row"])["row"].to_numpy(), 0
        for group in range(file.num_row_groups):
            stop = start + file.metadata.row_group(group).num_rows
            part, start = rows[start:stop], stop
            steps = np.diff(part)
            for part_rows in np.split(part, np.flatnonzero((steps < 1) | (steps > GAP)) + 1):
                if len(part_rows):
                    yield RowRange(int(part_rows[0]), int(part_rows[-1]), path, group)


def _sorted_once(
    ranges: Sequence[RowRange], open_file: Callable[[Path], pq.ParquetFile], columns: list[str] | None
) -> pa.Table:
    """The rows of these ranges, of which no other has any."""
    low, high = ranges[0].first, max(rows.last for rows in ranges)
    tables = []
    for path, group in dict.fromkeys((rows.file, rows.group) for rows in ranges):
        table = open_file(path).read_row_group(group, columns)
        tables.append(table.filter((pc.field("row") >= low) & (pc.field("row") <= high)))
    table = pa.concat_tables(tables)
    _, first = np.unique(table["row"].to_numpy(), return_index=True)
    return table.take(first)


def records(table: pa.Table) -> pa.Table:
    """The records of all rows, one after another, as a flat table."""
    return pa.Table.from_struct_array(table["records"].combine_chunks().flatten())


def errors(table: pa.Table) -> list[str]:
    """Why rows were set aside, with their lines."""
    return table["error"].drop_null().to_pylist()
