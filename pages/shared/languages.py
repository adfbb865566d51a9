"""Checkpoints of two languages: which one a page is in, and what its checkpoints become when it turns to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.shared import carried_input, url_state
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.text.language import guess_language


@dataclass(frozen=True)
class Spoken:
    """The language that a page is in: a page's checkpoints read one and the same.

    first: the language that the page opens in.  key: the widget that holds the page's checkpoints, from which the
    language follows.  takes: for each language what that widget takes when the page turns to it, a checkpoint or
    names of checkpoints.
    """

    now: str
    first: str
    key: str
    takes: Mapping[str, Any]

    def turn(self, code: str) -> None:
        """Before the next run: the page's checkpoints are those of the other language."""
        st.session_state[self.key] = self.takes[code]

    def reads(self) -> str:
        """A clause: the language that the page's checkpoints read."""
        taken = self.takes.get(self.now)
        subject = f"{taken.name} reads" if isinstance(taken, Entry) else "these models read"
        return f"{subject} {metadata.language_name(self.now)}"

    def readers(self, code: str) -> str:
        """Who would read another language."""
        taken = self.takes[code]
        return taken.name if isinstance(taken, Entry) else f"the {metadata.language_name(code)} models"


def requested_checkpoints(key: str) -> list[str]:
    """Names of the checkpoints in the widget or, before it exists, in the link."""
    url_state.forget(key)
    value = st.session_state.get(key)
    if value is None:
        return st.query_params.get_all(key)
    return [getattr(entry, "name", entry) for entry in (value if isinstance(value, list) else [value])]


def by_language(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Checkpoints, in the order in which they are offered, by the language that they read."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(metadata.language(entry), []).append(entry)
    return groups


def choose_language(entries_by_language: Mapping[str, Sequence[Entry]], key: str, prefer: str) -> tuple[str, str]:
    """The language of the requested checkpoints, else the one in the link, else that of the link's texts, else the
    default; and the default: the preferred language, if there are checkpoints for it."""
    codes = {entry.name: code for code, entries in entries_by_language.items() for entry in entries}
    linked = [codes[name] for name in requested_checkpoints(key) if name in codes]
    first = prefer if prefer in entries_by_language else next(iter(entries_by_language), prefer)
    candidates = (code for code in (linked_texts_language(), carried_input.language()) if code in entries_by_language)
    opens = next(candidates, first)
    link = {metadata.language_name(code): code for code in entries_by_language}.get(
        st.query_params.get("language", ""), opens
    )
    if st.session_state.get(key) == []:  # all were taken out: the language stays
        link = st.session_state.get("language", link)
    return (linked[0] if linked else link), first


def linked_texts_language() -> str:
    """The code of the language that the link's two sentences look like; empty where it has none, or nobody can tell."""
    return guess_language(" ".join(st.query_params.get(name, "") for name in "ab")) or ""


def single(entries: Sequence[Entry], key: str, prefer: str) -> tuple[Spoken, list[Entry]]:
    """The language of a page with one checkpoint, and the checkpoints to choose from.

    In another language the checkpoint with the same mechanism and similarity is selected, else the same mechanism.
    """
    entries_by_language = by_language(entries)
    carried_input.choose_one(entries, key)
    now, first = choose_language(entries_by_language, key, prefer)
    entries_here = entries_by_language.get(now, [])
    entry = next(
        (entry for entry in entries_here if entry.name in requested_checkpoints(key)),
        entries_here[0] if entries_here else None,
    )
    carried_input.carry_input(one=entry.name if entry else "")
    takes = {
        code: max(language_entries, key=lambda other: _same_settings(other, entry))
        for code, language_entries in entries_by_language.items()
    }
    return Spoken(now, first, key, takes | ({now: entry} if entry else {})), entries_here


def _same_settings(entry: Entry, other: Entry | None) -> list[bool]:
    names = ("mechanism", "similarity")
    equal = [
        other is not None and metadata.model_setting(entry, name) == metadata.model_setting(other, name)
        for name in names
    ]
    return [*equal, other is not None and metadata.is_living(entry) == metadata.is_living(other)]
