"""Measuring on a page: a block at a length after the other in the page's own run, so that a click comes between two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import model_jobs, url_state
from pages.shared.errors import escape_markdown
from triattn_core.inference.device import choose_device
from triattn_core.results.efficiency import Measurement, printed_costs

if TYPE_CHECKING:
    from triattn_core.analysis.efficiency import Run

KEY, STOPPED = "efficiency run", "efficiency stopped"
CHOICE, HERE = "record", "measured here"  # the key of the choice of the run that is shown, and this one's name there


def controls(lengths: tuple[int, ...]) -> None:
    """The settings of a measurement and the button that begins it; back on the page, they are those of the last run."""
    if run := st.session_state.get(KEY):
        url_state.recall("batch", run.plan.batch)
        url_state.recall("longest", max(run.plan.lengths))
    with st.container(horizontal=True, vertical_alignment="bottom", width="content", border=True, key="measuring"):
        batch = url_state.segments("Batch", [1, 8, 64], "batch", 1)
        longest = url_state.segments("Up to", list(lengths[2:]), "longest", 1)
        plan = tuple(n for n in lengths if n <= longest), batch
        st.button("Measure on this machine", key="measure", width=176, on_click=_begin, args=plan)


def under_way() -> Measurement | None:
    """Runs this session's benchmark to its end or until it is stopped; returns its measurement, None without any."""
    run: Run | None = st.session_state.get(KEY)
    if run is None:
        return None
    slot = st.empty()  # of either line, so that a click on one puts the other in its place at once
    if run.done < len(run.steps) and st.session_state.get(STOPPED):
        with slot.container(horizontal=True, vertical_alignment="center", key="stopped"):
            st.html(f"Stopped: {run.done} of {len(run.steps)} done.")
            st.button("Go on", key="go-on", width=84, on_click=_stop, args=(False,))
    elif run.done < len(run.steps):
        with slot.container(horizontal=True, vertical_alignment="center", key="under-way"):
            bar = st.progress(0.0, _progress_text(run))
            st.button("Stop", key="stop", width=76, on_click=_stop, args=(True,), help="Measurements so far are shown.")
        has_more = True
        while has_more:
            bar.progress(run.done / len(run.steps), _progress_text(run))
            with model_jobs.device_turn(run.device, f"the benchmark ({_progress_text(run)})", uninterrupted=True):
                has_more = run.step()
        slot.empty()
    return run.measurement() if run.points else None


def _progress_text(run: Run) -> str:
    tokens, block = run.steps[min(run.done, len(run.steps) - 1)]
    name = printed_costs()[block].name if block in printed_costs() else block
    return escape_markdown(f"{name} on {tokens} tokens: {run.done} of {len(run.steps)} done")


def _begin(lengths: tuple[int, ...], batch: int) -> None:
    from triattn_core.analysis.efficiency import Plan, Run

    st.session_state[KEY] = Run(Plan(lengths, batch), choose_device(), "measured on the page Results")
    st.session_state[STOPPED] = False
    st.session_state[CHOICE] = HERE


def _stop(is_stopped: bool) -> None:
    st.session_state[STOPPED] = is_stopped
