"""How tokens are grouped: the unit of each axis of a figure, and what is hidden.  All of it is in the URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.shared import url_state
from pages.shared.errors import notice
from triattn_core.trace import AttentionTrace
from triattn_core.trace.text_units import missing_phrases
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views.similarity.panels import ATTENTION

SIDES = ("tokens", "words", "phrases", "sentences")  # to what query and key fold
TIMES = (3.0, 2.0, 1.5, 5.0)  # an even share of the mass, above which a token is a sink
LONGEST = 300  # characters of the user's phrases that are read
PIECES = "Pieces of a **word** are joined; Chinese is read character by character. "
PHRASES = "A **phrase** is the text between two punctuation marks, or one that you enter yourself; there is no parser. "
MASS = (
    "Weights are summed within a group and averaged over queries, so that no mass is lost: the mass before and after "
    "grouping is shown below the figure."
)
SINKS = (
    "A **sink** is a token that receives more than this multiple of an even share of the mass, averaged over heads and "
    "queries. Hidden tokens keep their mass: nothing is renormalised."
)


@dataclass(frozen=True)
class Pick:
    """One picker.  key: its name in the URL; axes: those that it groups; units: of `text_units.UNITS`; token_name: the
    label of the unit `tokens`."""

    label: str
    key: str
    axes: tuple[str, ...]
    units: Sequence[str] = SIDES
    token_name: str = "tokens"


QUERY, KEY = Pick("Query as", "query-as", ("query",)), Pick("Key as", "key-as", ("key",))
TEXT = Pick("Tokens as", "tokens-as", ("query", "key"), SIDES[:3])  # of texts that attend to themselves
COIN = replace(TEXT, units=("tokens", "phrases"))
PASSAGE = tuple(  # a reader's tokens are words already
    Pick(f"{name} as", f"{name.lower()}-as", (axis,), ("tokens", "phrases", "sentences"), "words")
    for name, axis in (("Passage", "query"), ("Question", "key"))
)
TERMS = (
    "Grouped words have no joint terms: the terms below are those of the highest-weighted word pair in the cell, for "
    "each function."
)
WHOLE = "The trace in Export is not grouped."
BESIDE = {  # side by side: the pickers, whether tokens are hidden, what is told; by what stands there
    "mechanisms": (
        (QUERY, KEY),
        True,
        "Differences, bits and ranks are computed on the grouped weights; a sink in one map is hidden in all. " + WHOLE,
    ),
    "options": ((QUERY,), True, "Keys are summed here; group the context with the picker beside this button."),
    "inputs": (
        tuple(replace(pick, units=SIDES[:2]) for pick in (QUERY, KEY)),
        False,
        "Two inputs are read in tokens or words, and nothing is hidden: an edited phrase is another phrase, and each "
        f"input has sinks of its own. {WHOLE}",
    ),
}


def controls(picks: Sequence[Pick], hide: bool = True, note: str = "") -> TokenGrouping:
    """Shows the button "Read as" with its pickers.  hide: offer to hide special tokens and sinks; note: a hint."""
    with st.popover("Read as", width=96, key="reading"):
        with st.container(horizontal=True, key="read-as"):
            units = [_pick_unit(pick) for pick in picks]
        written, unit_names = "", {unit for pick in picks for unit in pick.units}
        if "phrases" in units:
            label = "Your own phrases, separated by |"
            written = st.text_input(label, key="phrases", bind="query-params", placeholder="a bat | my team")
        st.caption(PIECES * ("words" in unit_names) + PHRASES * ("phrases" in unit_names) + MASS + f" {note}")
        hidden, times = _hiding_controls() if hide else (False, None)
    phrases = tuple(filter(None, (phrase.strip() for phrase in (written or "")[:LONGEST].split("|"))))
    unit_of_axis = {axis: unit for pick, unit in zip(picks, units) for axis in pick.axes}
    return TokenGrouping.of(phrases, hidden, times, **unit_of_axis)


def _pick_unit(pick: Pick) -> str:
    names = {"tokens": pick.token_name}
    return url_state.pick(pick.label, list(pick.units), pick.key, show=lambda unit: names.get(unit, unit), width=112)


def _hiding_controls() -> tuple[bool, float]:
    """Whether special tokens and sinks are hidden, and what a sink is."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="hidden"):
        hide = url_state.toggle("Hide [CLS], [SEP] and sinks", "hide")
        times = url_state.pick("Sinks: more than", list(TIMES), "sinks", show=lambda n: f"{n:g} × even", width=112)
    st.caption(SINKS)
    return hide, times


def missing(texts: Mapping[str, str], reading: TokenGrouping) -> None:
    """Says which of the user's phrases stand in none of the texts."""
    for phrase in missing_phrases(texts, reading.phrases):
        notice(f"“{phrase}” is in none of the texts.")


def of_texts(reading: TokenGrouping) -> dict:
    """The choices of TEXT as settings of a case card."""
    return {"tokens": dict(reading.units)["query"], "phrases": reading.phrases}


def ending(reading: TokenGrouping) -> str:
    """Of a file's name."""
    return f"-{reading.name}" if reading.name else ""


def of_passage(reading: TokenGrouping) -> dict:
    """The choices of PASSAGE as settings of a case card."""
    units = {axis: "words" if unit == "tokens" else unit for axis, unit in reading.units}
    return {"passage": units["query"], "question": units["key"], "phrases": reading.phrases}


def command(read: AttentionTrace, facts: Mapping, cell: Sequence[int]) -> str:
    """What `triattn explain` is asked for a cell of a reader: its terms, and where words are joined its weight."""
    if "pair" not in facts:
        return f"--terms {cell[0]}.{cell[1]}"
    places, (query, key) = dict(zip(("query", "key"), cell)), facts["pair"]["at"]
    site = ATTENTION.with_quantity("weight")
    position = ",".join(str(places[str(axis)]) for axis in read.site(site).dims)
    return f"--terms {query}.{key} {read.meta['read']} --cell {site} {position}"
