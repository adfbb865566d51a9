"""Attributions of one example by method, in order of cost, and their faithfulness: what the model is run for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.errors import InputError
from triattn_core.sources import open_source
from triattn_core.sources.models import Question
from triattn_core.sources.source import Ability, CanAttribute, lacks

if TYPE_CHECKING:
    from triattn_core.analysis.attribution.methods import Attributions


class Faithfulness(NamedTuple):
    """curves: of the methods and of random rankings; areas: over them; band: of the random ones.  See
    `analysis.attribution.faithfulness`."""

    curves: pd.DataFrame
    areas: pd.DataFrame
    band: pd.DataFrame


def source_of(question: Question) -> CanAttribute:
    """The source of a question.  Raises InputError where it cannot give gradients."""
    source = open_source(question.entry, question.models.device)
    if reason := lacks(source, (), [Ability.GRADIENTS]):
        raise InputError(reason)
    return source


def stream_attributions(question: Question, steps: int) -> Iterator[tuple[Attributions, float]]:
    """What the methods give each token, and the log-odds of the answer: first those of the lowest cost, then with each
    higher one, at last all that the source has."""
    every = source_of(question).methods
    columns: dict[str, pd.Series] = {}
    gap: float | None = None
    for _, names in groupby(sorted(every, key=_cost), _cost):
        part, odds = _attribute_by(question, tuple(names), steps)
        columns |= {name: part.table[name] for name in part.methods}
        gap = part.gap if part.gap is not None else gap
        methods = tuple(name for name in every if name in columns)
        table = part.table.drop(columns=list(part.methods)).assign(**{name: columns[name] for name in methods})
        yield replace(part, table=table, methods=methods, gap=gap), odds


def _cost(method: str) -> int:
    return JOINT_METHODS[method].cost


def _attribute_by(question: Question, names: tuple[str, ...], steps: int) -> tuple[Attributions, float]:
    source, trace = source_of(question), question.explanation.trace

    def run(model):
        return source.attribute(question.example, names, steps, question.option, trace, model)

    follows_path = any(JOINT_METHODS[name].follows_path for name in names)
    steps = steps if follows_path else 1
    says = " and ".join(names).capitalize() + (f" in {steps} steps" if follows_path else "")
    return question.answer(says, run, names, steps)


def measure_faithfulness(
    question: Question, attributions: Attributions, steps: int, draws: int, seed: int
) -> Faithfulness:
    """The perturbation curves of the methods and of random rankings, their areas, and the control's band.

    attributions: by all methods, of tokens as the model reads them, with `steps`.
    """
    source = source_of(question)

    def run(model):
        from triattn_core.analysis.attribution import faithfulness

        curves = source.deletion_curves(question.example, attributions, draws, seed, question.option, model)
        return Faithfulness(curves, faithfulness.aopc(curves), faithfulness.control_band(curves))

    return question.answer("Taking tokens out", run, steps, draws, seed)
