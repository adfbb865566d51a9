"""Two-way maps of any trace in the form of `maps.Map`: of one head, their mean, or weights that were computed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import cell_counts, without_axes
from triattn_core.trace.axes import further_axes
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.relevance import centred
from triattn_core.trace.site import Site
from triattn_core.trace.sites import is_signed, map_array, same_tokens
from triattn_core.views.attention_maps.maps import Map


def trace_map(trace: AttentionTrace, site: Site, head: int | None = None, quantity: str = "weight") -> Map:
    """The map of a site's weights, summed over context where there is one, or of its relevance, joined.

    site: of `map_sites`; its quantity matters where the map is signed, which has no other.  head: from 0, None is the
    mean of heads.  Raises TraceError where the trace has not the site, the quantity or the head.
    """
    array, sum_axes, signed = map_array(trace, site), trace.sum_axes(site), is_signed(site)
    weights = _two_way(array, head, sum_axes)
    scores = None if signed else trace.sites.get(site.with_quantity("relevance"))
    scores = None if scores is None else _two_way(scores, head, sum_axes)
    map_values = weights
    if quantity == "relevance":
        if scores is None:
            raise TraceError(f"{site.attention} has no relevance: only its weights were given")
        map_values = centred(scores)
    heads = "" if "head" not in array.dims else "mean of heads" if head is None else f"head {head + 1}"
    title = ", ".join(filter(None, (site.place_name, heads))) or "attention"
    note = ", ".join(filter(None, (signed_note(array) if signed else "", over_context(trace, site))))
    title = title[0].upper() + title[1:]
    return Map(title, note, map_values, weights, even_share(trace, weights, scores), scores)


def signed_note(array: xr.DataArray) -> str:
    """What a signed map is and to what error it was proved, in a few words."""
    kind, half = str(array.attrs.get("kind", "")), array.sizes.get("head", 1)
    made = {"difference": "one map less another", "sum": "a sum of two maps", "mixed": "a mix of the heads' maps"}
    if "factor" in array.attrs:
        made["difference"] = f"A[h] − {float(array.attrs['factor']):.3g} · A[h + {half}]"
    error = float(array.attrs.get("rebuilt", "nan"))
    proof = "" if isnan(error) else f"rebuilt to {error:.1g}" if error else "rebuilt to the bit"
    return ", ".join(filter(None, (f"signed: {made[kind]}" if kind in made else "signed", proof)))


def over_context(trace: AttentionTrace, site: Site) -> str:
    """What a map of a cube does with the context, and any further axis: it is summed over, or where each of its tokens
    has distributions of its own, averaged; empty without one."""
    sum_axes, labels = trace.sum_axes(site), axis_labels(trace)
    axes = further_axes(map_array(trace, site).dims)
    ways = [f"{'summed' if axis in sum_axes or not sum_axes else 'mean'} over {labels[axis]}" for axis in axes]
    return ", ".join(ways)


def computed_map(trace: AttentionTrace, weights: xr.DataArray, title: str, note: str) -> Map:
    """The map of weights [query, key] that were computed of a trace, such as rollout."""
    weights = weights.transpose("query", "key")
    return Map(title, note, weights, weights, even_share(trace, weights, None))


def even_share(trace: AttentionTrace, weights: xr.DataArray, scores: xr.DataArray | None) -> xr.DataArray:
    """[query, key]: the weights if attention were even over what a mask leaves, which scores of −inf or a causal model
    say; of folded keys by the cells that they join."""
    cells = np.broadcast_to(cell_counts(weights, "key").astype(float), weights.shape).copy()
    is_causal = "causal" in (trace.meta.get("mask"), weights.attrs.get("mask"))  # of the whole model, or of this map
    if scores is not None:
        cells[np.isneginf(scores.values)] = 0
    elif is_causal and same_tokens(weights) and "folded" not in weights.attrs:
        cells[np.triu_indices(len(cells), 1)] = 0
    total = cells.sum(-1, keepdims=True)
    share = np.divide(cells, total, out=np.zeros_like(cells), where=total > 0)
    return weights.copy(data=share)


def _two_way(array: xr.DataArray, head: int | None, sum_axes: Sequence[str]) -> xr.DataArray:
    """[query, key] of a site.  Raises TraceError for no such head, or other axes."""
    if missing := [axis for axis in ("query", "key") if axis not in array.dims]:
        raise TraceError(f"a map needs the axes query and key; there is no {' and no '.join(missing)}")
    if "head" in array.dims:
        if head is not None and not 0 <= head < array.sizes["head"]:
            raise TraceError(f"there is no head {head + 1}: there are {array.sizes['head']}")
    elif head:
        raise TraceError("this site has no heads")
    array = without_axes(array, sum_axes)
    if "head" in array.dims:
        array = array.mean("head", keep_attrs=True) if head is None else array.isel(head=head)
    return array.transpose("query", "key")
