"""An intervention beside the original, as its page draws it; what is asked of the model for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
from pydantic import Field

from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.checkpoint.registry import Card
from triattn_core.scenes import intervene_text as said
from triattn_core.scenes import scene
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.intervene_text import InterventionSpec, Nulls
from triattn_core.scenes.intervene_units import intervention_spec, units, ways
from triattn_core.scenes.runner import Models, Question
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings
from triattn_core.tasks import TASKS
from triattn_core.trace import AttentionTrace
from triattn_core.views.charts import intervention as view
from triattn_core.views.lib.strongest import labels, numbered

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.analysis.intervention.interventions import InterventionResult

WIDE = 640  # pixels of a figure that has the width of its page
DRAWS = 20  # random choices of as many units


class Settings(ViewSettings):
    """how: see `interventions`.  unit: to what the context is cut, None as the page opens; units: which, by name; None
    is the one that tells most alone, where each is asked alone, else the first.

    text: of replace, empty is [MASK].  order: of reorder; shuffle: its seed.  other: of swap the other example's row.
    way, layer, head: of the maps, from 1; None is the mean of heads.  random: choices of as many units, drawn from
    `seed`; 0 leaves them out.  null: what attention becomes in `draws` draws from `seed`, along an axis; None leaves
    them out, for each draw asks the model again.  option: of a task that chooses among texts, from 1.
    """

    how: Literal["remove", "mask", "replace", "reorder", "swap"] = "remove"
    unit: Literal["tokens", "sentences", "turns"] | None = None
    units: tuple[str, ...] | None = None
    text: str = ""
    order: Literal["chosen first", "chosen last", "reversed", "shuffled"] = "chosen first"
    shuffle: int = 1
    other: dict[str, Any] | None = None
    way: Literal["a_over_b", "b_over_a"] = "a_over_b"
    layer: int = Field(1, ge=1)
    head: int | None = Field(None, ge=1)
    random: int = Field(DRAWS, ge=0)
    null: Literal[tuple(REPLACEMENTS)] | None = None
    along: Literal["key", "context"] = "key"
    draws: int = Field(40, ge=1)
    seed: int = 0
    option: int | None = Field(None, ge=1)


def build(models: Models, cards: Sequence[Card], example: Any, settings: Settings) -> Scene:
    """The scene.  Raises InputError for a unit that is not there, TraceError for a layer or head, ConfigError
    for a model that is not asked so."""
    question = Question.put(models, cards[0], example, settings.option and settings.option - 1)
    way = settings.unit or ("turns" if settings.how == "swap" else ways(question)[0])
    known = units(question, way)
    alone = one_by_one(question, way, settings.how)
    asked = intervention_spec(question, settings.model_copy(update={"unit": way}), known, alone)
    found = run_intervention(question, asked)
    others = alone is not None and len(asked.names) < len(known) and settings.random
    lots = random_units(question, asked, settings.random, settings.seed) if others else None
    before, after, names, told = maps(found, f"layer.{settings.layer - 1}/{settings.way}/weight", settings.head)
    did = f"{describe_result(found)} {said.describe_change(found, asked, alone, lots)}"
    head = "mean of heads" if settings.head is None else f"head {settings.head}"
    caption, texts = f"{cards[0].name}, {asked.how}", scene.input_line(question.found)
    place = f"{caption}, {settings.way.replace('_', ' ')}, layer {settings.layer}, {head}{texts}"
    charts = {"maps": (view.maps(before, after, names), "Attention before and after", f"{did} {told}", place)}
    tables = {"maps": scene.with_positions(view.cells(before, after, names))}
    if alone is not None:
        words, wide = [known[name] for name in alone["unit"]], max(WIDE, 22 * len(alone))
        chart = view.singly(alone, words, asked.names, width=wide)
        charts["alone"] = (
            chart,
            "Each unit alone, change of the log-odds",
            said.describe_each(alone, known),
            caption + texts,
        )
        if said.moves_attention(alone):
            chart = view.singly(alone, words, asked.names, width=wide, what="moved")
            told = said.describe_each_shift(alone, known)
            charts["moved"] = chart, "Each unit alone, bits that attention moved", told, caption + texts
        tables["alone"] = alone.assign(text=alone["unit"].map(known))
    if lots is not None:
        tables["random"] = lots.rename(columns={"unit": "draw"})
    if settings.null:
        lots = nulls(question, settings.null, settings.along, settings.draws, settings.seed)
        chart = view.draws(lots.log_odds.tolist(), lots.original, two=question.option is None).properties(width=WIDE)
        charts["draws"] = (
            chart,
            "Is this map signal?",
            said.describe_null(lots),
            f"{caption}, seed {settings.seed}{texts}",
        )
        tables["draws"] = lots.rows
    result = replace(question.found, prediction=found.after.prediction, trace=found.after.trace, what="after")
    more = {"unit": way, "units": asked.names, "option": None if question.option is None else question.option + 1}
    if settings.how == "swap":
        more["other"] = TASKS[cards[0].config["task"]].row(asked.more)
    return Scene(
        settings=settings.model_copy(update=more),
        draw=lambda: {name: Chart.of(*one) for name, one in charts.items()},
        tabulate=lambda: scene.stack_tables(**tables),
        trace=join_traces(found),
        found=(replace(question.found, what="before"), result),
    )


def one_by_one(question: Question, way: str, how: str) -> pd.DataFrame | None:
    """What each unit does alone; None where that is not asked: other ways, and tokens of one of several options."""
    if how not in ("remove", "mask") or (question.option is not None and way == "tokens"):
        return None

    def run(bundle):
        from triattn_core.analysis.intervention.leave_one_out import score_units

        return score_units(bundle, question.example, way, question.option, read=how == "mask")

    return question.answer("Taking each out alone", run, way, how)


def run_intervention(question: Question, wanted: InterventionSpec) -> InterventionResult:
    """The intervention beside the original, its maps summed over context: that is what is kept."""

    def run(bundle):
        from triattn_core.analysis.intervention import interventions

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

    return question.answer("Asking again", run, wanted)


def _flat(trace: AttentionTrace) -> AttentionTrace:
    sites = {
        name: one.sum("context", keep_attrs=True).assign_attrs(sums_over="key") if "context" in one.dims else one
        for name, one in trace.sites.items()
        if name.endswith("/weight")
    }
    return AttentionTrace(sites, trace.texts, trace.meta)


def random_units(question: Question, wanted: InterventionSpec, draws: int = DRAWS, seed: int = 0) -> pd.DataFrame:
    """What as many units at random do."""

    def run(bundle):
        from triattn_core.analysis.intervention.leave_one_out import score_random_units

        more = {"read": wanted.how == "mask", "draws": draws, "seed": seed}
        return score_random_units(bundle, question.example, len(wanted.names), wanted.way, question.option, **more)

    key = (wanted.way, wanted.how, len(wanted.names), draws, seed)
    return question.answer(f"{draws} random choices of as many units", run, *key)


def nulls(question: Question, how: str, axis: str, draws: int, seed: int = 0) -> Nulls:
    """Attention replaced in all layers and both directions: see `analysis.intervention.null_replacement`."""
    draws = draws if REPLACEMENTS[how].drawn else 1

    def run(bundle):
        from triattn_core.analysis.intervention.null_replacement import run_null_test

        found = run_null_test(bundle, question.example, how, axis, draws, seed, question.option)
        start = found.before
        return Nulls(how, axis, found.log_odds, found.flipped, start.log_odds, start.prediction)

    return question.answer(f"{draws} draws", run, how, axis, draws, seed)


def maps(found: InterventionResult, site: str, head: int | None) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
    """Weights before and after, their labels, and how far attention moved.  head: from 1, None is the mean.

    Raises TraceError where there is no such site or head.
    """
    from triattn_core.analysis.maps import compare, joint_keys

    arrays = [joint_keys.with_context_key(one.trace.site(site)) for one in (found.before, found.after)]
    before, after = (compare.two_way_map(one, None if head is None else head - 1) for one in arrays)
    names = tuple(numbered(labels(before, dict(found.before.trace.texts), axis)) for axis in ("query", "key"))
    return (
        before,
        after,
        names,
        said.describe_shift(before, after, names, float(compare.jensen_shannon(before, after).mean())),
    )


def describe_result(found: InterventionResult) -> str:
    """What happened to answer and attention, in one sentence."""
    from triattn_core.analysis.maps.shift import attention_shift

    return said.describe_finding(found, attention_shift(found.before.trace, found.after.trace))


def join_traces(found: InterventionResult) -> AttentionTrace:
    """Both traces in one, as `before/…` and `after/…`."""
    both = {"before": found.before.trace, "after": found.after.trace}
    sites = {f"{name}/{site}": one for name, trace in both.items() for site, one in trace.sites.items()}
    return AttentionTrace(sites, {**both["before"].texts, **both["after"].texts}, both["before"].meta)
