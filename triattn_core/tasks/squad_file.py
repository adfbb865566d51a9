"""The official files of SQuAD: articles, their paragraphs, and the questions about each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from triattn_core.errors import DataError
from triattn_core.text.rows import read_json_value


def is_squad(path: Path | str) -> bool:
    """Whether a file has SQuAD's format, by its name."""
    return Path(path).name.endswith((".json", ".json.gz"))


def squad_rows(path: Path | str, content: bytes | None = None) -> Iterator[tuple[str, dict]]:
    """`(place, row)` of each question of an official file, {"data": [{"paragraphs": [{"context", "qas": […]}]}]}, or of
    a list of such rows.

    content: of the file, if it is not on disk.  Raises DataError that names the record.
    """
    place = str(path)
    whole = read_json_value(path, content)
    if isinstance(whole, list):
        yield from ((f"{place}: [{number}]", row) for number, row in enumerate(map(_row, whole)))
        return
    for a, article in enumerate(_list(whole, "data", place)):
        for p, paragraph in enumerate(_list(article, "paragraphs", f"{place}: data[{a}]")):
            place_of_paragraph = f"{place}: data[{a}].paragraphs[{p}]"
            for q, question in enumerate(_list(paragraph, "qas", place_of_paragraph)):
                if not isinstance(question, Mapping):
                    raise DataError(f"{place_of_paragraph}.qas[{q}]: must be an object, got {question!r:.40}")
                place_of_question = f"{place_of_paragraph}.qas[{q}]" + (
                    f" (id {question['id']})" if "id" in question else ""
                )
                yield (
                    place_of_question,
                    {"title": article.get("title", ""), "context": paragraph.get("context"), **question},
                )


def _row(row: object) -> dict:
    if not isinstance(row, dict):
        raise DataError(f"expected an object, got {type(row).__name__} {row!r:.40}")
    return row


def _list(record: object, name: str, where: str) -> list:
    items = record.get(name) if isinstance(record, Mapping) else None
    if not isinstance(items, list):
        raise DataError(f"{where}: must be an object with the list {name!r}, got {record!r:.40}")
    return items
