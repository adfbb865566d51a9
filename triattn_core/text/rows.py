"""Files of rows: JSON Lines, one JSON list of rows, CSV or TSV, plain or gzip-compressed; errors name file and line."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from io import SEEK_END, BufferedIOBase, BytesIO, TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from triattn_core.errors import DataError, TruncationError
from triattn_core.text.table_lines import is_table, table_rows

T = TypeVar("T")
LINE_LIMIT = 10_000_000  # characters: a longer line is not a valid row (and guards against a zip bomb)
EXPANSION = (
    100  # largest unpacked size of an uploaded .gz, as a multiple of its own; rows compress to a tenth or a third
)
PACKED_LIMIT = 4 << 30  # largest unpacked size of an uploaded .gz of rows, which are read line by line
JSON_LIMIT = 64 << 20  # largest unpacked size of a .json.gz, which is read whole, and is many times larger as objects
CHUNK = 1 << 20  # bytes that are read at once
BLOCK = 4 << 20  # bytes of whole lines that are looked at together
HALF = "half a character, \\ud800 to \\udfff alone, is no text"
# How files of other kinds begin, whatever their names.
CONTAINERS = {b"PK\x03\x04": "a zip file, such as .xlsx", b"ARROW1": "an Arrow or Feather file", b"BZh": "bzip2"}
CONTAINERS |= {b"\xff\xff\xff\xff": "an Arrow stream", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz"}
CONTAINERS |= {b"PAR1": "Parquet under another name", b"SQLite": "an SQLite file", b"\x89HDF": "HDF5"}
FORMATS = "rows are read from JSON Lines, CSV or TSV with a line of names (.csv, .tsv), or Parquet (.parquet)"
IDLE = 1_000_000  # consecutive lines without a row, after which reading stops


def read_json_lines(path: Path) -> Iterator[tuple[str, dict]]:
    """Yield `("file:line", row)` for each row.  Raises DataError with file and line."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with open(path, "rb") as file:
        for number, row in each_line(file, str(path), unlimited=True):
            if isinstance(row, DataError):
                raise row
            yield f"{path}:{number}", row


def read_examples(
    path: Path, from_row: Callable[[dict, str], T], training: bool = False, where: Mapping[str, str] | None = None
) -> Iterator[T]:
    """The examples of a JSON Lines file; `training` skips rows marked `dup`, `where` keeps rows whose fields have these
    values.  Raises DataError with the line."""
    for place, row in read_json_lines(path):
        if matches(row, where or {}) and not (training and row.get("dup")):
            yield from_row(row, place)


def each_line(file: BufferedIOBase, name: str, unlimited: bool = False) -> Iterator[tuple[int, dict | DataError]]:
    """Yield (line number, its row or the error with it) for each line that is not blank; raises nothing.

    unlimited: read a .gz to its end, however large it unpacks; otherwise no further than EXPANSION and PACKED_LIMIT.
    If a file cannot be read further, the last pair holds a TruncationError.
    """
    num_bad = number = 0
    try:
        _refuse_container(file)
        lines = _lines(file, name, unlimited)
        for number, row in table_rows(_utf8(lines), name) if is_table(name) else _json_rows(lines, name):
            num_bad = 0 if isinstance(row, dict) else num_bad + 1
            if num_bad > IDLE:
                raise ValueError(f"{IDLE:,} invalid lines in succession: the rest is skipped")
            if row is not None:
                yield number, DataError(f"{name}:{number}: {row}") if isinstance(row, ValueError) else row
    except (OSError, EOFError, zlib.error) as error:
        yield (
            number + 1,
            TruncationError(f"{name}:{number + 1}: damaged, or not a gzip file despite its name ({error})"),
        )
    except ValueError as error:
        yield number + 1, TruncationError(f"{name}:{number + 1}: {error}")


def _refuse_container(file: BufferedIOBase) -> None:
    """Raises ValueError for a file of another kind, which would be an error in each line."""
    file.seek(0)
    start = file.read(8)
    file.seek(0)
    for magic, kind in CONTAINERS.items():
        if start.startswith(magic):
            raise ValueError(f"{kind}: {FORMATS}")


