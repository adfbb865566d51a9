"""Side by side: an example under several checkpoints, two of its options or two inputs under one, as the page draws
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal

from pydantic import Field

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError
from triattn_core.scenes import scene
from triattn_core.scenes import side_by_side_panels as panels
from triattn_core.scenes import side_by_side_runs as runs
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings, HidingSettings, SiteSetting, Unit
from triattn_core.scenes.side_by_side_panels import Comparison
from triattn_core.scenes.trace_pair import PairScene, TraceSide, build_pair
from triattn_core.scenes.trace_sites import map_sites, site_choice
from triattn_core.sources import find_entries
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.sources.models import Models
from triattn_core.tasks import TASKS
from triattn_core.trace.site import Site
from triattn_core.trace.token_grouping import TokenGrouping
from triattn_core.views import side_by_side as view
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.side_by_side.panels import first_cell


class Settings(HidingSettings):
    """head: from 1, None is the mean.  option, other: from 1, of a task that chooses among texts.  difference: which
    checkpoint minus which, from 1; None is the last minus the first.  query, key: to what each folds, with `inputs`
    tokens or words, with `options` the query alone; context: to what it folds, with `options`.
    edited: the second input, as a row, with `inputs`.  seeds: of both that are subtracted the checkpoints of their
    seeds; None is those that are here.  cell: positions of query and key (with `options` context)."""

    compare: Literal["mechanisms", "options", "inputs"] = "mechanisms"
    site: SiteSetting = Site(layer=0, role="a_over_b", quantity="weight")
    head: int | None = Field(None, ge=1)
    query: Unit = "tokens"
    key: Unit = "tokens"
    difference: tuple[int, int] | None = None
    option: int | None = Field(None, ge=1)
    other: int | None = Field(None, ge=1)
    context: Literal["turns", "sentences"] | None = None
    edited: dict[str, Any] | None = None
    seeds: tuple[tuple[str, ...], ...] | None = None

    def grouping(self) -> TokenGrouping:
        """To what each axis folds, and what is hidden; with `options` keys are summed."""
        units = {"query": self.query} if self.compare == "options" else {"query": self.query, "key": self.key}
        return self.group_tokens(**units)


@dataclass(frozen=True)
class SideScene(Scene):
    """side: the panels and the difference of two of them."""

    comparison: Comparison = field(kw_only=True, repr=False)


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> SideScene:
    """The scene of the page.  Raises TriattnError where checkpoints or settings do not fit."""
    choice, option = scene.head_choice(settings.site, settings.head), settings.option and settings.option - 1
    reading = settings.grouping()
    if settings.compare == "mechanisms":
        gap = settings.difference or (len(entries), 1)
        if not all(1 <= number <= len(entries) for number in gap) or not view.FEWEST <= len(entries) <= view.MOST:
            raise ConfigError(f"expected two to four checkpoints, got {len(entries)}; difference: {gap}")
        groups = None if settings.seeds is None else [find_entries(group) for group in settings.seeds]
        comparison = runs.compare_mechanisms(
            models, example, option, entries, choice, (gap[0] - 1, gap[1] - 1), groups, reading
        )
    elif settings.compare == "options":
        unit: str = settings.context or next(unit for unit in panels.task(example).WORDS.units if unit != "tokens")
        comparison = runs.compare_options(
            models, example, option, settings.other and settings.other - 1, entries[0], choice, unit, reading
        )
    else:
        other = TASKS[entries[0].config["task"]].Example.from_row(settings.edited or {}, "edited")
        comparison = runs.compare_inputs(models, example, other, entries[0], choice, option, reading)
    canvas = figure(comparison, first_cell(comparison.panels, comparison.gap))
    cell = row, column = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    return SideScene(
        settings=settings.model_copy(update={**comparison_settings(comparison), "cell": cell}),
        draw=lambda: {"side-by-side": figure(comparison, (row, column))},
        tabulate=lambda: view.table(comparison.panels, comparison.gap, comparison.texts, comparison.across),
        trace=comparison.trace,
        explanations=comparison.explanations,
        seeds=tuple(chain(*comparison.seeds)),
        screen=canvas,
        axes=canvas.extents,
        comparison=comparison,
    )


def build_of_traces(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> PairScene:
    """The scene of two traces of the same texts, cubes summed over context.  Raises ConfigError: not two, or what only
    a model can show; TraceError: no such site or head, or other tokens."""
    if settings.compare != "mechanisms":
        raise ConfigError(f"compare: {settings.compare} are run under one model, which a trace alone cannot")
    if len(explanations) != 2:
        raise ConfigError(f"side_by_side shows two traces, got {len(explanations)}")
    sides = [_trace_side(explanation, settings, read) for explanation in explanations]
    cell = None if settings.cell is None else (settings.cell[0], settings.cell[1])
    pair = build_pair(sides[0], sides[1], cell)
    assert isinstance(pair.settings, CellSettings)
    chosen = {"site": sides[0].site.with_quantity("weight"), "difference": (2, 1), "cell": pair.settings.cell}
    return replace(pair, settings=settings.model_copy(update=chosen), explanations=tuple(explanations))


def _trace_side(explanation: Explanation, settings: Settings, read: Reader) -> TraceSide:
    """A trace as it stands on one side, at the site that is chosen or its first."""
    chosen = settings.site.attention if "site" in settings.model_fields_set else map_sites(explanation.trace)[0]
    trace, head = read(explanation, settings.grouping(), chosen).trace, settings.head
    site_choice(trace, chosen.with_quantity("weight"), head)  # says which heads there are
    says = explanation.prediction
    answer = says.labels[says.best], says.probabilities[says.best]
    return TraceSide(explanation.entry.name, trace, chosen, head and head - 1, *answer)


def comparison_settings(comparison: Comparison) -> dict[str, Any]:
    """What stands side by side, as settings."""
    explanation = comparison.explanations[0]
    option = {"option": explanation.prediction.option + 1} if "option" in explanation.trace.meta else {}
    return dict(Settings.of(comparison.choice, **comparison.settings, **option))


def figure(comparison: Comparison, cell: tuple[int, int]) -> Canvas:
    """The canvas of what stands side by side."""
    arguments = (
        comparison.caption,
        comparison.across,
        comparison.lines,
        comparison.distinguished_by,
        comparison.footnote,
    )
    return view.figure(comparison.panels, comparison.gap, comparison.texts, cell, *arguments)
