"""Rows of a Parquet file whose columns are the fields of a row, read in batches."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds

from triattn_core.errors import DataError, TruncationError
from triattn_core.text.rows import LINE_LIMIT

BATCH = 1024  # rows decoded together
BUFFER = 1 << 20  # bytes read ahead of a column, in place of its whole row group
PLAIN = (kinds.is_string, kinds.is_large_string, kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_null)


def is_parquet(name: str) -> bool:
    """Whether a file is Parquet, by its name."""
    return name.endswith(".parquet")


def count_rows(file: BufferedIOBase) -> int:
    """The number of rows, for a progress bar; 0 if the file cannot be read."""
    try:
        return pq.read_metadata(file).num_rows
    except (OSError, pa.ArrowException):
        return 0


def each_row(file: BufferedIOBase, name: str) -> Iterator[tuple[int, dict | DataError]]:
    """Yield (number from 1, the row or the error with it) for each row; raises nothing.

    Empty cells are left out, and so are columns of other types than JSON has, such as dates.  Whole numbers that are
    stored as floating point, as pandas does where some are missing, become integers.  If the file cannot be read
    further, the last pair holds a TruncationError.
    """
    number = 0
    try:
        parquet = pq.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
        columns = [field.name for field in parquet.schema_arrow if _is_plain(field.type)]
        groups = range(parquet.num_row_groups)  # each by itself: a damaged one costs none before it
        batches = (batch for group in groups for batch in parquet.iter_batches(BATCH, [group], columns))
        for batch in batches:
            for row in _rows(batch):
                number += 1
                yield number, DataError(f"{name}:{number}: {row}") if isinstance(row, str) else row
    except (OSError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        yield number + 1, TruncationError(f"{name}:{number + 1}: damaged, or not Parquet despite its name ({reason})")


def _is_plain(kind: pa.DataType) -> bool:
    if kinds.is_dictionary(kind):
        return _is_plain(kind.value_type)
    if kinds.is_list(kind) or kinds.is_large_list(kind):
        return _is_plain(kind.value_type)
    if kinds.is_struct(kind):
        return all(_is_plain(field.type) for field in kind)
    return any(is_kind(kind) for is_kind in PLAIN)


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | str]:
    """The rows of a batch, or what is wrong with them."""
    try:
        yield from map(_row, batch.to_pylist())
        return
    except UnicodeDecodeError:  # of one of them at least; nothing was yielded
        pass
    for i in range(len(batch)):
        try:
            (row,) = batch.slice(i, 1).to_pylist()
        except UnicodeDecodeError:
            yield "not UTF-8 text"
        else:
            yield _row(row)


def _row(cells: dict[str, Any]) -> dict[str, Any] | str:
    if any(isinstance(value, str) and len(value) > LINE_LIMIT for value in cells.values()):
        return f"a text of over {LINE_LIMIT:,} characters is not a row"
    row = {}
    for name, value in cells.items():
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is not None and value == value:  # no number is NaN
            row[name] = value
    return row
