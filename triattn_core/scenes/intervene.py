"""An intervention beside the original, as its page draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import intervene_text, scene
from triattn_core.scenes.intervene_panels import ReportPanel, panels
from triattn_core.scenes.intervene_parts import Intervention
from triattn_core.scenes.intervene_settings import Settings
from triattn_core.scenes.intervene_text import Nulls
from triattn_core.scenes.scene import Scene
from triattn_core.sources.models import Models, Question
from triattn_core.tasks import TASKS
from triattn_core.trace import AttentionTrace

if TYPE_CHECKING:
    from triattn_core.analysis.intervention.interventions import InterventionResult


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


def join_traces(result: InterventionResult) -> AttentionTrace:
    """Both traces in one, as `before/…` and `after/…`."""
    both = {"before": result.before.trace, "after": result.after.trace}
    sites = {site.under(name): array for name, trace in both.items() for site, array in trace.sites.items()}
    return AttentionTrace(sites, {**both["before"].texts, **both["after"].texts}, both["before"].meta)
