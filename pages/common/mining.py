"""A file of rows on a page: batch after batch in the page's own run, so that any click comes between two batches.

What was mined or asked stays with the session and goes on where it was; what is whole is kept for everybody.  Nothing
runs on after the reader has gone: Streamlit ends the run of a closed session at its next element, and each batch draws
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.common import models
from pages.common.errors import plain
from triattn_core.analysis.mined import WINDOW, Mined
from triattn_core.analysis.sources import Source
from triattn_core.device import choose, memory_guard
from triattn_core.shelf import Card

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.runs import Run

UNDER_WAY = 3  # runs that a session may leave half done
AT_ONCE = 1.0  # seconds of batches before other sessions have their turn, and the reader is heard


@st.cache_resource(max_entries=12, show_spinner=False)
def _place(key: tuple) -> list:
    """Where a whole table is put once it is there."""
    return []


def mined(cards: Sequence[Card], source: Source) -> Mined | None:
    """The table of these checkpoints over these rows, from memory or mined now, with a bar and a button that stops it;
    None where it was stopped before the first row.

    Raises TriattnError: a damaged checkpoint, none of the rows can be read, no memory.
    """
    key = (tuple((card.name, card.digest) for card in cards), source.sha256, choose())
    place = _place(key)
    if not place:
        run = followed(key, cards, "Stop mining", source=source, command="mined on a page")
        if not run.whole:
            _stopped(run, f": of each {WINDOW} the shortest are mined first")
            return run.mined() if run.rows else None
        place.append(run.mined())
    return place[0]


def asked(what: tuple, cards: Sequence[Card], source: Source, over: Callable, most: int | None) -> pd.DataFrame | None:
    """The table of a question put to each of the first rows; see `mined`.

    what: names the question with its settings.  over: makes parts of bundles and rows.
    """
    key = (what, tuple((card.name, card.digest) for card in cards), source.sha256, most, choose())
    place = _place(key)
    if not place:
        run = followed(key, cards, "Stop", over, source=source, most=most)
        if not run.whole:
            _stopped(run)
            return run.table() if run.rows else None
        place.append(run.table())
    return place[0]


def followed(key: tuple, cards: Sequence[Card], stop: str, over: Callable | None = None, **more) -> Run:
    """The run of this session, begun now or where it was, gone on with unless the reader has stopped it."""
    from triattn_core.analysis.runs import Run

    runs = st.session_state.setdefault("mining", {})
    if key not in runs:
        with st.spinner(f"Loading {', '.join(card.name for card in cards)}"):
            bundles = [models.load(card) for card in cards]
            runs[key] = Run(bundles, over=over and partial(over, bundles), **more)
        while len(runs) > UNDER_WAY:
            del runs[next(iter(runs))]
    if st.session_state.get("mining stopped") != key:
        _go_on(runs[key], key, stop)
    return runs[key]


def _go_on(run: Run, key: tuple, stop: str) -> None:
    """To the end of the file, or until the reader does something else."""
    slot = st.empty()
    with slot.container(horizontal=True, vertical_alignment="center", key="under-way"):
        bar = st.progress(0.0, _told(run))
        said = "What was done by then is shown."
        st.button(stop, key="stop", width=112, on_click=_stop, args=(key,), help=said)
    more = True
    while more:
        with models.lock(run.bundles[0].device), memory_guard("these rows"):
            until = run.seconds + AT_ONCE
            while more and run.seconds < until:
                more = run.step()
        bar.progress(min(1.0, run.line / max(1, run.lines)), _told(run))
    slot.empty()


def _told(run: Run) -> str:
    """What is being done."""
    names = ", ".join(bundle.name for bundle in run.bundles)
    speed = f", {run.rows / run.seconds:.3g} a second" if run.rows and run.seconds else ""
    aside = f", {run.aside:,} set aside" if run.aside else ""
    return plain(f"{names} over {run.source.name}: line {run.line:,} of {run.lines:,}{speed}{aside}")


def _stopped(run: Run, order: str = "") -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="stopped"):
        st.html(f"Stopped after {run.rows:,} rows of {run.lines:,} lines{order}.")
        st.button("Go on", key="go-on", width=84, on_click=_stop, args=(None,))


def _stop(key: tuple | None) -> None:
    st.session_state["mining stopped"] = key
