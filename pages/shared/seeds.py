"""The scores of a checkpoint over all seeds that were trained of it: its own, and those of sweeps on record."""

from __future__ import annotations

import streamlit as st

from pages.shared.record_stamp import record_stamp
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.results.run_records import Record, all_records


def scores(entry: Entry, split: str) -> tuple[float, ...]:
    """The main metric on `dev` or `test` of each seed, in per cent; empty where there is none."""
    if not metadata.main_metric(entry):
        return ()
    stamp = record_stamp()
    if entry.kind.compares_forms and entry.name in _swept(stamp):
        return _scores(entry.name, entry.digest, split, stamp, entry)
    if (record := Record(entry)).folds:  # their mean is one score
        score = metadata.main_score(entry, split)
        return () if score is None else (score,)
    return record.values(split, metadata.main_metric(entry))


@st.cache_resource(max_entries=8, show_spinner=False)
def _swept(stamp: str) -> frozenset[str]:
    """Names of the models of which a sweep is on record: only of these a config is read, which loads torch."""
    return frozenset(record.entry.name for record in all_records()[0] if record.file)


@st.cache_resource(max_entries=400, show_spinner=False)
def _scores(name: str, digest: str, split: str, stamp: str, _entry: Entry) -> tuple[float, ...]:
    from triattn_core.results.worth import seed_scores

    return tuple(seed_scores(_entry, split))
