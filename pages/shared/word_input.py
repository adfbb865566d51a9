"""A sentence and its predicate, one of its words: in the URL (`predicate`, from 1), and chosen by a click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.shared import carried_input, pair_input, sentence_box, url_state
from pages.shared.errors import escape_markdown, notice
from pages.shared.role_words import RoleWord, show
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import quote
from triattn_core.tasks import roles
from triattn_core.text.word_texts import split_words

KEY, TEXT = "predicate", "text"
LAST = "predicate-of-words"  # in the session: the words shown last, and their predicate
ASKS = "Click the word whose roles you want: a verb, or a noun such as “decision”."


def example(entry: Entry) -> roles.Example | None:
    """Shows the sentence and the examples menu; returns the example, with its tags if it is the project's; None where
    its predicate must be chosen first.

    Punctuation alone, and a sentence of more words than the checkpoint reads, need none: running it says so.
    """
    examples = roles.examples()
    opens = sentence_of(examples[0])
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair"):
        carried_input.text(TEXT, opens)
        text = sentence_box.box("Sentence", opens, TEXT, on_change=_typed)
        options = {"on_click": _apply, "format_func": _title, "width": 112}
        st.menu_button("Examples", examples, key="roles-example", **options)
    text = pair_input.cut(text, TEXT, roles.TEXTS[TEXT])
    carried_input.carry_input(texts={TEXT: text})
    words = words_of(text)
    matches = [item for item in examples if item.words == words]
    predicate = _chosen(words, matches[0].predicate if matches else None)
    if predicate is None and roles.has_word(words) and len(words) <= int(entry.config["max_tokens"]):
        return None
    if predicate is not None:
        st.session_state[LAST] = words, predicate
    place = predicate or 0
    return next((item for item in matches if item.predicate == place), None) or roles.Example(words, place)


def ask() -> None:
    """Shows the words of the sentence, to choose one of them."""
    st.info(ASKS)
    show([RoleWord(word) for word in words_of(st.session_state[TEXT])], None, choose)


def choose(word: int) -> None:
    """Before the page runs: this word, from 0, is the predicate."""
    st.query_params[KEY] = str(word + 1)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a typed sentence."""
    return tuple(text[start:end] for start, end in split_words(text))


def sentence_of(example: roles.Example) -> str:
    """The words of an example, with a space between them."""
    return roles.texts(example)["text"]


def _chosen(words: Sequence[str], own: int | None) -> int | None:
    """The predicate in the link, from 0, else the one that these words had before; own: of the project's example,
    where neither is."""
    linked, last = st.query_params.get(KEY), st.session_state.get(LAST)
    if linked is None:
        if last is None or last[0] != words:
            return own
        if last[1] != own:
            choose(last[1])
        return last[1]
    if linked.isascii() and linked.isdecimal() and len(linked) < 6 and 1 <= int(linked) <= len(words):
        return int(linked) - 1
    if words:
        notice(f"The link asks for predicate {quote(linked)}; expected the number of a word, from 1 to {len(words)}.")
    url_state.drop(KEY)
    return own


def follow(words: Sequence[str], predicate: int, edited: Sequence[str]) -> int | None:
    """Where a predicate stands in an edited sentence: at its place, else where its word is if it is there once; None
    where neither holds."""
    word = words[predicate]
    if edited[predicate : predicate + 1] == words[predicate : predicate + 1]:
        return predicate
    return edited.index(word) if edited.count(word) == 1 else None


def _typed() -> None:
    """When a sentence was typed: the predicate stays chosen if its word is still there."""
    pair_input.shorten(TEXT)
    last = st.session_state.get(LAST)
    place = follow(*last, words_of(st.session_state[TEXT])) if last else None
    if place is None:
        url_state.drop(KEY)
    else:
        choose(place)


def _title(example: Any) -> str:
    return escape_markdown(f"{example.words[example.predicate]}:  {sentence_of(example)}")


def _apply() -> None:
    example = st.session_state["roles-example"]
    st.session_state[TEXT] = sentence_of(example)
    st.query_params[KEY] = str(example.predicate + 1)
