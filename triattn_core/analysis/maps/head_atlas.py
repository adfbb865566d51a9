"""Measures of every head over a file of rows: a row for each example, site and head, and their means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from triattn_core.analysis.intervention import head_ablation
from triattn_core.analysis.maps import trace_context
from triattn_core.analysis.maps.head_measures import MEASURES, head_table
from triattn_core.analysis.maps.head_profiles import profile_table
from triattn_core.analysis.mining.failing_rows import measure_each
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import TraceError
from triattn_core.inference.explain import explain
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

THREE_WAY = "three_way"
NUMBERS = (*MEASURES, THREE_WAY)
STRONGEST = 3  # examples of a head with most of a measure
DECILES = tuple(range(90, 0, -10))


def measure_rows(
    bundle: Bundle, rows: Sequence[tuple[int, Any]], profiles: bool = False, ablate: bool = False
) -> pd.DataFrame:
    """`measure_heads` of rows (line, example), with columns `row` and `id`; of several options, the chosen one.

    profiles: with the columns of `head_profiles.profile_table`.  ablate: with those of
    `head_ablation.measure_example`, empty in rows without a label.
    """

    def measure(example: Any) -> pd.DataFrame:
        table = _of_trace(explain(bundle, example)[1], profiles)
        if ablate and example.label is not None:
            changed = head_ablation.measure_example(bundle, example, _heads(table))
            table = table.merge(changed.astype({"right": "boolean", "own": "boolean"}), on=["site", "head"])
        return table.assign(id=str(example.id)[:80])

    return measure_each(rows, measure)


def measure_texts(
    trace_of: Callable[..., AttentionTrace],
    rows: Sequence[tuple[int, Any]],
    profiles: bool = False,
    without: Callable[[Any, Sequence[head_ablation.Head]], pd.DataFrame | None] | None = None,
) -> pd.DataFrame:
    """The same for the attention of another model: trace_of a row; rows: (line, `TextRow`).

    without: how the answer to a row changes without each of these heads; None of a row whose answer nobody knows.
    """

    def measure(row: Any) -> pd.DataFrame:
        table = _of_trace(trace_of(row), profiles)
        if without is not None and (changed := without(row, _heads(table))) is not None:
            table = table.merge(changed.astype({"right": "Float64", "own": "Float64"}), on=["site", "head"])
        return table.assign(id="")

    return measure_each(rows, measure)


def _heads(table: pd.DataFrame) -> list[head_ablation.Head]:
    return list(table[["site", "head"]].itertuples(index=False, name=None))


def _of_trace(trace: AttentionTrace, profiles: bool) -> pd.DataFrame:
    table = measure_heads(trace)
    return table.merge(profile_table(trace), on=["site", "head"]) if profiles else table


def measure_heads(trace: AttentionTrace) -> pd.DataFrame:
    """`head_table` of a trace, with the share of the relevance that only query, key and context together explain
    (`three_way`, of cubes).  Raises TraceError where the trace has no weights over query and key."""
    table = head_table(trace)
    if not trace_context.cube_sites(trace):
        return table.assign(**{THREE_WAY: float("nan")})
    shares = trace_context.context_table(trace)
    shares = shares.assign(site=[str(Site.parse(site).with_quantity("weight")) for site in shares["site"]])
    return table.merge(shares[["site", "head", THREE_WAY]], on=["site", "head"], how="left")


def summarize(table: pd.DataFrame) -> pd.DataFrame:
    """The mean of each of NUMBERS over rows: a row a site and head, that with the most query information first; heads
    count from 0.  Measures without a meaning here are left out."""
    if table.empty:
        raise TraceError("no row was measured")
    means = table.groupby(["site", "layer", "head"], as_index=False)[list(NUMBERS)].mean()
    return means.dropna(axis=1, how="all").sort_values("query_information", ascending=False, ignore_index=True)


def pick_examples(table: pd.DataFrame, site: str, head: int, measure: str) -> pd.DataFrame:
    """The rows in which a head has most of a measure, and those at its deciles: `rank` ("strongest 1", "90 %", …),
    `row`, `id` and `value`; each row once, the strongest first.  Empty if the measure does not apply to the head."""
    rows = table[(table["site"] == site) & (table["head"] == head)].dropna(subset=[measure])
    rows = rows.sort_values(measure, ascending=False, kind="stable", ignore_index=True)
    ranks = {place: f"strongest {place + 1}" for place in range(min(STRONGEST, len(rows)))}
    for decile in DECILES if len(rows) else ():
        ranks.setdefault(int(np.ceil((len(rows) - 1) * (100 - decile) / 100 - 1e-9)), f"{decile} %")
    places = sorted(ranks)
    examples = rows.loc[places, ["row", "id", measure]].rename(columns={measure: "value"})
    examples = examples.assign(rank=[ranks[place] for place in places])
    return examples[["rank", "row", "id", "value"]].reset_index(drop=True)
