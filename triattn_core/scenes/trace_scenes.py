"""Views of a trace alone, such as one that was made of a file: `draw_trace`.  No checkpoint stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from triattn_core.errors import ConfigError, TraceError, choices
from triattn_core.scenes import scene
from triattn_core.scenes.figures import Picture, Printed
from triattn_core.scenes.settings import CellSettings, HidingSettings, ViewSettings, validate_settings
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.sites import layer_of, two_way_sites
from triattn_core.views import cube, head_grid, heads
from triattn_core.views.heads import maps as head_maps
from triattn_core.views.heads.trace_maps import computed_map, trace_map
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.strongest import strongest

if TYPE_CHECKING:
    import pandas as pd

ROLLOUT = "rollout"


class CubeSettings(HidingSettings):
    """site: None is the first with three axes.  head: from 1, None is the mean.  cell: positions of the three axes."""

    site: str | None = None
    head: int | None = Field(None, ge=1)


class GridSettings(CellSettings):
    """measure: below each thumbnail.  cell: layer and head that are framed, from 0."""

    measure: Literal["entropy", "query_information", "context_information", "distance", "sink", "special"] = (
        "query_information"
    )


class MapSettings(CellSettings):
    """site: without its quantity, or `rollout`; None is the first.  head: from 1, None is the mean.  cell: positions of
    query and key."""

    site: str | None = None
    head: int | None = Field(None, ge=1)
    quantity: Literal["weight", "relevance"] = "weight"


@dataclass(frozen=True)
class RenderedTrace:
    """A view of a trace: its figure, its numbers as rows, and the settings with nothing left open."""

    view: str
    settings: ViewSettings
    figure: Printed = field(repr=False)
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
    kind, draw = TRACE_SCENES[view]
    return RenderedTrace(view, **draw(trace, validate_settings(kind, settings, view)), trace=trace)


def draw_cube(trace: AttentionTrace, settings: CubeSettings) -> dict:
    """Parts of `RenderedTrace`: the cube explorer."""
    site = settings.site or first_site(trace, 3)
    choice = site_choice(trace, site, settings.head)
    known, first = cube.places(cube.figure(trace, choice, settings.hide, exact=False))
    cell = scene.valid_cell(settings.cell, known, first)
    return {
        "settings": settings.model_copy(update={"site": site, "cell": cell}),
        "figure": Printed.of(cube.figure(trace, choice, settings.hide, at=cell)),
        "table": strongest(trace, choice, hide_special=settings.hide),
    }


def draw_grid(trace: AttentionTrace, settings: GridSettings) -> dict:
    """Parts of `RenderedTrace`: all heads as thumbnails, with their measures as the table."""
    from triattn_core.analysis.maps.head_measures import head_table

    table = head_table(trace)
    known = [range(table["layer"].nunique()), range(int(table["head"].max()) + 1)]
    cell = scene.valid_cell(settings.cell, known, (0, 0))
    return {
        "settings": settings.model_copy(update={"cell": cell}),
        "figure": Printed.of(head_grid.figure(trace, table, settings.measure, cell)),
        "table": table,
    }


def draw_map(trace: AttentionTrace, settings: MapSettings) -> dict:
    """Parts of `RenderedTrace`: one map of query × key, large."""
    site = settings.site or map_sites(trace)[0]
    head = None if settings.head is None else settings.head - 1
    canvas = map_figure(trace, site, head, settings.quantity)
    axes = canvas.payload["axes"]
    known = [range(len(axes[axis]["label"])) for axis in ("query", "key")]
    cell = scene.valid_cell(settings.cell, known, canvas.payload["cell"][:2])
    array = the_map(trace, site, head, settings.quantity)
    return {
        "settings": settings.model_copy(update={"site": site, "cell": cell}),
        "figure": Printed.of(map_figure(trace, site, head, settings.quantity, (*cell, 0, 0))),
        "table": head_maps.rows([array], trace.texts, [{"map": array.title}]),
    }


def map_sites(trace: AttentionTrace) -> list[str]:
    """The sites that can be drawn as maps, without their quantity, layer by layer.  Raises TraceError: none."""
    return [site.rsplit("/", 1)[0] for site in sorted(two_way_sites(trace), key=layer_of)]


def the_map(trace: AttentionTrace, site: str, head: int | None, quantity: str = "weight") -> head_maps.Map:
    """The map of a site (without its quantity) and a head from 0; or the rollout of all layers."""
    if site != ROLLOUT:
        return trace_map(trace, site, head, quantity)
    from triattn_core.analysis.maps.head_measures import rollout

    note = "how much of a token's first vector is left, were attention all"
    return computed_map(trace, rollout(trace), "Rollout of all layers", note)


def map_figure(
    trace: AttentionTrace, site: str, head: int | None, quantity: str = "weight", cell: tuple[int, ...] | None = None
) -> Canvas:
    """The canvas of `the_map`."""
    caption = ", ".join(filter(None, (str(trace.meta.get("checkpoint", "")), site.replace("/", ", "))))
    return heads.figure(
        [the_map(trace, site, head, quantity)],
        trace.texts,
        None,
        caption,
        cell,
        "Attention",
        roles=("query", "key"),
        large=True,
    )


def first_site(trace: AttentionTrace, axes: int) -> str:
    """The first site, of weights where there is one, with so many axes besides heads.  Raises TraceError: none."""
    fits = [name for name, array in trace.sites.items() if len(set(array.dims) - {"head"}) == axes]
    if not fits:
        there = sorted({" × ".join(map(str, site.dims)) for site in trace.sites.values()})
        raise TraceError(f"no site of {axes} axes in this trace: it has {', '.join(there) or 'none'}")
    return next((name for name in fits if trace.sites[name].attrs["quantity"] == "weight"), fits[0])


def site_choice(trace: AttentionTrace, site: str, head: int | None) -> Choice:
    """A site, and where it has heads one of them from 1, or their mean."""
    if "head" not in trace.site(site).dims:
        if head is not None:
            raise TraceError(f"{site} has no heads: leave head out")
        return Choice(site)
    return scene.head_choice(site, head)


TRACE_SCENES: Mapping[str, tuple[type[ViewSettings], Callable[..., dict]]] = {
    "cube": (CubeSettings, draw_cube),
    "heads": (GridSettings, draw_grid),
    "map": (MapSettings, draw_map),
}
