"""The sentences of Start: what is known of these cards and of real text, with the numbers on record."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean

import streamlit as st

from triattn_core.checkpoint.registry import OPERANDS, Entry, laboratory_checkpoints, list_checkpoints, root
from triattn_core.results.first_screen import first_screen
from triattn_core.results.run_records import read_records, record_files

TOLD, INPUTS = "pair", "both"  # of the runs that are compared: their loss, and what they read
TRI, PAIRWISE, LAYERED = ("scaled_dot", 0), ("strassen", 0), ("strassen", 1)  # similarity, two-way layers before it
LONGER = 10  # times the steps
NUMBERS = ("no", "one", "two", "three", "four", "five")


@st.cache_resource(show_spinner=False)
def sentence() -> str:
    """Three-way attention beside pairwise scores, alone and after a layer of two-way attention, on the numbers of word
    problems, in as many steps and in LONGER times as many; that ordinary sentences show no lead.  The second half alone
    where the records are missing."""
    plain = "Ordinary sentences: no lead shown."
    records = [record.entry for file in record_files("operands.jsonl") for record in read_records(file)[0]]
    runs = [run for run in (*list_checkpoints(root() / OPERANDS), *records) if is_compared(run)]
    epochs = min((run.config["training"]["epochs"] for run in runs), default=0)
    tri, tri_longer, pairwise, layered, layered_longer = means = [
        _mean(runs, *form, times * epochs)
        for form, times in ((TRI, 1), (TRI, LONGER), (PAIRWISE, 1), (LAYERED, 1), (LAYERED, LONGER))
    ]
    if None in means:
        return plain
    return (
        f"<b>On real text:</b> <a href='laboratory?laboratory=Word+problems' target='_self' "
        f"style='color: inherit'>which two numbers make a third?</a> Three at once {tri:.0f} % (longer: "
        f"{tri_longer:.0f} %), two at a time {pairwise:.0f} %, above a two-way layer {layered:.0f} % "
        f"(longer: {layered_longer:.0f} %). {plain}"
    )


@st.cache_resource(show_spinner=False)
def of_layers() -> str:
    """Two layers of two-way attention on the rows of Start, in as many steps and in LONGER times as many; empty where
    it is not on record.  Imports pandas, which the figure need not wait for."""
    from triattn_core.results.laboratory import laboratory_records, seed_tests, step_rows, training_steps

    name = first_screen()["two_way"]["checkpoint"].rpartition("-")[0] + "-2"
    entry = next((entry for entry in laboratory_checkpoints() if entry.name == name), None)
    if entry is None:
        return ""
    records = laboratory_records()
    tests = list(seed_tests(entry, records).values())
    longer = step_rows({name: ("", entry)}, records).query("measure == 'accuracy'")
    longer = longer[longer["x"] == LONGER * training_steps(entry.config)]["value"]
    seeds = NUMBERS[len(tests)] if len(tests) < len(NUMBERS) else str(len(tests))
    later = f"; ten times longer: {longer.min():.0f} to {longer.max():.0f} %" if len(longer) else ""
    return (
        f'<span title="{tests[0]["n"]:,} rows, {seeds} seeds"><b>Two two-way layers:</b> '
        f"{mean(test['accuracy'] for test in tests):.0f} %{later}.</span>"
    )


def is_compared(run: Entry) -> bool:
    model, training = run.config["model"], run.config["training"]
    plain = model["inputs"] == INPUTS and training["told"] == TOLD and not run.config.get("encoder")
    return model["mechanism"] == "tri" and plain


def _mean(runs: Iterable[Entry], similarity: str, before: int, epochs: int) -> float | None:
    """The mean over seeds of the run of this form and length, in per cent; None without it."""
    for run in runs:
        model = run.config["model"]
        if (model["similarity"], model["before"], run.config["training"]["epochs"]) == (similarity, before, epochs):
            return mean(seed["test"]["right_pair"] for seed in run.metrics["each_seed"])
    return None
