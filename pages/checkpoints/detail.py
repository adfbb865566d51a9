"""All about one checkpoint: what it reached, its checks, its files, and where it opens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared import attention_worth, checkpoint_html, checkpoint_picker, deep_links, model_jobs
from pages.shared.errors import report_errors
from triattn_core.checkpoint import metadata, provenance
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference.device import choose_device

if TYPE_CHECKING:
    from triattn_core.checkpoint.verify import Check


def show(entry: Entry, entries: Sequence[Entry]) -> None:
    """The chosen checkpoint; entries: those that "Verify all" checks."""
    st.html(checkpoint_html.head(entry) + checkpoint_html.metrics_html(entry) + attention_worth.facts(entry))
    with st.container(horizontal=True):
        verify_one = st.button("Verify", width=96, help="Its digest, its shapes, and its recorded example once more.")
        verify_all = st.button("Verify all", width=96)
    _verify(entry, entries if verify_all else [entry] if verify_one else [])
    st.html(checkpoint_html.contents(entry))
    with st.container(horizontal=True, vertical_alignment="center"):
        _links(entry)
        with st.popover("Model card"):
            st.markdown(provenance.model_card(entry) or "This checkpoint has no README.md.")


def _verify(entry: Entry, to_verify: Sequence[Entry]) -> None:
    """Verifies these checkpoints and shows the results; without any, the last result of the chosen one."""
    results = st.session_state.setdefault("verified", {})
    for checked in to_verify:
        with report_errors(stop=False), st.spinner(f"Verifying {checked.name}"):
            results[checked.name, checked.digest] = _check(checked)
    for checked in to_verify or [entry]:
        if (checked.name, checked.digest) in results:
            st.html(checkpoint_html.checks(checked.name, *results[checked.name, checked.digest]))


def _check(entry: Entry) -> tuple[datetime, list[Check]]:
    """The time and the checks of a verification, read again from disk.  Raises TriattnError."""
    from triattn_core.checkpoint.verify import verify

    device, started = choose_device(), datetime.now()
    key, run = ("verify", entry.name, started), lambda: verify(str(entry.path), device)
    return started, model_jobs.result(device, key, f"Verifying {entry.name}", run, keep=lambda checks: None)


def _links(entry: Entry) -> None:
    """The pages that show a checkpoint of its kind."""
    for page in entry.kind.pages(metadata.model_setting(entry, "mechanism")):
        query = {"checkpoint": entry.name}
        if page == "side_by_side":
            query = {checkpoint_picker.KEY: checkpoint_picker.preset_of(entry)}
        st.page_link(f"pages/{page}/page.py", label=deep_links.PAGES[page], query_params=query)
