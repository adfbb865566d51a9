"""The stored table of a mining run: each checkpoint's answer to each row, as numbers and ids in a Parquet file, never
texts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Literal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triattn_core.analysis.mining import table_folder
from triattn_core.analysis.mining.case_columns import column_types
from triattn_core.analysis.mining.case_rows import CaseRows
from triattn_core.analysis.mining.decoded_size import require_decoded_size
from triattn_core.cached import cached_property
from triattn_core.errors import DataError
from triattn_core.tasks import InputForm, form
from triattn_core.text.atomic_write import replacing

KEY = b"triattn cases"  # key of our metadata in the file
LARGEST = 5_000_000  # rows
BYTES = 1_000_000_000  # of the columns, decoded
DIFFERENCES = {"row": "DELTA_BINARY_PACKED", "id": "DELTA_BYTE_ARRAY"}
MOST = 1 << 20  # rows of a row group that is read in a piece
GROUP = 1 << 15  # rows of a row group, the least that is read
WINDOW = 512  # rows, or options, that are sorted by length and mined together
MAX_COMPLAINTS = 20  # errors with rows that are stored


class Checkpoint(BaseModel):
    """One of the compared checkpoints; `digest`: that of its weights."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    mechanism: str
    similarity: str | None = None  # COIN and the sentence models have no choice of similarity
    digest: str


