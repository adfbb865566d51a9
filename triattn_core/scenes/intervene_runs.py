"""Model runs for an intervention: the change, each unit alone, random units, replaced attention."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.scenes.intervene_settings import DRAWS
from triattn_core.scenes.intervene_text import InterventionSpec, Nulls
from triattn_core.sources.models import Question
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import without_axes

if TYPE_CHECKING:
    from triattn_core.analysis.intervention.interventions import InterventionResult


def leave_one_out(question: Question, unit: str, operation: str) -> pd.DataFrame | None:
    """What each unit does alone; None where that is not asked: other ways, and tokens of one of several options."""
    if operation not in ("remove", "mask") or (question.option is not None and unit == "tokens"):
        return None

    def run(bundle):
        from triattn_core.analysis.intervention.leave_one_out import score_units

        return score_units(bundle, question.example, unit, question.option, read=operation == "mask")

    return question.answer("Leave-one-out", run, unit, operation)


def run_intervention(question: Question, spec: InterventionSpec) -> InterventionResult:
    """The intervention beside the original, its maps summed over context: that is what is kept."""

    def run(bundle):
        from triattn_core.analysis.intervention import interventions

        example, option, operation = question.example, question.option, spec.operation
        if operation == "swap":
            result = interventions.swap(bundle, example, spec.argument, option)
        elif operation == "reorder":
            result = interventions.reorder(bundle, example, spec.argument, spec.unit, option)
        else:
            text = {"text": spec.argument or ""} if operation == "replace" else {}
            result = getattr(interventions, operation)(bundle, example, spec.names, spec.unit, option=option, **text)
        before, after = (replace(run, trace=_flat(run.trace)) for run in (result.before, result.after))
        return replace(result, before=before, after=after)

    return question.answer("Running the intervention", run, spec)


def _flat(trace: AttentionTrace) -> AttentionTrace:
    sites = {site: without_axes(array) for site, array in trace.sites.items() if site.quantity == "weight"}
    return AttentionTrace(sites, trace.texts, trace.meta)


def random_units(question: Question, spec: InterventionSpec, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """What as many units at random do."""

    def run(bundle):
        from triattn_core.analysis.intervention.leave_one_out import score_random_units

        read = spec.operation == "mask"
        return score_random_units(
            bundle, question.example, len(spec.names), spec.unit, question.option, draws=draws, seed=seed, read=read
        )

    key = (spec.unit, spec.operation, len(spec.names), draws, seed)
    return question.answer(f"{draws} random choices of as many units", run, *key)


def nulls(question: Question, how: str, axis: str, draws: int, seed: int = 0) -> Nulls:
    """Attention replaced in all layers and both directions: see `analysis.intervention.null_replacement`."""
    draws = draws if REPLACEMENTS[how].is_random else 1

    def run(bundle):
        from triattn_core.analysis.intervention.null_replacement import run_null_test

        test = run_null_test(bundle, question.example, how, axis, draws, seed, question.option)
        start = test.before
        return Nulls(how, axis, test.log_odds, test.flipped, start.log_odds, start.prediction)

    return question.answer(f"{draws} draws", run, how, axis, draws, seed)
