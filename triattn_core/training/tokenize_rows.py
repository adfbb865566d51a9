"""Tokenization of rows, with errors that name the line of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from triattn_core.errors import DataError, InputError
from triattn_core.text.roles import Limits
from triattn_core.text.rows import matches, read_json_lines
from triattn_core.text.tokenizer import Tokenizer

EVERY: Mapping[str, str] = MappingProxyType({})


def row_error(task, path: Path, example, error: InputError | str, where: Mapping[str, str] = EVERY) -> DataError:
    """The error with an example, prefixed with the line of its JSON Lines file.

    where: the field values of the rows that were read.
    """
    rows = ((place, row) for place, row in read_json_lines(path) if matches(row, where))
    place = next(place for place, row in rows if task.from_file(row, place) == example)
    return DataError(f"{place}: {error}")


def tokenize_rows(
    task, examples: Sequence, tokenizer: Tokenizer, limits: Limits, path: Path, where: Mapping[str, str] = EVERY
) -> list[tuple]:
    """`task.roles` of the examples.  Raises DataError that names the row of `path` without a token."""
    try:
        return task.roles(examples, tokenizer, limits)
    except InputError:
        for example in examples:
            try:
                task.roles([example], tokenizer, limits)
            except InputError as error:
                raise row_error(task, path, example, error, where) from None
        raise
