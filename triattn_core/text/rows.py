"""Files of rows: JSON Lines, plain or gzip-compressed, read with file and line in every complaint."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from triattn_core.errors import DataError

LINE_LIMIT = 10_000_000  # characters: a longer line is no row of ours (and guards against a zip bomb)


def read_json_lines(path: Path) -> Iterator[tuple[str, dict]]:
    """`("file:line", row)` for each row. Raises DataError with file and line."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        number = 0
        while True:
            number += 1
            where = f"{path}:{number}"
            try:
                line = file.readline(LINE_LIMIT)
            except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
                raise DataError(f"{where}: not UTF-8 JSON Lines ({error})") from None
            if not line:
                return
            if len(line) == LINE_LIMIT:
                raise DataError(f"{where}: a line of over {LINE_LIMIT:,} characters is no row")
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{where}: not JSON ({error})") from None
            if not isinstance(row, dict):
                raise DataError(f"{where}: expected an object, got {type(row).__name__}")
            yield where, row


def read_json(path: Path) -> dict:
    """The one object of a JSON file. Raises DataError with the file."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(found, dict):
        raise DataError(f"{path}: expected an object, got {type(found).__name__}")
    return found


def rows_file(folder: Path, name: str) -> Path:
    """The file of a set such as `quora/dev`: `.jsonl` or `.jsonl.gz`. Raises DataError where there is neither."""
    for ending in (".jsonl", ".jsonl.gz"):
        if (Path(folder) / (name + ending)).is_file():
            return Path(folder) / (name + ending)
    raise DataError(f"{folder}: no {name}.jsonl or {name}.jsonl.gz; name the folder of data sets with --data")


def field(row: dict, name: str, where: str) -> str:
    """The text of a field.  Raises DataError naming it."""
    if not isinstance(row.get(name), str):
        raise DataError(f"{where}: field {name!r} must be text, got {row.get(name)!r:.40}")
    return row[name]


def texts_field(row: dict, name: str, where: str) -> tuple[str, ...]:
    """The texts of a field that holds a list of them.  Raises DataError naming it."""
    found = row.get(name)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise DataError(f"{where}: field {name!r} must be a list of texts, got {found!r:.40}")
    return tuple(found)


def number(row: dict, name: str, where: str, below: int) -> int | None:
    """The whole number of a field, from 0; None where the row has none.  Raises DataError naming it."""
    found = row.get(name)
    if found is not None and (type(found) is not int or not 0 <= found < below):
        said = "0 or 1" if below == 2 else f"a whole number from 0 to {below - 1}"
        raise DataError(f"{where}: field {name!r} must be {said}, got {found!r:.40}")
    return found
