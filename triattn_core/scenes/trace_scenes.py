"""Scenes of a trace alone, such as one that was made of a file, and `draw_trace`.  No checkpoint stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triattn_core.errors import ConfigError, choices
from triattn_core.scenes import scene
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.cube import cube_scene
from triattn_core.scenes.figures import Picture, Printed
from triattn_core.scenes.head_shares import PARTS, HeadShares
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings, validate_settings
from triattn_core.scenes.trace_settings import ContextSettings, CubeSettings, GridSettings, MapSettings
from triattn_core.scenes.trace_sites import (
    ROLLOUT,
    map_of,
    map_sites,
    opening_head,
    site_choice,
    site_of_layer,
    sites_of_axes,
)
from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels, label_columns
from triattn_core.trace.sites import layer_of
from triattn_core.views import attention_maps, head_grid
from triattn_core.views.attention_maps import maps as head_maps
from triattn_core.views.charts import anova_text
from triattn_core.views.lib.canvas import Canvas

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RenderedTrace:
    """A view of a trace: its figure, its numbers as rows, and the settings with nothing left open."""

    view: str
    settings: ViewSettings
    figure: Printed | Chart = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    trace: AttentionTrace = field(repr=False)

    def _repr_html_(self) -> str:
        """For notebooks: the figure, which can be clicked."""
        return self.figure._repr_html_()

    def picture(self) -> Picture:
        """The figure as a picture that shows itself; `svg()` and `png()` are its files."""
        return Picture(self.figure)


def draw_trace(view: str, trace: AttentionTrace, **settings: Any) -> RenderedTrace:
    """A view of TRACE_SCENES of a trace, with the settings of that view; what is left out is as it opens.

    Raises ConfigError for no such view or setting, TraceError where the trace has not the axes, site, head or cell.
    """
    if view not in TRACE_SCENES:
        raise ConfigError(f"no view {view!r} of a trace alone; {choices(view, TRACE_SCENES)}")
    kind, build = TRACE_SCENES[view]
    drawn = build(trace, validate_settings(kind, settings, view))
    figure = drawn.figures[view]
    assert isinstance(figure, Canvas | Chart)
    printed = Printed.of(figure) if isinstance(figure, Canvas) else figure
    return RenderedTrace(view, drawn.settings, printed, drawn.table, trace)


@dataclass(frozen=True)
class TraceContextScene(Scene):
    """shares: of every head, and the chosen one."""

    shares: HeadShares = field(kw_only=True, repr=False)


def build_cube(trace: AttentionTrace, settings: CubeSettings) -> Scene:
    """The scene of the cube explorer."""
    site = settings.site or site_of_layer(sites_of_axes(trace, 3), settings.layer)
    head = opening_head(trace, site) if settings.head is None else settings.head
    choice = site_choice(trace, site, head)
    grouped = settings.grouping().trace(trace, site.rpartition("/")[0])
    return cube_scene(grouped, choice, settings.model_copy(update={"site": site, "layer": None, "head": head}))


def build_grid(trace: AttentionTrace, settings: GridSettings) -> Scene:
    """The scene of all heads as thumbnails, with their measures as the table."""
    from triattn_core.analysis.maps.head_measures import head_table

    table = head_table(trace)
    positions = [range(table["layer"].nunique()), range(int(table["head"].max()) + 1)]
    cell = scene.valid_cell(settings.cell, positions, (0, 0))
    return Scene(
        settings=settings.model_copy(update={"cell": cell}),
        draw=lambda: {"heads": head_grid.figure(trace, table, settings.measure, cell)},
        tabulate=lambda: table.assign(layer=table["layer"] + 1, head=table["head"] + 1),  # from 1, as they are shown
        trace=trace,
        explanations=(),
        screen=head_grid.figure(trace, table, settings.measure, (0, 0)),
        axes=positions,
    )


def build_map(trace: AttentionTrace, settings: MapSettings) -> Scene:
    """The scene of one map of query × key, large."""
    site = settings.site or site_of_layer(map_sites(trace), settings.layer)
    head_number = settings.head
    if head_number is None and site != ROLLOUT:
        head_number = opening_head(trace, f"{site}/weight")
    grouped = settings.grouping().trace(trace)
    values = map_of(grouped, site, head_number - 1 if isinstance(head_number, int) else None, settings.quantity)
    canvas = _map_figure(grouped, site, values)
    cell = scene.valid_cell(settings.cell, canvas.extents[:2], canvas.cell[:2])
    rows = lambda: head_maps.rows([values], grouped.texts, [{"map": values.title}])  # noqa: E731
    return Scene(
        settings=settings.model_copy(update={"site": site, "layer": None, "head": head_number, "cell": cell}),
        draw=lambda: {"map": _map_figure(grouped, site, values, (*cell, 0, 0))},
        tabulate=lambda: label_columns(rows(), axis_labels(grouped)),
        trace=grouped,
        explanations=(),
        screen=canvas,
        axes=canvas.extents[:2],
    )


def build_context(trace: AttentionTrace, settings: ContextSettings) -> TraceContextScene:
    """The scene of what context adds: the relevance of each head of a cube in its parts."""
    from triattn_core.analysis.maps.trace_context import context_table

    table = context_table(trace)
    table = table.assign(site=[site if "layer." in site else f"layer.0/{site}" for site in table["site"]])
    first, asked = anova_text.most_redirected(table), (settings.layer, settings.head)
    layer, head = (number - 1 if number else most for number, most in zip(asked, first))
    shares, labels, name = HeadShares(table, layer, head), axis_labels(trace), str(trace.meta.get("checkpoint", ""))
    sentence = shares.sentence
    return TraceContextScene(
        settings=settings.model_copy(update={"layer": layer + 1, "head": head + 1}),
        draw=lambda: {"context": Chart.of(shares.draw_bars(axes=labels)(), PARTS, sentence, name)},
        tabulate=lambda: _numbered(table),
        trace=trace,
        explanations=(),
        shares=shares,
    )


def _numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Layer and head in columns of their own, from 1, as they are shown."""
    table = table.assign(head=table["head"] + 1)
    table.insert(1, "layer", [layer_of(site) + 1 for site in table["site"]])
    return table


def _map_figure(trace: AttentionTrace, site: str, values: head_maps.Map, cell: tuple[int, ...] | None = None) -> Canvas:
    labels, title = axis_labels(trace), values.title[0].lower() + values.title[1:]
    name = "" if site == ROLLOUT else site.rpartition("/")[2].replace("_", " ")
    parts = (str(trace.meta.get("checkpoint", "")), name, "" if title == name else title)
    roles = labels["query"], labels["key"]
    caption = ", ".join(filter(None, parts))
    return attention_maps.figure([values], trace.texts, None, caption, cell, "Attention", roles=roles, large=True)


TRACE_SCENES: Mapping[str, tuple[type[ViewSettings], Callable[..., Scene]]] = {
    "cube": (CubeSettings, build_cube),
    "heads": (GridSettings, build_grid),
    "map": (MapSettings, build_map),
    "context": (ContextSettings, build_context),
}
