"""What a block costs: time and memory of MTSA and its baselines by the length of the text, measured here or before."""

from __future__ import annotations

import streamlit as st

from pages.results import cost_curves, cost_table, run_benchmark
from pages.shared import url_state
from pages.shared.errors import report_errors
from triattn_core.results import efficiency

LENGTHS = (16, 32, 64, 128, 256, 512)
SHIPPED = "shipped run"
TITLE = "What a block costs as texts grow: time and memory, on record or measured here"


def fold() -> None:
    """Shows the measurement in a fold; what is closed costs nothing."""
    with st.expander(TITLE, key="costs", bind="query-params") as box:
        if box.open:
            _show()


def _show() -> None:
    runs: dict[str, efficiency.Measurement | None] = {}
    with report_errors(stop=False):
        runs[SHIPPED] = efficiency.load_shipped()
    with st.container(horizontal=True, vertical_alignment="center", key="costs-settings"):
        with st.container(horizontal=True, width="content", key="looks"):
            pass_name = url_state.segments("Pass", list(efficiency.PASSES), "pass")
            axes = url_state.segments("Axes", ["log", "linear"], "axes")
            choice = st.container(width="content")
        with report_errors(stop=False):
            run_benchmark.controls(LENGTHS)
    with report_errors():
        runs[run_benchmark.HERE] = run_benchmark.under_way()
    run_names = [name for name, run in runs.items() if run is not None]
    run_name = run_names[-1] if run_names else ""
    if len(run_names) > 1:
        with choice:
            run_name = url_state.segments("Run", run_names, run_benchmark.CHOICE, 1)
    measured = runs.get(run_name)
    if measured is None or not measured.lengths:
        st.info("Nothing is measured yet: begin with the button above, or with the command triattn efficiency.")
        return
    cost_curves.show(measured, run_name, pass_name, axes == "log")
    tokens = url_state.segments("Tokens", measured.lengths, "tokens", min(2, len(measured.lengths) - 1))
    st.html(cost_table.costs_html(measured, tokens))
    st.html(cost_table.method_html(measured))
    name = f"efficiency-{measured.date}.json"
    st.download_button("Save this record, JSON", measured.text(), name, "application/json", on_click="ignore")
