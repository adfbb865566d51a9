"""The model asked again, for the page of interventions: each unit alone, the chosen ones, and as many at random."""

from __future__ import annotations

import pandas as pd

from pages.common import asking
from pages.common.changed import Wanted
from triattn_core.trace import AttentionTrace

DRAWS = 20


def one_by_one(question: asking.Question, way: str, how: str) -> pd.DataFrame | None:
    """What each unit does alone; None where that is not asked: other ways, and tokens of one of several options."""
    several = question.task != "pairs"
    if how not in ("remove", "mask") or (several and way == "tokens"):
        return None

    def run(bundle):
        from triattn_core.analysis.one_by_one import each

        return each(bundle, question.example, way, question.option, read=how == "mask")

    key = ("each", question.example, question.option, way, how)
    return asking.answer(question.card, "Taking each out alone", run, *key)


def beside(question: asking.Question, wanted: Wanted):
    """The intervention beside the original, its maps summed over context: that is what is kept."""

    def run(bundle):
        from dataclasses import replace

        from triattn_core.analysis import interventions

        example, option, how = question.example, question.option, wanted.how
        if how == "swap":
            found = interventions.swap(bundle, example, wanted.more, option)
        elif how == "reorder":
            found = interventions.reorder(bundle, example, wanted.more, wanted.way, option)
        else:
            text = {"text": wanted.more or ""} if how == "replace" else {}
            found = getattr(interventions, how)(bundle, example, wanted.names, wanted.way, option=option, **text)
        before, after = (replace(one, trace=_flat(one.trace)) for one in (found.before, found.after))
        return replace(found, before=before, after=after)

    return asking.answer(question.card, "Asking again", run, "beside", question.example, question.option, wanted)


def _flat(trace: AttentionTrace) -> AttentionTrace:
    sites = {
        name: one.sum("context", keep_attrs=True).assign_attrs(sums_over="key") if "context" in one.dims else one
        for name, one in trace.sites.items()
        if name.endswith("/weight")
    }
    return AttentionTrace(sites, trace.texts, trace.meta)


def random_units(question: asking.Question, wanted: Wanted) -> pd.DataFrame:
    """What as many units at random do."""

    def run(bundle):
        from triattn_core.analysis.one_by_one import at_random

        more = {"read": wanted.how == "mask", "draws": DRAWS}
        return at_random(bundle, question.example, len(wanted.names), wanted.way, question.option, **more)

    key = ("random", question.example, question.option, wanted.way, wanted.how, len(wanted.names))
    return asking.answer(question.card, f"{DRAWS} random choices of as many units", run, *key)
