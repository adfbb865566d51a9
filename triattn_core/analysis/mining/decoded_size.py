"""The unpacked size of a Parquet file, checked before unpacking: repeated values take almost no space in the file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

BATCH_BYTES = 256 << 20  # most bytes of texts to decode at once
BATCH_ROWS = 4096
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}  # bytes of a decoded value


def require_decoded_size(file: pq.ParquetFile, limit: int) -> None:
    """Raises ValueError if the decoded columns take more bytes than `limit`; never decodes more than that.

    Columns of one number a row are counted from the metadata.  Texts and lists are decoded a few rows at a time,
    because the metadata do not have the lengths of repeated ones.  Metadata of single column chunks are not asked for:
    where these are damaged, pyarrow ends the whole process.
    """
    metadata, columns = file.metadata, [file.schema.column(number) for number in range(file.metadata.num_columns)]
    widths = [WIDTHS.get(column.physical_type) if column.max_repetition_level == 0 else None for column in columns]
    total = metadata.num_rows * sum(width or 0 for width in widths)
    names = {column.path.partition(".")[0]: None for column, width in zip(columns, widths) if width is None}
    largest = max((metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)), default=0)
    _require(max(total, largest), limit)
    rows = min(BATCH_ROWS, max(1, BATCH_BYTES // max(1, largest)))  # no value is longer than its row group
    for name in names:
        for batch in file.iter_batches(rows, columns=[name]):
            total += batch.nbytes
            _require(total, limit)


def read_frame(path: Path, limit: int) -> pd.DataFrame:
    """The table of a file.  Raises ValueError if it unpacks to more bytes than `limit`."""
    with pq.ParquetFile(path) as file:
        require_decoded_size(file, limit)
    return pd.read_parquet(path)


def _require(size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(f"it unpacks to more than {limit >> 20:,} MiB")
