"""An intervention beside the original, as its page draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pandas as pd
from pydantic import Field

from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.cached import cached_property
from triattn_core.checkpoint.registry import Entry
from triattn_core.literal import one_of
from triattn_core.scenes import intervene_text, scene
from triattn_core.scenes.intervene_panels import ReportPanel, panels
from triattn_core.scenes.intervene_runs import DRAWS, leave_one_out, nulls, random_units, run_intervention
from triattn_core.scenes.intervene_text import InterventionSpec, Nulls
from triattn_core.scenes.intervene_units import context_units, intervention_spec, unit_kinds
from triattn_core.scenes.runner import Models, Question
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings
from triattn_core.tasks import TASKS
from triattn_core.trace import AttentionTrace
from triattn_core.views.lib.strongest import labels, numbered

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.analysis.intervention.interventions import InterventionResult


class Settings(ViewSettings):
    """how: see `interventions`.  unit: to what the context is cut, None as the page opens; units: which, by name; None
    is the one that tells most alone, where each is asked alone, else the first.

    text: of replace, empty is [MASK].  order: of reorder; shuffle: its seed.  other: of swap the other example's row.
    direction, layer, head: of the maps, from 1; None is the mean of heads.  random: choices of as many units, drawn
    from `seed`; 0 leaves them out.  null: what attention becomes in `draws` draws from `seed`, along an axis; None
    leaves them out, for each draw asks the model again.  option: of a task that chooses among texts, from 1.
    """

    how: Literal["remove", "mask", "replace", "reorder", "swap"] = "remove"
    unit: Literal["tokens", "sentences", "turns"] | None = None
    units: tuple[str, ...] | None = None
    text: str = ""
    order: Literal["chosen first", "chosen last", "reversed", "shuffled"] = "chosen first"
    shuffle: int = 1
    other: dict[str, Any] | None = None
    direction: Literal["a_over_b", "b_over_a"] = "a_over_b"
    layer: int = Field(1, ge=1)
    head: int | None = Field(None, ge=1)
    random: int = Field(DRAWS, ge=0)
    null: Annotated[str, one_of(REPLACEMENTS)] | None = None
    along: Literal["key", "context"] = "key"
    draws: int = Field(40, ge=1)
    seed: int = 0
    option: int | None = Field(None, ge=1)


@dataclass(frozen=True)
class Intervention:
    """What settings ask of a model, in parts: each is computed when it is first read, so that a page can draw the parts
    as they come.  Each raises InputError for a unit that is not there, ConfigError for a model that is not asked so."""

    question: Question
    settings: Settings

    @property
    def unit(self) -> str:
        """To what the context is cut."""
        return self.settings.unit or ("turns" if self.settings.how == "swap" else unit_kinds(self.question)[0])

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of the context by name, as the user knows them."""
        return context_units(self.question, self.unit)

    @cached_property
    def alone(self) -> pd.DataFrame | None:
        """What each unit does alone, see `leave_one_out`."""
        return leave_one_out(self.question, self.unit, self.settings.how)

    @cached_property
    def spec(self) -> InterventionSpec:
        """What is to be done."""
        settings = self.settings.model_copy(update={"unit": self.unit})
        return intervention_spec(self.question, settings, self.units, self.alone)

    @cached_property
    def result(self) -> InterventionResult:
        """The intervention beside the original."""
        return run_intervention(self.question, self.spec)

    @cached_property
    def random(self) -> pd.DataFrame | None:
        """What as many units at random do; None where no others could be chosen."""
        several = self.alone is not None and len(self.spec.names) < len(self.units) and self.settings.random
        return random_units(self.question, self.spec, self.settings.random, self.settings.seed) if several else None

    @cached_property
    def nulls(self) -> Nulls | None:
        """Attention replaced, where that is asked for."""
        settings = self.settings
        return (
            nulls(self.question, settings.null, settings.along, settings.draws, settings.seed)
            if settings.null
            else None
        )

    @property
    def site(self) -> str:
        """Whose maps are drawn.  Raises TraceError where there is no such layer."""
        return f"layer.{self.settings.layer - 1}/{self.settings.direction}/weight"

    @property
    def before(self) -> tuple[xr.DataArray, tuple]:
        """The map before, and its labels: known before anything is asked."""
        return map_of(self.question.explanation.trace, self.site, self.settings.head)

    @cached_property
    def finding(self) -> str:
        """What happened to answer and attention, in one sentence."""
        from triattn_core.analysis.maps.attention_shift import attention_shift

        moved = attention_shift(self.result.before.trace, self.result.after.trace)
        return intervene_text.describe_finding(self.result, moved)

    @cached_property
    def maps(self) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
        """See `maps`."""
        return maps(self.result, self.site, self.settings.head)


