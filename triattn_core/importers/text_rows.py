"""Rows of texts for models of others: `{"text"}`, `{"text_a", "text_b"}` of a pair, also under owners' names such as
`question` and `passage`, or `{"source", "target"}` of a translation; `label`, `gold_label` or
`is_duplicate` where there is one, `answers` of a question as SQuAD has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeGuard

from triattn_core.analysis.mining.sources import Source
from triattn_core.errors import DataError
from triattn_core.tasks.classes import FIRST, NO_GOLD, SECOND, known_label
from triattn_core.tasks.squad_file import is_squad
from triattn_core.text.row_fields import unnested, whole
from triattn_core.text.rows import read_json_value

FIELDS = (
    ("text_a", "text_b"),
    *(zip(FIRST, SECOND)),
    *(("question", passage) for passage in ("sentence", "passage", "context", "text")),  # QNLI, BoolQ, SQuAD
    *(("query", document) for document in ("passage", "document", "text")),
    ("text", "text_pair"),
    ("text",),
    ("sentence",),
    ("source", "target"),
    ("source",),
)


@dataclass(frozen=True)
class TextRow:
    """A text or a pair.  label: the number or the name of its class, None where it is not known.  answers: texts, any
    of which answers the question.  references: translations of the first text."""

    texts: tuple[str, ...]
    label: int | str | None = None
    answers: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


def row_texts(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """The text or the two texts of a row.  Raises DataError."""
    row = unnested(row)
    for names in FIELDS:
        if all(is_words(row.get(name)) for name in names):
            return tuple(row[name] for name in names)
    if not any(all(name in row for name in names) for names in FIELDS):
        listed = ", ".join(map(str, row)) or "none"
        raise DataError(f'{where}: fields "text", or "text_a" and "text_b", are absent; there are {listed:.120}')
    raise DataError(f'{where}: expected {{"text"}} or {{"text_a", "text_b"}}, each with at least one word')


def text_row(row: Mapping[str, Any], where: str) -> TextRow:
    """The texts of a row, its label, its answers and its translations.  Raises DataError."""
    label, texts = known_label(row), row_texts(row, where)
    given = row.get("references")
    references = tuple(filter(is_words, given)) if isinstance(given, list) else ()
    return TextRow(texts, None if label == NO_GOLD else whole(label), answer_texts(row), references)


def is_words(value: Any) -> TypeGuard[str]:
    """Whether a value is a text with at least one word."""
    return isinstance(value, str) and bool(value.strip())


def example_fields(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of an example of a model of others, whatever the row calls them: `text`, or `text_a` and `text_b`, of
    which the second may be blank.  Of a translation it is the source: the target is the model's to write.  A label that
    is the model's own is left out.  Raises DataError."""
    row = unnested(row)
    pair = row.get("text_a"), row.get("text_b")
    texts: tuple[Any, ...] = pair if all(isinstance(text, str) for text in pair) else row_texts(row, where)
    texts = texts[:1] if texts == (row.get("source"), row.get("target")) else texts
    names = ("text",) if len(texts) == 1 else ("text_a", "text_b")
    kept = {name: row[name] for name in ("id",) if name in row}
    label = whole(known_label(row))
    return {**dict(zip(names, texts)), **kept, **({"label": label} if label in (0, 1) else {})}


def answer_texts(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers of a row, each once: [{"text"}], as in SQuAD's file; {"text": […]}, as the hub has it; or texts."""
    given = row.get("answers", row.get("answer", ()))
    given = given.get("text", ()) if isinstance(given, Mapping) else given
    several = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    texts = [one.get("text") if isinstance(one, Mapping) else one for one in several]
    return tuple(dict.fromkeys(filter(is_words, texts)))


def _numbered(source: Source) -> Iterator[tuple[int, dict | DataError]]:
    """The rows of a file by line; of SQuAD's articles the questions, from 1."""
    if is_squad(source.name) and _has_articles(source):
        yield from ((number, row) for number, _, row in source.rows("questions"))
    else:
        yield from source.each_row()


def _has_articles(source: Source) -> bool:
    with source.open() as file, suppress(DataError):
        value = read_json_value(source.name, file.read())
        return isinstance(value, dict) and isinstance(value.get("data"), list)
    return False


def read_texts(source: Source) -> Iterator[tuple[int, TextRow | DataError]]:
    """Yield (line, the row, or the DataError that says why there are none) for each row of a file, or each question of
    an official file of SQuAD."""
    for line, row in _numbered(source):
        try:
            if isinstance(row, DataError):
                yield line, row
            else:
                yield line, text_row(row, f"{source.name}:{line}")
        except DataError as error:
            yield line, error
