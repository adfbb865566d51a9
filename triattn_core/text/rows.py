"""Files of rows: JSON Lines, plain or gzip-compressed, read with file and line in every complaint."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from io import SEEK_END, BufferedIOBase, BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from triattn_core.errors import DataError

LINE_LIMIT = 10_000_000  # characters: a longer line is no row of ours (and guards against a zip bomb)
EXPANSION = 100  # times its own size is the most that a .gz may unfold to: rows shrink to a tenth or a third
PACKED_LIMIT = 4 << 30  # bytes that a .gz of rows may unfold to in all; they are read line by line
JSON_LIMIT = 64 << 20  # bytes that a .json.gz may unfold to: it is read whole, and takes many times that as objects
IDLE = 1_000_000  # lines in a row that hold no row: such a file has no more of them


def read_json_lines(path: Path) -> Iterator[tuple[str, dict]]:
    """`("file:line", row)` for each row. Raises DataError with file and line."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with open(path, "rb") as file:
        for number, row in each_line(file, str(path)):
            if isinstance(row, DataError):
                raise row
            yield f"{path}:{number}", row


def each_line(file: BufferedIOBase, name: str) -> Iterator[tuple[int, dict | DataError]]:
    """(line, its row, or in one line what is wrong with it) for each line that is not blank; raises nothing.

    Where a file cannot be read on, the last pair says so.
    """
    idle = number = 0
    try:
        for number, line in _lines(file, name):
            try:
                row = _row(line) if line.strip() else None
            except ValueError as error:
                row = DataError(f"{name}:{number}: {error}")
            idle = 0 if isinstance(row, dict) else idle + 1
            if idle > IDLE:
                raise ValueError(f"{IDLE:,} lines in a row are no rows: the rest is left out")
            if row is not None:
                yield number, row
    except (OSError, EOFError, zlib.error) as error:
        yield number + 1, DataError(f"{name}:{number + 1}: damaged, or no gzip file whatever its name ({error})")
    except ValueError as error:
        yield number + 1, DataError(f"{name}:{number + 1}: {error}")


def count_lines(file: BufferedIOBase, name: str) -> int:
    """How many lines a file has, for a progress bar: of a damaged one those that can be read."""
    opened, limit = _opened(file, name)
    lines, last = 0, b"\n"
    try:
        while limit > 0 and (chunk := opened.read1(1 << 20)):
            lines, last, limit = lines + chunk.count(b"\n"), chunk[-1:], limit - len(chunk)
    except (OSError, EOFError, zlib.error):
        pass
    return lines + (last != b"\n")


def _opened(file: BufferedIOBase, name: str) -> tuple[BufferedIOBase, int]:
    """The file unpacked, and how many bytes may come out of it."""
    size = file.seek(0, SEEK_END)
    file.seek(0)
    packed = file.read(2) == b"\x1f\x8b" or name.endswith(".gz")
    file.seek(0)
    if not packed:
        return file, size + 1
    return gzip.GzipFile(fileobj=file), min(PACKED_LIMIT, LINE_LIMIT + EXPANSION * size)


def _lines(file: BufferedIOBase, name: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1; bytes that are not UTF-8 come as lone surrogates."""
    opened, limit = _opened(file, name)
    text, number = TextIOWrapper(opened, "utf-8-sig", "surrogateescape"), 0
    try:
        while line := text.readline(LINE_LIMIT):
            number += 1
            limit -= len(line)
            if len(line) == LINE_LIMIT:
                raise ValueError(f"a line of over {LINE_LIMIT:,} characters is no row")
            if limit < 0:
                raise ValueError(
                    f"unfolds to more than {EXPANSION} times its size, or {PACKED_LIMIT:,} bytes: no file of rows does"
                )
            yield number, line
    finally:
        if not file.closed:
            text.detach()  # the file stays open: it is its owner's


def _row(line: str) -> dict:
    """Raises ValueError that says what is wrong with the line."""
    if not _is_text(line):
        raise ValueError("not UTF-8 JSON Lines")
    try:
        row = json.loads(line.rstrip())
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg}, column {error.pos + 1})") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError(f"expected an object, got {type(row).__name__}")
    if "\\ud" in line.lower() and not _is_text(json.dumps(row, ensure_ascii=False)):
        raise ValueError("half a character, \\ud800 to \\udfff alone, is no text")
    return row


def _is_text(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def read_json(path: Path | str, content: bytes | None = None) -> dict:
    """The one object of a JSON file, plain or gzip-compressed. Raises DataError with the file.

    content: of the file, where it is not on disk.
    """
    try:
        opened, limit = _opened(BytesIO(Path(path).read_bytes() if content is None else content), str(path))
        limit = min(limit, JSON_LIMIT) if isinstance(opened, gzip.GzipFile) else limit
        text = opened.read(limit)
        if len(text) == limit:
            raise ValueError(f"unfolds to more than {EXPANSION} times its size, or {JSON_LIMIT:,} bytes; unpack it")
        found = json.loads(text.decode("utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a JSON file ({error})") from None
    if not isinstance(found, dict):
        raise DataError(f"{path}: expected an object, got {type(found).__name__}")
    return found


def rows_file(folder: Path, name: str) -> Path:
    """The file of a set such as `quora/dev`: `.jsonl` or `.json`, plain or .gz.  Raises DataError where none is."""
    for ending in (".jsonl", ".jsonl.gz", ".json", ".json.gz"):
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


def wanted(row: Mapping[str, Any], where: Mapping[str, str]) -> bool:
    """Whether the fields of a row, or of an example (`vars`), have these values."""
    return all(str(row.get(name, "")) == value for name, value in where.items())
