"""Read as a person: to what each axis of a cube folds, and what is hidden of it.  All of it is in the URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.common import models, state
from pages.common.errors import notice
from pages.common.tasks import Words
from triattn_core.trace import Choice

SIDES = ("tokens", "words", "phrases", "sentences")  # to what query and key fold
TIMES = (3.0, 2.0, 1.5, 5.0)  # an even share of the mass, above which a token is a sink
LONGEST = 300  # characters of the reader's phrases that are read
SAYS = (
    "Pieces of a **word** are joined; Chinese is read character by character. A **phrase** is what stands between two "
    "punctuation marks, or what you write below: nothing here parses. Weights of a group are added, those of queries "
    "averaged, so that each row still sums to one: the mass before and after stands below the figure."
)
SINKS = (
    "A **sink** is a token that receives more than so many times an even share of the mass, the mean over heads and "
    "queries. What is hidden keeps its mass: nothing is normalised anew."
)


@dataclass(frozen=True)
class Reading:
    """To what query, key and context fold (`folds.WAYS`), the reader's own phrases, and the sinks that are hidden: the
    site and how many times an even share, or None."""

    query: str
    key: str
    context: str
    own: tuple[str, ...] = ()
    hide: bool = False
    sinks: tuple[str, float] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The same as a case card says it."""
        ways = {"query": self.query, "key": self.key, "context": self.context}
        return {**ways, "phrases": self.own, "hide": self.hide, "sinks": self.sinks and self.sinks[1]}

    @property
    def name(self) -> str:
        """In a few letters, for a file's name: "words-words-turns"."""
        ways = (self.query, self.key, self.context)
        return "-".join(ways) if set(ways) != {"tokens"} else ""


def controls(words: Words, choice: Choice) -> Reading:
    """The button "Read as" and what is in it."""
    ways = (*words.ways, *(way for way in ("phrases", "words") if way not in words.ways))
    with st.popover("Read as", width=96, key="reading"):
        with st.container(horizontal=True, key="read-as"):
            query = state.pick("Query as", list(SIDES), "query-as", width=112)
            key = state.pick("Key as", list(SIDES), "key-as", width=112)
            context = state.pick("Context as", list(ways), "context", width=112)
        written = ""
        if "phrases" in (query, key, context):
            label = "Phrases of your own, with | between them"
            written = st.text_input(label, key="phrases", bind="query-params", placeholder="a bat | my team")
        st.caption(SAYS)
        with st.container(horizontal=True, vertical_alignment="bottom", key="hidden"):
            hide = state.toggle("Hide [CLS], [SEP] and sinks", "hide")
            times = state.pick("Sinks: more than", list(TIMES), "sinks", show=lambda n: f"{n:g} × even", width=112)
        st.caption(SINKS)
    own = tuple(filter(None, (one.strip() for one in (written or "")[:LONGEST].split("|"))))
    return Reading(query, key, context, own, hide, (choice.site.rsplit("/", 1)[0], times) if hide else None)


def read(found: models.Explained, reading: Reading) -> models.Explained:
    """The example as it is read; a phrase that is not there is said.  Raises TriattnError."""
    _missing(found.trace.texts, reading.own)
    ways = {axis: getattr(reading, axis) for axis in ("query", "key", "context")}
    return models.folded(found, ways, reading.own, reading.sinks)


def _missing(texts: Mapping[str, str], own: tuple[str, ...]) -> None:
    from triattn_core.analysis.folds import unknown

    for one in unknown(texts, own):
        notice(f"“{one}” stands in none of the texts.")
