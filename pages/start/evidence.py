"""One sentence of Start: what is known of real text, with the numbers on record."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean

import streamlit as st

from triattn_core.checkpoint.registry import OPERANDS, Entry, list_checkpoints, root
from triattn_core.results.run_records import read_records, record_files

TOLD, INPUTS = "pair", "both"  # of the runs that are compared: their loss, and what they read
LONGER = 10  # times the steps


@st.cache_resource(show_spinner=False)
def sentence() -> str:
    """Three-way attention beside pairwise scores on the numbers of word problems, in as many steps and in more; that
    ordinary sentences show no lead.  The second half alone where the records are missing."""
    plain = "On ordinary sentences no lead is shown."
    records = [record.entry for file in record_files("operands.jsonl") for record in read_records(file)[0]]
    runs = [run for run in (*list_checkpoints(root() / OPERANDS), *records) if _compares(run)]
    epochs = min((run.config["training"]["epochs"] for run in runs), default=0)
    in_time = [run for run in runs if run.config["training"]["epochs"] == epochs]
    tri, pairwise = (
        _best(run for run in in_time if (run.config["model"]["similarity"], run.config["model"]["before"]) == form)
        for form in (("scaled_dot", 0), ("pairwise", 0))
    )
    longer = _best(run for run in runs if run.config["training"]["epochs"] >= LONGER * epochs and not _is_tri(run))
    if not (tri and pairwise and longer):
        return plain
    return (
        f"<b>On real text:</b> which two of a problem’s numbers make a third? Three at once {tri:.0f} %, two at a time "
        f"{pairwise:.0f} %; with ten times the training two at a time also reaches {longer:.0f} %. {plain}"
    )


def _compares(run: Entry) -> bool:
    model, training = run.config["model"], run.config["training"]
    return model["mechanism"] == "tri" and model["inputs"] == INPUTS and training["told"] == TOLD


def _is_tri(run: Entry) -> bool:
    return run.config["model"]["similarity"] != "pairwise"


def _best(runs: Iterable[Entry]) -> float | None:
    """The largest mean over seeds, in per cent; None without runs."""
    return max((mean(seed["test"]["right_pair"] for seed in run.metrics["each_seed"]) for run in runs), default=None)
