"""What of a trace a view of it alone shows: its site, its head, its map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from triattn_core.errors import TraceError
from triattn_core.scenes import scene
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.axes import further_axes
from triattn_core.trace.site import Site
from triattn_core.trace.sites import drawn_sites, is_signed, layer_by_layer, layer_numbers
from triattn_core.views.attention_maps import maps as head_maps
from triattn_core.views.attention_maps.trace_maps import computed_map, trace_map
from triattn_core.views.cube import axes_of

ROLLOUT = Site(role="rollout")


def map_sites(trace: AttentionTrace) -> list[Site]:
    """The sites that can be drawn as maps, layer by layer: of weights without their quantity, of a signed map with it.
    Raises TraceError: none."""
    return [site if is_signed(site) else site.attention for site in layer_by_layer(drawn_sites(trace))]


def sites_of_axes(trace: AttentionTrace, axes: int) -> list[Site]:
    """The sites, of weights where there are any, with so many axes besides heads, or if none has, with more, layer by
    layer.  Raises TraceError: none."""
    orders = {site: len(set(array.dims) - {"head"}) for site, array in trace.sites.items()}
    fits = [site for site, order in orders.items() if order == axes]
    fits = fits or [site for site, order in orders.items() if order > axes]  # of which a slice is shown
    if not fits:
        there = sorted({" × ".join(map(str, array.dims)) for array in trace.sites.values()})
        raise TraceError(f"no site of {axes} axes in this trace: it has {', '.join(there) or 'none'}")
    weights = [site for site in fits if trace.site(site).attrs["quantity"] == "weight"]
    return layer_by_layer(weights or fits)


def site_of_layer(sites: list[Site], layer: int | None) -> Site:
    """The site of a layer, from 1; the first without one.  Raises TraceError: no such layer."""
    if layer is None:
        return sites[0]
    numbers = layer_numbers(sites)
    for site, number in numbers.items():
        if number == layer - 1:
            return site
    there = ", ".join(str(number + 1) for number in sorted(set(numbers.values())))
    raise TraceError(f"there is no layer {layer} in this trace: it has {there}")


def on_first_head(settings: Any, *traces: AttentionTrace) -> Any:
    """The settings of a view of traces alone as its page opens: on the first head, where none is chosen."""
    opens = hasattr(settings, "site") and "head" not in settings.model_fields_set and settings.site != ROLLOUT
    has_heads = all("head" in array.dims for trace in traces for array in trace.sites.values())
    return settings.model_copy(update={"head": 1}) if opens and has_heads else settings


def slice_axes(trace: AttentionTrace, site: Site) -> list[str]:
    """The axes of a site of a higher order of which a cube shows one position: all that it does not draw."""
    array = trace.site(site)
    return [axis for axis in further_axes(array.dims) if axis not in axes_of(array)]


def site_choice(trace: AttentionTrace, site: Site, head: int | None, slices: Sequence[int] = ()) -> Choice:
    """A site, and where it has heads one of them, from 1, or with None their mean.  slices: positions on its
    `slice_axes`, by default those with most weight.  Raises TraceError for a head where there are none, or no such
    position."""
    array, axes = trace.site(site), slice_axes(trace, site)
    if "head" not in array.dims and head is not None:
        raise TraceError(f"{site} has no heads: leave head out")
    if head is not None and head > array.sizes["head"]:
        raise TraceError(f"there is no head {head}: {site} has {array.sizes['head']}")
    if slices and len(slices) != len(axes):
        raise TraceError(f"{site}: {len(slices)} positions for {', '.join(axes) or 'no further axis'}")
    if axes and not slices:
        mass = trace.sites.get(site.with_quantity("weight"), array)
        mass = mass.where(np.isfinite(mass)).sum([axis for axis in mass.dims if axis not in axes]).transpose(*axes)
        slices = [int(i) for i in np.unravel_index(int(mass.values.argmax()), mass.shape)]
    for axis, position in zip(axes, slices):
        if not 0 <= position < array.sizes[axis]:
            raise TraceError(f"{site}: {axis} {position} is outside 0…{array.sizes[axis] - 1}")
    choice = scene.head_choice(site, head) if "head" in array.dims else Choice(site)
    return replace(choice, index=(*choice.index, *zip(axes, slices)))


def map_of(trace: AttentionTrace, site: Site, head: int | None, quantity: str = "weight") -> head_maps.Map:
    """The map of a site of `map_sites` and a head from 0, None for their mean; or the rollout of all layers."""
    if site != ROLLOUT:
        return trace_map(trace, site, head, quantity)
    from triattn_core.analysis.maps.head_measures import rollout

    note = "how much of a token's first vector is left, were attention all"
    return computed_map(trace, rollout(trace), "Rollout of all layers", note)