class TableInfo(BaseModel):
    """The provenance of a table.

    data: the file of rows, with its folder.  sha256: of that file.  lines: how many were read; whole: whether that is
    all of them; truncated: why the file was not read to its end, if so.  aside: number of rows that could not be read;
    complaints: the first of their errors, with lines.  versions: of the packages that affect the numbers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: Literal[1] = 1
    task: str
    language: str
    checkpoints: tuple[Checkpoint, ...] = Field(min_length=2, max_length=4)
    data: str
    sha256: str
    lines: int
    whole: bool
    aside: int
    complaints: tuple[str, ...]
    seconds: float
    device: str
    date: str
    command: str
    versions: dict[str, str] = {}
    truncated: str = ""


class Cases:
    """What a mining run found: rows, read when they are asked for, and where they come from.

    row: its line in the file, from 1.  id: its id in the file.  label: the index of the right answer, -1 if unknown.
    tokens: number of tokens that a model reads, without special ones, with the longest option.
    For each checkpoint NAME: `NAME answer`, the index of its answer; `NAME confidence`, its probability, to four
    decimals and below 1; `NAME right`, also False without a label.  For Tri also `NAME moved`, how far context moved
    its attention, in bits, and `NAME moved at`, the same for each query token: see `context_shift`.

    For questions, `NAME answer` is a number from 0, within the row, that is equal for answers that are equal after
    SQuAD's normalisation; `NAME start` and `NAME end` are the characters of its answer in the passage; `NAME right` is
    exact match; `NAME f1` is SQuAD's F1, from 0 to 1, NaN if no answer is known.
    """

    about: TableInfo
    rows: CaseRows

    @property
    def names(self) -> list[str]:
        return [checkpoint.name for checkpoint in self.about.checkpoints]

    @property
    def three_way(self) -> list[str]:
        """The names of the checkpoints with a `moved` column."""
        return [checkpoint.name for checkpoint in self.about.checkpoints if checkpoint.mechanism == "tri"]

    @cached_property
    def groups(self) -> pd.DataFrame:
        """Counts `n` for each combination of label, answers and correctness, with the sums of confidence and F1."""
        columns = ["label", *(f"{name} {field}" for name in self.names for field in ("right", "answer"))]
        sums = [f"{name} confidence" for name in self.names]
        sums += [f"{name} f1" for name in self.names] if form(self.about.task) is InputForm.PASSAGE else []
        return self.rows.groups(columns, sums)

    @cached_property
    def lengths(self) -> pd.DataFrame:
        """The rows counted by `tokens`: `n`."""
        return self.rows.groups(["tokens"])

    @property
    def labelled_groups(self) -> pd.DataFrame:
        """The same of the labelled rows."""
        return self.groups[self.groups["label"] >= 0]

    @property
    def num_labelled(self) -> int:
        """The number of labelled rows."""
        return int(self.labelled_groups["n"].sum())


@dataclass(frozen=True)
class StoredCases(Cases):
    """Cases in a file, or in a folder of files."""

    rows: CaseRows
    about: TableInfo


@dataclass(frozen=True)
class CaseTable(Cases):
    """Cases in memory: one row per readable example, in the order of the file."""

    table: pd.DataFrame
    about: TableInfo

    @cached_property
    def rows(self) -> CaseRows:
        return CaseRows.of_table(self.arrow())

    @property
    def labelled(self) -> pd.DataFrame:
        """The labelled rows."""
        return self.table[self.table["label"] >= 0]

    def save(self, path: Path) -> None:
        """Writes the table to a file.  Raises DataError if that fails."""
        with replacing(path) as part:
            self.write(part)

    def write(self, file: Path | BufferedIOBase) -> None:
        """Writes the table to a path or an open file."""
        write_parts(file, [self.arrow()], self.about)

    def arrow(self) -> pa.Table:
        """The table with the types in which it is stored."""
        return pa.table({name: pa.array(self.table[name], kind) for name, kind in _table_types(self.about).items()})


def write_parts(file: Path | BufferedIOBase, parts: Iterable[pa.Table], about: TableInfo) -> None:
    """Writes a table that comes in parts, in the order of the file."""
    types = _table_types(about)
    schema = pa.schema(list(types.items()), {KEY: about.model_dump_json().encode()})
    # Increasing lines and ids are stored as differences; rounded numbers repeat, so a dictionary is small.
    dictionary = [f"{name}.list.element" if name.endswith(" at") else name for name in types]
    options = {
        "column_encoding": DIFFERENCES,
        "use_dictionary": [column for column in dictionary if column not in DIFFERENCES],
    }
    with pq.ParquetWriter(file, schema, compression="zstd", compression_level=9, **options) as writer:
        for part in parts:
            writer.write_table(part.select(list(types)).cast(schema), GROUP)


def join_tables(tables: Iterable[pd.DataFrame], about: TableInfo) -> CaseTable:
    """The tables concatenated, in the order of the file."""
    return CaseTable(pd.concat(tables).sort_values("row", ignore_index=True), about)


def load(file: Path | BufferedIOBase, name: str = "") -> CaseTable:
    """Load a stored table.  Raises DataError, in one line, for any other file; `name`: of the file in that line."""
    with _data_errors(name or str(file)):
        parquet = pq.ParquetFile(file)
        info = _parse_info(parquet.schema_arrow)
        if (row_count := parquet.metadata.num_rows) > LARGEST:
            raise ValueError(f"{row_count:,} rows exceed the limit of such a table")
        require_decoded_size(parquet, BYTES)
        return CaseTable(parquet.read().to_pandas(ignore_metadata=True), info)


def open_cases(path: Path) -> StoredCases:
    """Opens a stored table, or a folder of its parts, without its rows.  Raises DataError as `load` does."""
    with _data_errors(str(path)):
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise ValueError("no Parquet file in this folder")
        if path.is_dir():
            table_folder.require_all_parts(path)
        infos = [_parse_info(pq.read_schema(file)) for file in files]
        if any(info.checkpoints != infos[0].checkpoints for info in infos):
            raise ValueError("its parts are of other checkpoints")
        rows = CaseRows.of_files(files)
        if any(piece.rows > MOST for piece in rows.pieces):
            raise ValueError(f"a row group of more than {MOST:,} rows")
        return StoredCases(rows, infos[0])


def read_info(file: Path) -> TableInfo:
    """Reads the provenance of a stored table, or of a folder of its parts, without its rows.  Raises DataError."""
    with _data_errors(str(file)):
        part = next(file.rglob("*.parquet"), file) if file.is_dir() else file
        return _parse_info(pq.read_schema(part))


def _parse_info(schema: pa.Schema) -> TableInfo:
    stored = (schema.metadata or {}).get(KEY)
    if stored is None:
        raise ValueError("a Parquet file of something else")
    info = TableInfo.model_validate(json.loads(stored))
    if dict(zip(schema.names, schema.types)) != _table_types(info):
        raise ValueError("its columns are others")
    return info


@contextmanager
def _data_errors(name: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (OSError, pa.ArrowException) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else "no Parquet file"
    except ValueError as error:
        reason = str(error).splitlines()[0]
    else:
        return
    raise DataError(f"{name}: not a table of `triattn cases` that can be read here ({reason:.120})")


def _table_types(about: TableInfo) -> dict[str, pa.DataType]:
    return column_types([(checkpoint.name, checkpoint.mechanism) for checkpoint in about.checkpoints], about.task)