@dataclass(frozen=True)
class InterveneScene(Scene):
    """What is known so far: the intervention, its figures by name, and what was done, in a sentence."""

    intervention: Intervention = field(kw_only=True, repr=False)
    panels: Mapping[str, ReportPanel] = field(kw_only=True, repr=False)
    change: str = field(kw_only=True, repr=False)


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> InterveneScene:
    """The whole scene.  Raises InputError for a unit that is not there, TraceError for a layer or head, ConfigError
    for a model that is not asked so."""
    return list(stream(models, entries, example, settings))[-1]


def stream(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> Iterator[InterveneScene]:
    """The scene in parts: first with the intervention and each unit alone, then with units at random, at last with
    attention replaced, each where it is asked for.  Raises as `build` does."""
    question = Question.put(models, entries[0], example, settings.option and settings.option - 1)
    parts = Intervention(question, settings)
    yield _scene(parts)
    if parts.random is not None:
        yield _scene(parts, parts.random)
    if parts.nulls is not None:
        yield _scene(parts, parts.random, parts.nulls)


def _scene(parts: Intervention, random: pd.DataFrame | None = None, nulls: Nulls | None = None) -> InterveneScene:
    question, outcome = parts.question, parts.result
    change = intervene_text.describe_change(outcome, parts.spec, parts.alone, random)
    by_name = panels(parts, change, random, nulls)
    after = replace(question.explanation, prediction=outcome.after.prediction, trace=outcome.after.trace, stage="after")
    option = None if question.option is None else question.option + 1
    resolved: dict[str, Any] = {"unit": parts.unit, "units": parts.spec.names, "option": option}
    if parts.settings.how == "swap":
        resolved["units"], resolved["other"] = None, TASKS[question.entry.config["task"]].row(parts.spec.argument)
    tables = {name: panel.rows for name, panel in by_name.items() if panel.rows is not None}
    return InterveneScene(
        settings=parts.settings.model_copy(update=resolved),
        draw=lambda: {name: panel.chart() for name, panel in by_name.items() if panel.draw},
        tabulate=lambda: scene.stack_tables(**tables),
        trace=join_traces(outcome),
        explanations=(replace(question.explanation, stage="before"), after),
        intervention=parts,
        panels=by_name,
        change=change,
    )


def maps(result: InterventionResult, site: str, head: int | None) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
    """Weights before and after, their labels, and how far attention moved.  head: from 1, None is the mean.

    Raises TraceError where there is no such site or head.
    """
    from triattn_core.analysis.maps.compare import jensen_shannon

    (before, names), (after, _) = (map_of(run.trace, site, head) for run in (result.before, result.after))
    moved = float(jensen_shannon(before, after).mean())
    return before, after, names, intervene_text.describe_shift(before, after, names, moved)


def map_of(trace: AttentionTrace, site: str, head: int | None) -> tuple[xr.DataArray, tuple]:
    """Weights [query, key] of a head, summed over context, and the labels of both.  Raises TraceError as `maps`."""
    from triattn_core.analysis.maps import compare, joint_keys

    array = joint_keys.with_context_key(trace.site(site))
    array = compare.two_way_map(array, None if head is None else head - 1)
    return array, tuple(numbered(labels(array, dict(trace.texts), axis)) for axis in ("query", "key"))


def join_traces(result: InterventionResult) -> AttentionTrace:
    """Both traces in one, as `before/…` and `after/…`."""
    both = {"before": result.before.trace, "after": result.after.trace}
    sites = {f"{name}/{site}": array for name, trace in both.items() for site, array in trace.sites.items()}
    return AttentionTrace(sites, {**both["before"].texts, **both["after"].texts}, both["before"].meta)
