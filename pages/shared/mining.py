"""A file of rows on a page: batch after batch in the page's own run, which any click interrupts.

What was mined or asked stays with the session and goes on where it was; what is whole is kept for everybody.  Nothing
runs on after the user has left: Streamlit ends the run of a closed session at its next element, and each batch draws
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import model_jobs
from pages.shared.errors import escape_markdown
from pages.shared.models import MODELS
from triattn_core.analysis.mining import stored_cases
from triattn_core.analysis.mining.case_table import WINDOW, CaseTable
from triattn_core.analysis.mining.sources import Source
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference.device import choose_device, memory_guard

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.analysis.mining.runs import Run

REQUESTED = "rows requested"
UNDER_WAY = 3  # runs that a session may leave half done
AT_ONCE = 0.25  # seconds of batches before the page reacts to the user


@st.cache_resource(max_entries=12, show_spinner=False)
def _place(key: tuple) -> list:
    """Where a whole table is put once it is there."""
    return []


def mine_table(entries: Sequence[Entry], source: Source, wait: bool = False) -> CaseTable | None:
    """The table of these checkpoints over these rows, stored, from memory, or mined now with a bar and a button that
    stops it; None where it was stopped before the first row.

    wait: until the user asks for it, unless it is there; None until then.
    Raises TriattnError: a damaged checkpoint, none of the rows can be read, no memory.
    """
    key = (tuple((entry.name, entry.digest) for entry in entries), source.sha256, choose_device())
    place = _place(key)
    if not place and (stored := stored_cases.find(entries, source)):
        place.append(stored)
    if not place and wait and not _run_requested(entries, source):
        return None
    if not place:
        run = follow_run(key, entries, "Stop mining", source=source, command="mined on a page")
        if not run.is_complete:
            _show_stopped(run, f": of each {WINDOW} the shortest are mined first")
            return run.case_table() if run.rows else None
        place.append(run.case_table())
    return place[0]


def analyse_rows(
    question: tuple,
    entries: Sequence[Entry],
    source: Source,
    analyse: Callable,
    max_rows: int | None,
    wait: bool = False,
    tag: str = "",
    load: Callable[[], Sequence] | None = None,
    read: Callable | None = None,
) -> pd.DataFrame | None:
    """The table of an analysis of each of the first rows; see `mine_table`.

    question: identifies the analysis with its settings.  analyse: from bundles and rows to parts of the table.  tag: of
    the buttons, if a page runs several analyses.  load: returns the models, by default the checkpoints; read: returns
    their rows, by default the examples of their task.
    """
    key = (question, tuple((entry.name, entry.digest) for entry in entries), source.sha256, max_rows, choose_device())
    place = _place(key)
    if not place and wait and not _run_requested(entries, source, max_rows):
        return None
    if not place:
        run = follow_run(key, entries, "Stop", analyse, tag, load, source=source, max_rows=max_rows, read=read)
        if not run.is_complete:
            _show_stopped(run, tag=tag)
            return run.table() if run.rows else None
        place.append(run.table())
    return place[0]


def _run_requested(entries: Sequence[Entry], source: Source, max_rows: int | None = None) -> bool:
    """Whether a run over rows was requested in this session; shows the Run button until then."""
    if st.session_state.get(REQUESTED):
        return True
    count = min(max_rows or source.lines, source.lines)
    with st.container(horizontal=True, vertical_alignment="center", key="not-run"):
        st.button("Run", key="run", width=84, on_click=_request_run, help="You can stop it and keep what is done.")
        st.html(
            f'<p class="t-note">{count} rows, {escape(", ".join(entry.name for entry in entries))}. Not run yet.</p>'
        )
    return False


def _request_run() -> None:
    st.session_state[REQUESTED] = True


def follow_run(
    key: tuple,
    entries: Sequence[Entry],
    stop: str,
    analyse: Callable | None = None,
    tag: str = "",
    load: Callable[[], Sequence] | None = None,
    **run_options,
) -> Run:
    """The run of this session: started, or continued unless it was stopped."""
    from triattn_core.analysis.mining.runs import Run

    runs = st.session_state.setdefault("mining", {})
    if key not in runs:
        title, digests = (
            f"Loading {', '.join(entry.name for entry in entries)}",
            tuple(entry.digest for entry in entries),
        )
        load = load or partial(_row_models, entries)
        bundles = model_jobs.result(key[-1], ("loaded", digests, key[-1]), title, load)
        runs[key] = Run(bundles, analyse=analyse and partial(analyse, bundles), **run_options)
        while len(runs) > UNDER_WAY:
            del runs[next(iter(runs))]
    if st.session_state.get("mining stopped") != key:
        _mine_to_end(runs[key], key, stop, tag)
    return runs[key]


def _row_models(entries: Sequence[Entry]) -> list:
    from triattn_core.analysis.mining.other_answers import as_row_models

    return as_row_models([MODELS.load(entry) for entry in entries], entries)


def _mine_to_end(run: Run, key: tuple, stop: str, tag: str) -> None:
    """Runs to the end of the file or until the next click, with a progress bar."""
    slot = st.empty()
    with slot.container(horizontal=True, vertical_alignment="center", key=f"under-way{tag}"):
        bar = st.progress(0.0, _progress_text(run))
        hint = "Results so far are shown."
        st.button(stop, key=f"stop{tag}", width=112, on_click=_stop, args=(key,), help=hint)
    has_more = True
    while has_more:
        with memory_guard("these rows"), model_jobs.device_turn(run.bundles[0].device, _progress_text(run)):
            until = run.seconds + AT_ONCE
            while has_more and run.seconds < until:
                has_more = run.step()
        bar.progress(min(1.0, run.line / max(1, run.lines)), _progress_text(run))
    slot.empty()


def _progress_text(run: Run) -> str:
    """The progress of a run, in a sentence."""
    names = ", ".join(bundle.name for bundle in run.bundles)
    speed = f", {run.rows / run.seconds:.3g} a second" if run.rows and run.seconds else ""
    aside = f", {run.aside:,} set aside" if run.aside else ""
    time_left = _time_left(run.seconds, run.line, run.lines)
    return escape_markdown(
        f"{names} over {run.source.name}: line {run.line:,} of {run.lines:,}{speed}{time_left}{aside}"
    )


def _time_left(seconds: float, done: int, total: int) -> str:
    """The estimated time left; empty before the first line and after the last."""
    if not 0 < done < total or not seconds:
        return ""
    seconds_left = seconds / done * (total - done)
    return f", about {seconds_left:.0f} s left" if seconds_left < 100 else f", about {seconds_left / 60:.0f} min left"


def _show_stopped(run: Run, order: str = "", tag: str = "") -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"stopped{tag}"):
        st.html(f"Stopped after {run.rows:,} rows of {run.lines:,} lines{order}.")
        st.button("Go on", key=f"go-on{tag}", width=84, on_click=_stop, args=(None,))


def _stop(key: tuple | None) -> None:
    st.session_state["mining stopped"] = key