def _json_rows(lines: Iterator[tuple[int, str]], name: str) -> Iterator[tuple[int, dict | ValueError | None]]:
    """Yield (line, its row, what is wrong with it, or None of a blank line); of one list of rows, (number of the row,
    the same)."""
    before = []
    for number, line in lines:
        before.append((number, line))
        if line.strip():
            break
    if before and before[-1][1].lstrip().startswith("["):
        rest, size = [], len(before[-1][1])
        for pair in lines:
            rest.append(pair)
            size += len(pair[1])
            if size > JSON_LIMIT:
                raise ValueError(f"one list of over {JSON_LIMIT:,} characters: save it as JSON Lines, a row a line")
        before += rest
        if (rows := _list_of("".join(line for _, line in before))) is not None:
            yield from enumerate(map(_object, rows), 1)
            return
    if before and before[-1][1].strip() == "{":
        before += islice(lines, 1)
        if not before[-1][1].startswith("{"):  # else a row that was cut short
            raise ValueError(f"one object over several lines; {FORMATS}")
    for number, line in chain(before, lines):
        try:
            yield number, _row(line) if line.strip() else None
        except ValueError as error:
            known = number > 1 or name.removesuffix(".gz").endswith((".json", ".jsonl"))
            yield number, error if known else ValueError(f"{error}; {FORMATS}")


def _list_of(text: str) -> list | None:
    """The list that a text is, as a JSON file of rows; None where it is several lists, one a line, or none."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return rows if isinstance(rows, list) and any(isinstance(row, dict) for row in rows) else None


def _object(row: Any) -> dict | ValueError:
    if not isinstance(row, dict):
        return ValueError(f"expected an object, got {type(row).__name__}")
    return row if is_text(json.dumps(row, ensure_ascii=False)) else ValueError(HALF)


def is_list(file: BufferedIOBase, name: str) -> bool:
    """Whether a file begins as one list of rows does, plain or .gz; it is read from its start again afterwards."""
    with suppress(OSError, EOFError, zlib.error):
        start = _unpack(file, name)[0].read(CHUNK).removeprefix(BOM_UTF8).lstrip()
        return start.startswith(b"[") and not is_table(name)
    return False


def _utf8(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        if not is_text(line):
            raise ValueError("not UTF-8 text")
        yield number, line


def count_lines(file: BufferedIOBase, name: str, unlimited: bool = False) -> int:
    """The number of lines of a file, for a progress bar; of a damaged file, the lines that can be read."""
    lines, last = 0, b"\n"
    for chunk in _chunks(file, name, unlimited):
        lines, last = lines + chunk.count(b"\n"), chunk[-1:]
    return lines + (last != b"\n")


def line_blocks(file: BufferedIOBase, name: str, unlimited: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, its bytes) for each block of about BLOCK bytes of whole lines, each line with a
    newline at its end and with its number by `each_line`; of a damaged file, the lines that can be read."""
    number, chunks, size = 1, [], 0
    for chunk in _chunks(file, name, unlimited):
        chunks.append(chunk)
        size += len(chunk)
        if size >= BLOCK:
            block, newline, rest = b"".join(chunks).rpartition(b"\n")
            if newline:
                yield number, (block := _with_newlines(block + newline, number))
                number += block.count(b"\n")
            elif size > 4 * LINE_LIMIT:  # bytes: longer than any row
                return
            chunks, size = [rest], len(rest)
    if size:
        yield number, _with_newlines(b"".join(chunks), number)


def _with_newlines(block: bytes, number: int) -> bytes:
    """The lines with a newline at the end of each, whatever ends them in the file."""
    block = block.removeprefix(BOM_UTF8) if number == 1 else block
    block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block
    return block if block.endswith(b"\n") else block + b"\n"


def _chunks(file: BufferedIOBase, name: str, unlimited: bool) -> Iterator[bytes]:
    """Yield the unpacked bytes, as far as they can be read."""
    unpacked, limit = _unpack(file, name, unlimited)
    with suppress(OSError, EOFError, zlib.error):
        while limit > 0 and (chunk := unpacked.read1(CHUNK)):
            limit -= len(chunk)
            yield chunk


