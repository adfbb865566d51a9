"""Attributions of one example by method, in order of cost, and their faithfulness: what the model is run for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from triattn_core.analysis.catalogue import METHODS
from triattn_core.sources.models import Question

if TYPE_CHECKING:
    from triattn_core.analysis.attribution.methods import Attributions


class Faithfulness(NamedTuple):
    """curves: of the methods and of random rankings; areas: over them; band: of the random ones.  See
    `analysis.attribution.faithfulness`."""

    curves: pd.DataFrame
    areas: pd.DataFrame
    band: pd.DataFrame


def stream_attributions(question: Question, steps: int) -> Iterator[tuple[Attributions, float]]:
    """What the methods give each token, and the log-odds of the answer: first those of the lowest cost, then with each
    higher one, at last all of METHODS."""
    columns: dict[str, pd.Series] = {}
    gap: float | None = None
    for _, names in groupby(sorted(METHODS, key=_cost), _cost):
        part, odds = _attribute_by(question, tuple(names), steps)
        columns |= {name: part.table[name] for name in part.methods}
        gap = part.gap if part.gap is not None else gap
        methods = tuple(name for name in METHODS if name in columns)
        table = part.table.drop(columns=list(part.methods)).assign(**{name: columns[name] for name in methods})
        yield replace(part, table=table, methods=methods, gap=gap), odds


def _cost(method: str) -> int:
    return METHODS[method].cost


def _attribute_by(question: Question, names: tuple[str, ...], steps: int) -> tuple[Attributions, float]:
    trace = question.explanation.trace

    def run(bundle):
        from triattn_core.analysis.attribution import methods
        from triattn_core.analysis.intervention.batched_variants import log_odds, run_query

        query = run_query(bundle, question.example, question.option)
        return methods.attribute(query, names, steps, trace), float(log_odds(query.scores[None], query.answer))

    follows_path = any(METHODS[name].follows_path for name in names)
    steps = steps if follows_path else 1
    says = " and ".join(names).capitalize() + (f" in {steps} steps" if follows_path else "")
    return question.answer(says, run, names, steps)


def measure_faithfulness(
    question: Question, attributions: Attributions, steps: int, draws: int, seed: int
) -> Faithfulness:
    """The perturbation curves of the methods and of random rankings, their areas, and the control's band.

    attributions: by all METHODS, of tokens as the model reads them, with `steps`.
    """

    def run(bundle):
        from triattn_core.analysis.attribution import faithfulness
        from triattn_core.analysis.intervention.batched_variants import run_query

        query = run_query(bundle, question.example, question.option)
        curves = faithfulness.example_curves(query, draws=draws, seed=seed, attributions=attributions)
        return Faithfulness(curves, faithfulness.aopc(curves), faithfulness.control_band(curves))

    return question.answer("Taking tokens out", run, steps, draws, seed)
