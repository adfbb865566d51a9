"""Files of rows: JSON Lines, plain or gzip-compressed, read with file and line in every complaint."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Iterator

from triattn_core.errors import DataError

LINE_LIMIT = 10_000_000  # characters: a longer line is no row of ours (and guards against a zip bomb)


def read_json_lines(path: Path) -> Iterator[tuple[str, dict]]:
    """`("file:line", row)` for each row. Raises DataError with file and line."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        number = 0
        while True:
            number += 1
            where = f"{path}:{number}"
            try:
                line = file.readline(LINE_LIMIT)
            except (OSError, EOFError, UnicodeDecodeError) as error:
                raise DataError(f"{where}: not UTF-8 JSON Lines ({error})") from None
            if not line:
                return
            if len(line) == LINE_LIMIT:
                raise DataError(f"{where}: a line of over {LINE_LIMIT:,} characters is no row")
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{where}: not JSON ({error})") from None
            if not isinstance(row, dict):
                raise DataError(f"{where}: expected an object, got {type(row).__name__}")
            yield where, row
