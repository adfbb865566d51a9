"""Rows that models of others are asked about: their texts by line, and why one of them cannot be scored."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from triattn_core.analysis.mining.sources import Source
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import DataError, InputError

FORMATS = (
    'Rows are JSON Lines: {"text": …}, {"text_a": …, "text_b": …} of a pair, or {"source": …, "target": …} of a '
    'translation; "label" where a class, or the word in place of a mask, is predicted; of a question {"question": …, '
    '"context": …, "answers": …}, as in SQuAD.'
)


@st.cache_resource(max_entries=8, show_spinner=False)
def texts(sha256: str, _source: Source) -> dict[int, Any]:
    """The rows of a file that can be read, by line.  sha256: of the file."""
    from triattn_core.importers.text_rows import read_texts

    return {line: row for line, row in read_texts(_source) if not isinstance(row, DataError)}


def metric(model: Any) -> str:
    """What can be right of an answer: see `row_answers.metric_of`; empty where nobody knows."""
    from triattn_core.sources.row_answers import metric_of

    try:
        return metric_of(model)
    except InputError:
        return ""


def untranslated(model: Any, rows: Mapping[int, Any], ours: bool) -> bool:
    """Whether a decoder that reads an encoder has rows without a second text, which would be its target."""
    reads_two = getattr(model, "has_decoder", False)
    return reads_two and (ours or any(len(row.texts) < 2 for row in rows.values()))


def misfit(model: Any, rows: Mapping[int, Any], ours: bool) -> str:
    """One line on why the rows are of another task than the model's; empty where their labels fit.  ours: whether they
    are examples of the project, whose labels are those of its own tasks."""
    from triattn_core.sources.own_text import names_of_labels
    from triattn_core.sources.transformer_worth import misfit

    if untranslated(model, rows, ours):
        return 'rows of a translation have a second text, its target: {"source": …, "target": …}; choose a file'
    if ours and names_of_labels(model):
        return f"these examples are labelled for paraphrase, which {model.name} may not predict; choose a file"
    return misfit(model, rows.items())


def scored(model: Any, rows: Mapping[int, Any], ours: bool) -> bool:
    """Whether it can be said of these rows how much of them a model has right."""
    from triattn_core.sources.row_answers import ANSWERS, WORDS

    what = metric(model)
    if what == WORDS:
        return not untranslated(model, rows, ours)
    if what == ANSWERS:
        return any(row.answers for row in rows.values())
    return bool(what) and any(row.label is not None for row in rows.values()) and not misfit(model, rows, ours)


def command_name(entry: Entry) -> str:
    """What a listed model is called on the command line: its folder, or the file and function that build it."""
    return str(entry.config.get("build") or entry.path)


def show_command(names: Sequence[str], source: Source, count: int, *options: str) -> None:
    """Shows what prints the same numbers.  names: of `command_name`."""
    st.html('<span class="t-note">The same numbers from the command line, where the file is:</span>')
    parts = ["triattn", "evaluate", *names, source.name, "--rows", str(count), *options]
    st.code(shlex.join(parts), language=None, wrap_lines=True)
