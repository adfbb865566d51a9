"""Rows of a table as text: CSV as spreadsheets and pandas write it, and tab-separated values, with a line of names."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain

NAME = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)
QUOTED = re.compile(r'"(?:[^"]|"")*"')
LONGEST = 10_000_000  # characters of a cell


def is_table(name: str) -> bool:
    """Whether a file is CSV or TSV, by its name."""
    return bool(NAME.search(name))


def table_rows(lines: Iterable[tuple[int, str]], name: str) -> Iterator[tuple[int, dict[str, str] | ValueError]]:
    """Yield (line on which it begins, the row by the names of the first line, or what is wrong with it).

    Empty cells are left out.  Of CSV the separator is a comma, a semicolon or a tab, whichever the first line has most;
    a cell in quotes may hold line breaks.  Of TSV each line is a row; a cell wholly in quotes loses them.
    """
    rows = _tab_separated(lines) if ".tsv" in name.lower() else _comma_separated(lines)
    names: list[str] | None = None
    for number, cells in rows:
        if isinstance(cells, ValueError):
            yield number, cells
        elif names is None:
            names = [cell.strip() for cell in cells]
        elif cells and any(cells):
            if len(cells) != len(names):
                yield number, ValueError(f"{len(cells)} cells, the first line names {len(names)} columns")
            else:
                yield number, {name: cell for name, cell in zip(names, cells) if name and cell}


def _tab_separated(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str] | ValueError]]:
    for number, line in lines:
        cells = line.rstrip("\r\n").split("\t")
        yield number, [cell[1:-1].replace('""', '"') if QUOTED.fullmatch(cell) else cell for cell in cells]


def _comma_separated(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str] | ValueError]]:
    texts = (line for _, line in lines)
    if (first := next(texts, None)) is None:
        return
    csv.field_size_limit(LONGEST)
    reader = csv.reader(chain([first], texts), delimiter=max(",;\t", key=first.count))
    while True:
        begins = reader.line_num + 1
        try:
            yield begins, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield begins, ValueError(f"not CSV ({error})")
            return
