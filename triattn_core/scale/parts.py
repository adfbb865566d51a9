"""The parts that workers wrote, as one table in the order of the file: each row once, whatever was killed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def ordered_parts(folder: Path, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """Yield tables of results (`worker.result_schema`), sorted by `row` within and between them, each row once.

    A worker that is killed after it wrote its part and before this was noted writes the part again: the first counts.
    Files whose rows overlap are read together, the others one by one.
    """
    together: list[Path] = []
    reach = -1
    for first, last, file in sorted(_spans(folder)):
        if together and first > reach:
            yield _sorted_once(together, columns)
            together = []
        together.append(file)
        reach = max(reach, last)
    if together:
        yield _sorted_once(together, columns)


def _spans(folder: Path) -> Iterator[tuple[int, int, Path]]:
    """The smallest and the largest row of each file that has any."""
    for file in folder.glob("*.parquet"):
        rows = pq.read_table(file, columns=["row"])["row"]
        if len(rows):
            ends = pc.min_max(rows)
            yield ends["min"].as_py(), ends["max"].as_py(), file


def _sorted_once(files: list[Path], columns: list[str] | None) -> pa.Table:
    table = pa.concat_tables([pq.read_table(file, columns=columns) for file in files])
    _, first = np.unique(table["row"].to_numpy(), return_index=True)
    return table.take(first)


def records(table: pa.Table) -> pa.Table:
    """The records of all rows, one after another, as a flat table."""
    return pa.Table.from_struct_array(table["records"].combine_chunks().flatten())


def errors(table: pa.Table) -> list[str]:
    """Why rows were set aside, with their lines."""
    return table["error"].drop_null().to_pylist()
