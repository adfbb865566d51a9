"""Words in the texts of a table's rows, and the texts of single rows; of a large table read from its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import row_source
from triattn_core.analysis.mining.case_table import Cases
from triattn_core.analysis.mining.sources import Source
from triattn_core.analysis.mining.text_search import Lines, LinesRead, TextSearch, as_lines, read_lines
from triattn_core.case_book import texts
from triattn_core.tasks import TASKS

SEARCH, READ = 10.0, 5.0  # seconds of a search before the user is asked to go on, and of reading the texts of a page
KEY = "text search"


@dataclass
class _Search:
    """A search of this session, and the seconds that it may take."""

    key: tuple
    search: TextSearch
    allowed: float

    def allow(self) -> None:
        """Lets it go on."""
        self.allowed = self.search.seconds + SEARCH


def matching_lines(cases: Cases, examples: Mapping[int, object], words: Sequence[str], slot: DeltaGenerator) -> Lines:
    """The lines of the rows that have all words in their texts, in increasing order.

    examples: by line, if they are in memory; else the file is searched for SEARCH seconds, any click interrupts it, and
    a button goes on.  words: casefolded.  slot: where this is said.
    """
    if not words:
        return as_lines()
    if examples:
        return as_lines(sorted(_lines_in_memory(cases.about.task, examples, words)))
    source = row_source.large_source(cases)
    if source is None:
        slot.html(
            f'<p class="t-note">Words are looked for in the ids: the texts are in {escape(cases.about.data)}, which is '
            "not here.</p>"
        )
        return as_lines()
    return _search(cases, source, words, slot)


def _lines_in_memory(task: str, examples: Mapping[int, object], words: Sequence[str]) -> list[int]:
    searched = ((line, "\n".join(texts(TASKS[task].row(example))).casefold()) for line, example in examples.items())
    return [line for line, text in searched if all(word in text for word in words)]


def _search(cases: Cases, source: Source, words: Sequence[str], slot: DeltaGenerator) -> Lines:
    key, state = (source.sha256, tuple(words)), st.session_state.get(KEY)
    if state is None or state.key != key:
        state = st.session_state[KEY] = _Search(key, TextSearch(cases.about.task, source, words), SEARCH)
    search = state.search
    if not search.is_complete and search.seconds < state.allowed:
        with slot:
            bar = st.progress(0.0, "Searching the texts")
            while search.seconds < state.allowed and search.step():
                bar.progress(min(1.0, search.line / max(1, cases.about.lines)), "Searching the texts")
            bar.empty()
    if not search.is_complete:
        with slot.container(horizontal=True, vertical_alignment="center", key="search-stopped"):
            reached = f"lines 1 to {search.line:,} of {cases.about.lines:,}"
            st.html(
                f'<p class="t-note">Searched the texts of {reached} in {search.seconds:.0f} s.</p>', width="content"
            )
            st.button("Search further", key="search-further", width=130, on_click=state.allow)
    return search.lines


def shown_examples(cases: Cases, examples: Mapping[int, object], lines: Sequence[int]) -> Mapping[int, object]:
    """The examples of these lines: those in memory, or those that are read from the file of a large table."""
    if examples or not len(lines) or (source := row_source.large_source(cases)) is None:
        return examples
    try:
        read = _read_texts(cases.about.task, source.sha256, tuple(lines), source)
    except _CutOffError as cut_off:
        read = cut_off.read
    name, far = escape(source.name), len(read.not_reached)
    if far:
        _note(f"{far:,} of these rows: {READ:.0f} s of reading did not reach them in {name}")
    if unreadable := len(lines) - len(read.examples) - far:
        _note(f"{unreadable:,} of these rows: they cannot be read in {name}")
    return read.examples


def _note(text: str) -> None:
    st.html(f'<p class="t-note">Shown without the texts: {text}.</p>')


class _CutOffError(Exception):
    """A reading that took too long, which Streamlit does not cache, so that the next one may get further."""

    def __init__(self, read: LinesRead):
        super().__init__()
        self.read = read


@st.cache_data(max_entries=64, show_spinner="Reading the texts")
def _read_texts(task: str, sha256: str, lines: tuple[int, ...], _source: Source) -> LinesRead:
    read = read_lines(task, _source, lines, READ)
    if read.not_reached:
        raise _CutOffError(read)
    return read
