"""Views of a trace alone, such as one that was made of a file: `draw_trace`.  No checkpoint stands behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from triattn_core.errors import ConfigError, TraceError, choices
from triattn_core.scenes import scene
from triattn_core.scenes.figures import Picture, Printed
from triattn_core.scenes.settings import CellSettings, HidingSettings, ViewSettings, validate_settings
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.axis_labels import axis_labels, label_columns
from triattn_core.trace.sites import layer_of, two_way_sites
from triattn_core.views import attention_maps, cube, head_grid
from triattn_core.views.attention_maps import maps as head_maps
from triattn_core.views.attention_maps.trace_maps import computed_map, trace_map
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.strongest import strongest

if TYPE_CHECKING:
    import pandas as pd

ROLLOUT = "rollout"


Head = Annotated[int, Field(ge=1)] | Literal["mean"] | None  # from 1; None is the first, where there are heads


class CubeSettings(HidingSettings):
    """site: None is that of the layer, from 1, and of the first without one.  cell: positions of the three axes."""

    site: str | None = None
    layer: int | None = Field(None, ge=1)
    head: Head = None


class GridSettings(CellSettings):
    """measure: below each thumbnail.  cell: layer and head that are framed, from 0."""

    measure: Literal["entropy", "query_information", "context_information", "distance", "sink", "special"] = (
        "query_information"
    )


class MapSettings(CellSettings):
    """site: without its quantity, or `rollout`; None is that of the layer, from 1, and of the first without one.
    cell: positions of query and key."""

    site: str | None = None
    layer: int | None = Field(None, ge=1)
    head: Head = None
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
    site = settings.site or _of_layer(sites_of_axes(trace, 3), settings.layer)
    head = opening_head(trace, site) if settings.head is None else settings.head
    choice = site_choice(trace, site, head)
    canvas = cube.figure(trace, choice, settings.hide, exact=False)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    return {
        "settings": settings.model_copy(update={"site": site, "layer": None, "head": head, "cell": cell}),
        "figure": Printed.of(cube.figure(trace, choice, settings.hide, start_cell=cell)),
        "table": label_columns(strongest(trace, choice, hide_special=settings.hide), axis_labels(trace)),
    }


def draw_grid(trace: AttentionTrace, settings: GridSettings) -> dict:
    """Parts of `RenderedTrace`: all heads as thumbnails, with their measures as the table."""
    from triattn_core.analysis.maps.head_measures import head_table

    table = head_table(trace)
    positions = [range(table["layer"].nunique()), range(int(table["head"].max()) + 1)]
    cell = scene.valid_cell(settings.cell, positions, (0, 0))
    return {
        "settings": settings.model_copy(update={"cell": cell}),
        "figure": Printed.of(head_grid.figure(trace, table, settings.measure, cell)),
        "table": table.assign(layer=table["layer"] + 1, head=table["head"] + 1),  # counted from 1, as they are shown
    }


def draw_map(trace: AttentionTrace, settings: MapSettings) -> dict:
    """Parts of `RenderedTrace`: one map of query × key, large."""
    site = settings.site or _of_layer(map_sites(trace), settings.layer)
    head_number = settings.head
    if head_number is None and site != ROLLOUT:
        head_number = opening_head(trace, f"{site}/weight")
    head = head_number - 1 if isinstance(head_number, int) else None
    canvas = map_figure(trace, site, head, settings.quantity)
    cell = scene.valid_cell(settings.cell, canvas.extents[:2], canvas.cell[:2])
    array = the_map(trace, site, head, settings.quantity)
    return {
        "settings": settings.model_copy(update={"site": site, "layer": None, "head": head_number, "cell": cell}),
        "figure": Printed.of(map_figure(trace, site, head, settings.quantity, (*cell, 0, 0))),
        "table": label_columns(head_maps.rows([array], trace.texts, [{"map": array.title}]), axis_labels(trace)),
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
    map_values, labels = the_map(trace, site, head, quantity), axis_labels(trace)
    title = map_values.title[0].lower() + map_values.title[1:]
    name = "" if site == ROLLOUT else site.rpartition("/")[2].replace("_", " ")
    parts = (str(trace.meta.get("checkpoint", "")), name, "" if title == name else title)
    caption = ", ".join(filter(None, parts))
    return attention_maps.figure(
        [map_values],
        trace.texts,
        None,
        caption,
        cell,
        "Attention",
        roles=(labels["query"], labels["key"]),
        large=True,
    )


def sites_of_axes(trace: AttentionTrace, axes: int) -> list[str]:
    """The sites, of weights where there are any, with so many axes besides heads, layer by layer.  Raises TraceError:
    none."""
    fits = [name for name, array in trace.sites.items() if len(set(array.dims) - {"head"}) == axes]
    if not fits:
        there = sorted({" × ".join(map(str, site.dims)) for site in trace.sites.values()})
        raise TraceError(f"no site of {axes} axes in this trace: it has {', '.join(there) or 'none'}")
    weights = [name for name in fits if trace.sites[name].attrs["quantity"] == "weight"]
    return sorted(weights or fits, key=layer_of)


def _of_layer(sites: list[str], layer: int | None) -> str:
    """The site of a layer, from 1; the first without one.  Raises TraceError: no such layer."""
    if layer is None:
        return sites[0]
    fits = [site for site in sites if layer_of(f"{site}/") == layer - 1]
    if not fits:
        layers = sorted({layer_of(f"{site}/") + 1 for site in sites})
        raise TraceError(f"there is no layer {layer} in this trace: it has {', '.join(map(str, layers))}")
    return fits[0]


def opening_head(trace: AttentionTrace, site: str) -> int | None:
    """The head, from 1, that a view of a site opens on; None where it has no heads."""
    return 1 if "head" in trace.site(site).dims else None


def site_choice(trace: AttentionTrace, site: str, head: Head) -> Choice:
    """A site, and where it has heads one of them from 1, or with "mean" or None their mean."""
    if "head" not in trace.site(site).dims:
        if head is not None:
            raise TraceError(f"{site} has no heads: leave head out")
        return Choice(site)
    return scene.head_choice(site, head if isinstance(head, int) else None)


TRACE_SCENES: Mapping[str, tuple[type[ViewSettings], Callable[..., dict]]] = {
    "cube": (CubeSettings, draw_cube),
    "heads": (GridSettings, draw_grid),
    "map": (MapSettings, draw_map),
}