def _unpack(file: BufferedIOBase, name: str, unlimited: bool = False) -> tuple[BufferedIOBase, int]:
    """The unpacked file, and the largest number of bytes to read from it."""
    size = file.seek(0, SEEK_END)
    file.seek(0)
    packed = file.read(2) == b"\x1f\x8b" or name.endswith(".gz")
    file.seek(0)
    if not packed:
        return file, size + 1
    return gzip.GzipFile(fileobj=file), sys.maxsize if unlimited else min(PACKED_LIMIT, LINE_LIMIT + EXPANSION * size)


def _lines(file: BufferedIOBase, name: str, unlimited: bool) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers from 1; bytes that are not UTF-8 become lone surrogates."""
    unpacked, limit = _unpack(file, name, unlimited)
    # typeshed asks more of a buffer than a reader of text needs.
    text, number = TextIOWrapper(unpacked, "utf-8-sig", "surrogateescape"), 0  # type: ignore[type-var]
    try:
        while line := text.readline(LINE_LIMIT):
            number += 1
            limit -= len(line)
            if len(line) == LINE_LIMIT:
                raise ValueError(f"a line of over {LINE_LIMIT:,} characters is not a row")
            if limit < 0:
                raise ValueError(
                    f"decompresses to more than {EXPANSION} times its size, or {PACKED_LIMIT:,} bytes: "
                    "an upload is read no further"
                )
            yield number, line
    finally:
        if not file.closed:
            text.detach()  # leave the file open for its owner


def _row(line: str) -> dict:
    """The row of a line.  Raises ValueError that says what is wrong with it."""
    if not is_text(line):
        raise ValueError("not UTF-8 JSON Lines")
    try:
        row = json.loads(line.rstrip())
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg}, column {error.pos + 1})") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError(f"expected an object, got {type(row).__name__}")
    if "\\ud" in line.lower() and not is_text(json.dumps(row, ensure_ascii=False)):
        raise ValueError(HALF)
    return row


def is_text(text: str) -> bool:
    """Whether a text can be written: it holds no half of a character alone, as JSON may."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def read_json(path: Path | str, content: bytes | None = None) -> dict:
    """The object in a JSON file, plain or gzip-compressed.  Raises DataError with the file.

    content: of the file, if it is not on disk.
    """
    value = read_json_value(path, content)
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected an object, got {type(value).__name__}")
    return value


def read_json_value(path: Path | str, content: bytes | None = None) -> Any:
    """What a JSON file holds: see `read_json`."""
    try:
        unpacked, limit = _unpack(BytesIO(Path(path).read_bytes() if content is None else content), str(path))
        limit = min(limit, JSON_LIMIT) if isinstance(unpacked, gzip.GzipFile) else limit
        text = unpacked.read(limit)
        if len(text) == limit:
            raise ValueError(
                f"decompresses to more than {EXPANSION} times its size, or {JSON_LIMIT:,} bytes; unpack it"
            )
        value = json.loads(text.decode("utf-8-sig"))
        if b"\\ud" in text.lower() and not is_text(json.dumps(value, ensure_ascii=False)):
            raise ValueError(HALF)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: not a JSON file ({error})") from None
    return value


def rows_file(folder: Path, name: str) -> Path:
    """The file of a set such as `quora/dev`: `.jsonl` or `.json`, plain or .gz.  Raises DataError if there is none."""
    for suffix in (".jsonl", ".jsonl.gz", ".json", ".json.gz"):
        if (Path(folder) / (name + suffix)).is_file():
            return Path(folder) / (name + suffix)
    raise DataError(f"{folder}: no {name}.jsonl or {name}.jsonl.gz; name the folder of data sets with --data")


def has_rows(folder: Path, name: str) -> bool:
    """Whether a folder has the file of a set."""
    with suppress(DataError):
        return rows_file(folder, name).is_file()
    return False


def matches(row: Mapping[str, Any], where: Mapping[str, str]) -> bool:
    """Whether the fields of a row, or of an example (`vars`), have these values."""
    return all(str(row.get(name, "")) == value for name, value in where.items())
