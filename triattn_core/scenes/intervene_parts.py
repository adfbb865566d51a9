"""An intervention in parts, each computed when it is first read, and the maps before and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from triattn_core.cached import cached_property
from triattn_core.scenes import intervene_text
from triattn_core.scenes.intervene_runs import leave_one_out, nulls, random_units, run_intervention
from triattn_core.scenes.intervene_settings import Settings
from triattn_core.scenes.intervene_text import InterventionSpec, Nulls
from triattn_core.scenes.intervene_units import context_units, intervention_spec, unit_kinds
from triattn_core.sources.models import Question
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.views.lib.strongest import labels, numbered

if TYPE_CHECKING:
    import xarray as xr

    from triattn_core.analysis.intervention.interventions import InterventionResult


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
    def site(self) -> Site:
        """Whose maps are drawn.  Raises TraceError where there is no such layer."""
        return Site(layer=self.settings.layer - 1, role=self.settings.direction, quantity="weight")

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


def maps(result: InterventionResult, site: Site, head: int | None) -> tuple[xr.DataArray, xr.DataArray, tuple, str]:
    """Weights before and after, their labels, and how far attention moved.  head: from 1, None is the mean.

    Raises TraceError where there is no such site or head.
    """
    from triattn_core.analysis.maps.compare import jensen_shannon

    (before, names), (after, _) = (map_of(run.trace, site, head) for run in (result.before, result.after))
    moved = float(jensen_shannon(before, after).mean())
    return before, after, names, intervene_text.describe_shift(before, after, names, moved)


def map_of(trace: AttentionTrace, site: Site, head: int | None) -> tuple[xr.DataArray, tuple]:
    """Weights [query, key] of a head, summed over context, and the labels of both.  Raises TraceError as `maps`."""
    from triattn_core.analysis.maps import compare, joint_keys

    array = joint_keys.with_context_key(trace.site(site))
    array = compare.two_way_map(array, None if head is None else head - 1)
    return array, tuple(numbered(labels(array, dict(trace.texts), axis)) for axis in ("query", "key"))
