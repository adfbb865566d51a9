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

    Numbers are counted from the metadata.  Texts are decoded a few rows at a time, because the metadata do not have the
    lengths of repeated ones.
    """
    total = 0
    texts: dict[str, int] = {}
    for group in range(file.metadata.num_row_groups):
        for number in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(number)
            width = WIDTHS.get(column.physical_type)
            if width is None:
                name = column.path_in_schema.partition(".")[0]
                texts[name] = max(texts.get(name, 0), column.total_uncompressed_size)
            total += column.num_values * (width or 0)
    _require(total, limit)
    for name, largest in texts.items():
        _require(largest, limit)
        rows = min(BATCH_ROWS, max(1, BATCH_BYTES // max(1, largest)))  # no value is longer than its chunk
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
