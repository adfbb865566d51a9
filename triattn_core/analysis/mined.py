"""The stored table of a mining run: who said what of each row, as numbers and ids in one Parquet file, never texts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Literal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triattn_core.errors import DataError
from triattn_core.tasks import questions

KEY = b"triattn cases"  # of our metadata in the file
LARGEST = 5_000_000  # rows
BYTES = 2_000_000_000  # of the columns, unpacked
DIFFERENCES = {"row": "DELTA_BINARY_PACKED", "id": "DELTA_BYTE_ARRAY"}
WINDOW = 512  # rows, or options, that are sorted by length and mined together
TOLD = 20  # complaints about rows that are kept


class Checkpoint(BaseModel):
    """One of those asked, by what tells it apart; the digest is that of its weights."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    mechanism: str
    similarity: str | None = None  # COIN and the sentence models have one way alone to compare tokens
    digest: str


class About(BaseModel):
    """Where a table comes from.

    data: the file of rows, with its folder.  sha256: of that file as it lies.  lines: how far it was read, `whole`
    where to its end.  aside: how many rows could not be read; complaints: the first of them, each with its line.
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


@dataclass(frozen=True)
class Mined:
    """A row for each example that could be read, in the order of the file.

    row: its line in the file, from 1.  id: what the file calls it.  label: the index of the right answer, -1 where
    nobody has said.  tokens: of all its texts that a model reads, special ones aside; with the longest of its options.
    For each checkpoint NAME: `NAME answer`, the index of its answer; `NAME confidence`, the probability of it, to four
    decimals and below 1; `NAME right`, False too where there is no label.  For Tri also `NAME moved`, how much context
    moved its attention, in bits, and `NAME moved at`, the same for each token of the query: see `analysis.moved`.

    Of questions `NAME answer` is a number that two checkpoints share where SQuAD's comparison finds their answers equal
    (in this row alone, from 0), `NAME start` and `NAME end` are the characters of the passage that it answers, `NAME
    right` is exact match, and `NAME f1` SQuAD's F1, from 0 to 1, NaN where no answer is known.
    """

    table: pd.DataFrame
    about: About

    @property
    def judged(self) -> pd.DataFrame:
        """The rows that have a label."""
        return self.table[self.table["label"] >= 0]

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.about.checkpoints]

    @property
    def three_way(self) -> list[str]:
        """The names of those whose context could move something."""
        return [one.name for one in self.about.checkpoints if one.mechanism == "tri"]

    def save(self, path: Path) -> None:
        """Raises DataError where it cannot be written."""
        try:
            self.write(path)
        except OSError as error:
            raise DataError(f"{path}: cannot be written ({error.strerror or error})") from None

    def write(self, file: Path | BufferedIOBase) -> None:
        """The same to an open file."""
        schema = pa.schema(list(_kinds(self.about).items()), {KEY: self.about.model_dump_json().encode()})
        columns = {name: pa.array(self.table[name], kind) for name, kind in _kinds(self.about).items()}
        # Lines and ids that count up take next to nothing as differences; rounded numbers repeat.
        dictionary = [f"{name}.list.element" if name.endswith(" at") else name for name in columns]
        more = {"column_encoding": DIFFERENCES, "use_dictionary": [one for one in dictionary if one not in DIFFERENCES]}
        pq.write_table(pa.table(columns, schema), file, compression="zstd", compression_level=9, **more)


def joined(tables: Iterable[pd.DataFrame], about: About) -> Mined:
    """One table of several, in the order of the file."""
    return Mined(pd.concat(tables).sort_values("row", ignore_index=True), about)


def frame(found: Mapping[str, Sequence], checkpoints: Sequence[tuple[str, str]], task: str = "") -> pd.DataFrame:
    """A table of these columns; what is not given is empty.  checkpoints: (name, mechanism)."""
    kinds = columns(checkpoints, task).items()
    return pd.DataFrame({name: pd.Series(found.get(name, ()), dtype=_dtype(kind)) for name, kind in kinds})


def load(file: Path | BufferedIOBase, name: str = "") -> Mined:
    """A stored table.  Raises DataError in one line for anything else; `name`: what the file is called there."""
    with _refused(name or str(file)):
        opened = pq.ParquetFile(file)
        told = _about(opened.schema_arrow)
        held, groups = opened.metadata.num_rows, range(opened.metadata.num_row_groups)
        if held > LARGEST or sum(opened.metadata.row_group(i).total_byte_size for i in groups) > BYTES:
            raise ValueError(f"{held:,} rows are more than such a table has")
        return Mined(opened.read().to_pandas(ignore_metadata=True), told)


def about(file: Path) -> About:
    """Where a stored table comes from, without its rows.  Raises DataError."""
    with _refused(str(file)):
        return _about(pq.read_schema(file))


def _about(schema: pa.Schema) -> About:
    told = (schema.metadata or {}).get(KEY)
    if told is None:
        raise ValueError("a Parquet file of something else")
    found = About.model_validate(json.loads(told))
    if dict(zip(schema.names, schema.types)) != _kinds(found):
        raise ValueError("its columns are others")
    return found


@contextmanager
def _refused(name: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (OSError, pa.ArrowException) as error:
        said = os.strerror(error.errno) if getattr(error, "errno", None) else "no Parquet file"
    except ValueError as error:
        said = str(error).splitlines()[0]
    else:
        return
    raise DataError(f"{name}: not a table of `triattn cases` that can be read here ({said:.120})")


def columns(checkpoints: Sequence[tuple[str, str]], task: str = "") -> dict[str, pa.DataType]:
    """Column → type for (name, mechanism) of each checkpoint; of questions there are more."""
    found = {"row": pa.int32(), "id": pa.string(), "label": pa.int16(), "tokens": pa.int32()}
    for name, mechanism in checkpoints:
        found |= {f"{name} answer": pa.int16(), f"{name} confidence": pa.float32(), f"{name} right": pa.bool_()}
        if task == questions.NAME:
            found |= {f"{name} start": pa.int32(), f"{name} end": pa.int32(), f"{name} f1": pa.float32()}
        if mechanism == "tri":
            found |= {f"{name} moved": pa.float32(), f"{name} moved at": pa.list_(pa.float32())}
    return found


def _dtype(kind: pa.DataType) -> object:
    """What pandas calls a type of `columns`."""
    return "str" if kind == pa.string() else kind.to_pandas_dtype()


def _kinds(about: About) -> dict[str, pa.DataType]:
    return columns([(one.name, one.mechanism) for one in about.checkpoints], about.task)
