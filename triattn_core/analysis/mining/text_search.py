"""The texts of a large file of rows, read block by block: lines that have some words, and single rows."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Any, NamedTuple

import numpy as np

from triattn_core.analysis.mining.parquet_rows import is_parquet
from triattn_core.analysis.mining.sources import Source
from triattn_core.case_book import texts
from triattn_core.errors import DataError, InputError
from triattn_core.tasks import TASKS
from triattn_core.text.rows import is_list, line_blocks
from triattn_core.text.table_lines import is_table

CHANGED = re.compile(r'["\\/\x00-\x1f]')  # characters that a file may write in other ways
ROWS = 10_000  # rows of a Parquet file that are looked at together
Lines = np.ndarray  # int32, numbers of lines from 1


def as_lines(numbers: Iterable[int] = ()) -> Lines:
    """Numbers of lines as an array."""
    return np.fromiter(numbers, np.int32)


class TextSearch:
    """A search for rows whose texts have all words, cases ignored; each step looks through a block of the file.

    words: casefolded.  line: the last line that was looked at.  seconds: time taken so far.
    """

    def __init__(self, task: str, source: Source, words: Sequence[str]):
        self.line, self.seconds, self.is_complete = 0, 0.0, False
        self._task, self._name, self._words = task, source.name, words
        # A line is parsed if it has the words, spaces apart (tasks join "do n't"), or something that may hide one.
        self._hiding = ("\\", "``", "''") if any(map(CHANGED.search, words)) else ("\\u",)
        self._blocks, self._matches = _blocks(source), [as_lines()]

    @property
    def lines(self) -> Lines:
        """The matching lines so far, from 1, in increasing order."""
        return np.concatenate(self._matches)

    def step(self) -> bool:
        """Looks through one more block; returns False if there is none."""
        start = time.perf_counter()
        if (block := next(self._blocks, None)) is None:
            self.is_complete = True
            return False
        first, text = block[0], block[1].decode("utf-8", "replace")
        lines = text.split("\n") if (candidates := self._candidates(text)) else []
        matches = [first + i for i in candidates if self._matches_row(first + i, lines[i])]
        self._matches.append(as_lines(matches))
        self.line = first + text.count("\n") - 1
        self.seconds += time.perf_counter() - start
        return True

    def _candidates(self, text: str) -> list[int]:
        """The lines, from 0, that may have the words."""
        folded = text.casefold().replace(" ", "")
        having = set.intersection(*(_lines_with(folded, word) for word in self._words))
        return sorted(having.union(*(_lines_with(folded, part) for part in self._hiding)))

    def _matches_row(self, number: int, line: str) -> bool:
        example = parse_line(self._task, line, f"{self._name}:{number}")
        text = "" if example is None else "\n".join(texts(TASKS[self._task].row(example))).casefold()
        return all(word in text for word in self._words)


class LinesRead(NamedTuple):
    """examples: by line, without those that cannot be read.  not_reached: lines up to which the time did not last."""

    examples: dict[int, Any]
    not_reached: list[int]


def read_lines(task: str, source: Source, lines: Sequence[int], seconds: float = inf) -> LinesRead:
    """Read the examples of these lines, from 1; the file is read up to the last of them, or for so many seconds."""
    examples: dict[int, Any] = {}
    last, end = max(lines, default=0), time.perf_counter() + seconds
    for first, block in _blocks(source):
        if first > last:
            break
        if time.perf_counter() > end:
            return LinesRead(examples, [line for line in lines if line >= first])
        count = block.count(b"\n")
        if inside := [line for line in lines if first <= line < first + count]:
            block_lines = block.decode("utf-8", "replace").split("\n")
            examples |= {
                line: example
                for line in inside
                if (example := parse_line(task, block_lines[line - first], f"{source.name}:{line}")) is not None
            }
    return LinesRead(examples, [])


def _blocks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, lines of JSON) for each block; of a table, a line a row."""
    with source.open() as file:
        whole = is_list(file, source.name)
    if whole or is_parquet(source.name) or is_table(source.name):
        rows = source.each_row()
        while part := list(islice(rows, ROWS)):
            lines = [""] * (part[-1][0] - part[0][0] + 1)
            for line, row in part:
                if isinstance(row, dict):
                    lines[line - part[0][0]] = json.dumps(row, ensure_ascii=False, default=str)
            yield part[0][0], ("\n".join(lines) + "\n").encode("utf-8", "replace")
        return
    with source.open() as file:
        yield from line_blocks(file, source.name, source.unlimited)


def _lines_with(text: str, part: str) -> set[int]:
    """The lines, from 0, of a text of whole lines that contain a part."""
    lines, line, position = set(), 0, 0
    while (found := text.find(part, position)) >= 0:
        line += text.count("\n", position, found)
        lines.add(line)
        position = text.index("\n", found)
    return lines


def parse_line(task: str, line: str, place: str) -> Any:
    """The example of a line, or None if it has none."""
    with suppress(ValueError, RecursionError, DataError, InputError):
        if isinstance(row := json.loads(line), dict):
            example = TASKS[task].from_file(row, place)
            example.check()
            return example
    return None
