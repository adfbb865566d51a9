"""Rows of a case table, asked piece by piece: counts, filters, the first rows of an order, samples, groups.

A piece is a row group of a Parquet file, or a table in memory; only the columns that a question needs are read, so that
ten million rows take no more memory than the rows that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from triattn_core.cached import cached_property

BATCH, AHEAD = 1 << 17, 2  # rows that are looked at together, and how many of these are read ahead
UNBUFFERED = ds.ParquetFragmentScanOptions(pre_buffer=False)  # else all bytes of the columns are held
SPACE = 1 << 16  # combinations that are counted without sorting


@dataclass(frozen=True)
class Piece:
    """`rows` rows from number `start` on, and what reads them."""

    start: int
    rows: int
    read: Callable[[], pa.Table]


@dataclass(frozen=True)
class Filter:
    """Which rows: all conditions hold.

    equal: column → one of its values; between: column → from, below; differ: two columns that are not equal.
    words: all are parts of the id, or the row is among `lines`, which are in increasing order.
    """

    equal: Mapping[str, Sequence] | None = None
    between: Mapping[str, Sequence] | None = None
    differ: tuple[str, str] | None = None
    words: tuple[str, ...] = ()
    lines: Sequence[int] | np.ndarray = ()

    @property
    def columns(self) -> list[str]:
        """The columns that it reads."""
        columns = [*(self.equal or ()), *(self.between or ()), *(self.differ or ())]
        return list(dict.fromkeys([*columns, *(["id", "row"] if self.words else [])]))

    def mask(self, table: pa.Table) -> np.ndarray:
        """[rows] bool."""
        keep = np.ones(len(table), bool)
        for name, values in (self.equal or {}).items():
            keep &= np.isin(column(table, name), list(values))
        for name, (low, high) in (self.between or {}).items():
            numbers = column(table, name)
            keep &= (numbers >= low) & (numbers < high)
        if self.differ:
            keep &= column(table, self.differ[0]) != column(table, self.differ[1])
        return keep & self._matches(table) if self.words else keep

    def _matches(self, table: pa.Table) -> np.ndarray:
        """In their ids, cases ignored, or by their lines."""
        ids = table["id"]
        matches = np.ones(len(table), bool)
        for word in self.words:
            matches &= pc.match_substring(ids, word, ignore_case=True).to_numpy(zero_copy_only=False)
        if not len(self.lines) or not len(table):
            return matches
        rows, lines = column(table, "row"), np.asarray(self.lines)
        start, stop = lines.searchsorted(rows.min()), lines.searchsorted(rows.max(), "right")
        return matches | np.isin(rows, lines[start:stop])


def column(table: pa.Table, name: str) -> np.ndarray:
    """A column as an array."""
    return table[name].to_numpy()


class CaseRows:
    """The rows of a case table, in the order of its file.

    dataset: reads columns from end to end.  pieces: read whole rows.
    """

    def __init__(self, dataset: ds.Dataset, pieces: Sequence[Piece]):
        self.dataset, self.pieces = dataset, list(pieces)

    @classmethod
    def of_files(cls, files: Sequence[Path]) -> CaseRows:
        """Of Parquet files with one schema, in this order."""
        pieces, start = [], 0
        for file in files:
            parquet = pq.ParquetFile(file)
            for group in range(parquet.num_row_groups):
                rows = parquet.metadata.row_group(group).num_rows
                pieces.append(Piece(start, rows, partial(parquet.read_row_group, group)))
                start += rows
        return cls(ds.dataset([str(file) for file in files], format="parquet"), pieces)

    @classmethod
    def of_table(cls, table: pa.Table) -> CaseRows:
        """Of a table in memory."""
        return cls(ds.dataset(table), [Piece(0, len(table), lambda: table)])

    def __len__(self) -> int:
        return sum(piece.rows for piece in self.pieces)

    def scan(self, names: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """Yield the number of its first row and these columns of some rows, in order, until all are there."""
        start = 0
        scanner = self.dataset.scanner(
            columns=list(dict.fromkeys(names)),
            batch_size=BATCH,
            batch_readahead=AHEAD,
            fragment_readahead=1,
            fragment_scan_options=UNBUFFERED,
        )
        for batch in scanner.to_batches():
            yield start, pa.table(batch)
            start += len(batch)

    def values(self, name: str) -> np.ndarray:
        """A whole column of numbers."""
        values = np.empty(len(self), self.dataset.schema.field(name).type.to_pandas_dtype())
        for start, table in self.scan([name]):
            values[start : start + len(table)] = column(table, name)
        return values

    def count(self, filter: Filter) -> int:
        """How many rows pass."""
        return sum(int(filter.mask(table).sum()) for _, table in self.scan(filter.columns or ["row"]))

    def first(self, filter: Filter, order: Sequence[str], limit: int, skip: int = 0) -> tuple[pd.DataFrame, int]:
        """The rows that pass, without the first `skip`, `limit` at most, the largest first (of several columns, by the
        smallest); equal ones as in the file.  And how many pass."""
        numbers, keys, total = np.empty(0, np.int64), np.empty(0), 0
        for start, table in self.scan([*filter.columns, *order]):
            passing = np.flatnonzero(filter.mask(table))
            total += len(passing)
            key = np.min([column(table, name)[passing] for name in order], axis=0)
            numbers, keys = np.concatenate([numbers, start + passing]), np.concatenate([keys, key])
            best = _argsort_largest(keys, skip + limit)
            numbers, keys = numbers[best], keys[best]
        return self.take(numbers[skip : skip + limit]), total

    def sample(self, filter: Filter, limit: int, seed: int) -> tuple[pd.DataFrame, int]:
        """`limit` of the rows that pass, sampled without replacement, in random order.  And how many pass."""
        numbers, keys, total, draw = np.empty(0, np.int64), np.empty(0), 0, np.random.default_rng(seed)
        for start, table in self.scan(filter.columns or ["row"]):  # the rows with the largest random keys
            passing = np.flatnonzero(filter.mask(table))
            total += len(passing)
            keys = np.concatenate([keys, draw.random(len(passing))])
            numbers = np.concatenate([numbers, start + passing])
            best = _argsort_largest(keys, limit)
            numbers, keys = numbers[best], keys[best]
        return self.take(numbers), total

    def frame(self) -> pd.DataFrame:
        """All rows in the order of the file."""
        return self.take(np.arange(len(self)))

    def take(self, numbers: np.ndarray) -> pd.DataFrame:
        """Whole rows by their numbers, in this order; only the pieces that hold them are read."""
        starts = np.array([piece.start for piece in self.pieces])
        piece_index = np.searchsorted(starts, numbers, "right") - 1
        parts, order = [], []
        for index in np.unique(piece_index):
            piece, positions = self.pieces[index], np.flatnonzero(piece_index == index)
            parts.append(piece.read().take(numbers[positions] - piece.start))
            order.append(positions)
        if not parts:
            return self._empty
        frame = pa.concat_tables(parts).to_pandas(ignore_metadata=True)
        return frame.iloc[np.argsort(np.concatenate(order))].reset_index(drop=True)

    @cached_property
    def _empty(self) -> pd.DataFrame:
        return self.dataset.schema.empty_table().to_pandas(ignore_metadata=True)

    def groups(self, columns: Sequence[str], sums: Sequence[str] = ()) -> pd.DataFrame:
        """A row for each combination of values in these columns: how many rows (`n`), and sums of other columns."""
        parts = [_group_counts(table, columns, sums) for _, table in self.scan([*columns, *sums])]
        if not parts:
            return self._empty[[*columns, *sums]].assign(n=0)
        return pd.concat(parts).groupby(list(columns), as_index=False).sum()


def _group_counts(table: pa.Table, columns: Sequence[str], sums: Sequence[str]) -> pd.DataFrame:
    """`CaseRows.groups` of one table: all combinations of small numbers are counted, which takes no sorting."""
    values = [column(table, name) for name in columns]
    lows = [int(value.min(initial=0)) for value in values]
    sizes = [int(value.max(initial=0)) - low + 1 for value, low in zip(values, lows)]
    if np.prod(sizes, dtype=float) > SPACE:
        grouped = (
            table.group_by(list(columns)).aggregate([([], "count_all"), *((name, "sum") for name in sums)]).to_pandas()
        )
        return grouped.rename(columns={"count_all": "n"} | {f"{name}_sum": name for name in sums})
    code = np.zeros(len(table), np.int64)
    for value, low, size in zip(values, lows, sizes):
        code *= size
        code += value
        code -= low
    counts = np.bincount(code, minlength=int(np.prod(sizes)))
    present = np.flatnonzero(counts)
    digits = zip(columns, values, lows, np.unravel_index(present, sizes))
    frame = {name: (digit + low).astype(value.dtype) for name, value, low, digit in digits}
    frame["n"] = counts[present]
    weights = {name: np.bincount(code, column(table, name), len(counts))[present] for name in sums}
    return pd.DataFrame(frame | weights)


def _argsort_largest(keys: np.ndarray, limit: int) -> np.ndarray:
    """The indices of the largest keys, the largest first; equal ones in their order, NaN last."""
    keys = np.nan_to_num(keys, nan=-np.inf)
    if len(keys) > 4 * limit:
        floor = np.partition(keys, len(keys) - limit)[len(keys) - limit]
        candidates = np.flatnonzero(keys >= floor)
    else:
        candidates = np.arange(len(keys))
    return candidates[np.argsort(-keys[candidates], kind="stable")][:limit]
