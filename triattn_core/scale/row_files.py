"""Files of rows as Parquet parts with a number for each row: what many workers read, and by which they resume."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from triattn_core.analysis.mining.sources import Source, watch_truncation
from triattn_core.errors import DataError
from triattn_core.text.atomic_write import write_whole

SCHEMA = pa.schema([("row", pa.int64()), ("place", pa.string()), ("text", pa.string()), ("error", pa.string())])
PART = 8192  # rows of a file, at most
BYTES = 64 << 20  # of their texts, after which a file ends with fewer rows


def write_rows(source: Source, task: str, folder: Path, most: int | None = None) -> tuple[int, int]:
    """Write rows to `folder`, each with its line in the file, its place in words, and its JSON or its error; returns
    their number and the last line.

    most: the first rows alone.  Memory does not grow with the file; an earlier, complete copy is used again.
    """
    done = folder / "rows.json"
    if done.is_file():
        return tuple(json.loads(done.read_text())[name] for name in ("rows", "last"))
    folder.mkdir(parents=True, exist_ok=True)
    reasons: list[str] = []
    rows, count, last = watch_truncation(islice(source.rows(task), most), reasons), 0, 0
    for number, part in enumerate(_parts(rows)):
        hidden = folder / f".{number:06}"
        pq.write_table(pa.Table.from_pylist(part, SCHEMA), hidden, compression="zstd")
        os.replace(hidden, folder / f"{number:06}.parquet")
        count, last = count + len(part), part[-1]["row"]
    write_whole(done, json.dumps({"rows": count, "last": last, "truncated": "".join(reasons)}))
    return count, last


def truncation(folder: Path) -> str:
    """Why the file whose rows are in `folder` was not read to its end; empty if it was."""
    return json.loads((folder / "rows.json").read_text()).get("truncated", "")


def _parts(rows: Iterator[tuple[int, str, dict | DataError]]) -> Iterator[list[dict]]:
    """The records of a file each; a row larger than BYTES is in a file with those before it."""
    part: list[dict] = []
    size = 0
    for line, place, row in rows:
        is_error = isinstance(row, DataError)
        text = str(row) if is_error else json.dumps(row, ensure_ascii=False)
        part.append(
            {"row": line, "place": place, "text": None, "error": None} | {"error" if is_error else "text": text}
        )
        size += len(text.encode("utf-8", "surrogatepass"))
        if len(part) == PART or size >= BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part
