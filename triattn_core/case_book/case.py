"""A case: an example with a note and tags, and how it stands in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from triattn_core.errors import CaseError

LONGEST = 20_000  # characters of a note
FORMAT = 1


@dataclass(frozen=True)
class Case:
    """An example of a task as a row of its file format, the page and query that show it, and a note with tags.

    `version` counts the changes, from 1; times are UTC, ISO 8601.
    """

    task: str
    row: dict
    note: str = ""
    tags: tuple[str, ...] = ()
    page: str = ""
    query: str = ""
    id: str = ""
    version: int = 0
    created: str = ""
    changed: str = ""


def check_note(note: str) -> str:
    """A note that is short enough.  Raises CaseError."""
    if len(note) > LONGEST:
        raise CaseError(f"a note has at most {LONGEST:,} characters, this one has {len(note):,}: shorten it")
    return note


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in order, each once, without needless blanks."""
    names = sorted({" ".join(tag.split())[:80] for tag in tags})
    return tuple(tag for tag in names if tag)


def texts(value: object) -> Iterator[str]:
    """All texts in a row, without its field names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def read_case(row: dict, where: str) -> Case:
    """A case as `CaseBook.export` writes it.  Raises CaseError."""
    try:
        types = {"task": str, "note": str, "page": str, "query": str, "id": str, "created": str, "changed": str}
        if row["format"] != FORMAT or not isinstance(row["row"], dict) or type(row["version"]) is not int:
            raise ValueError
        texts = {name: row[name] for name, type_ in types.items() if isinstance(row[name], type_)}
        return Case(**texts, row=row["row"], version=row["version"], tags=clean_tags(map(str, row["tags"])))
    except (KeyError, TypeError, ValueError):
        raise CaseError(f"{where}: not a case as `triattn book export` writes it") from None
