"""Sites of a trace that hold two-way attention, or three-way attention without its context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr

from triattn_core.errors import TraceError
from triattn_core.trace.aggregation import MASK, without_axes
from triattn_core.trace.site import SIDES, Site
from triattn_core.trace.trace import AttentionTrace

ATTENTION = ("attention", *SIDES)  # first parts of the roles of recorded and opened attention


def two_way_sites(trace: AttentionTrace) -> list[Site]:
    """The sites with weights over query and key, with or without context.  Raises TraceError if none has."""
    return _not_empty([site for site in drawn_sites(trace) if not is_signed(site)])


def drawn_sites(trace: AttentionTrace) -> list[Site]:
    """The sites of two-way weights, and of signed maps that a model uses in their place, such as a difference of two.

    Contributions of other roles, as the masks of MTSA, are no attention.  Raises TraceError: there are none.
    """
    sites = [
        site
        for site, array in trace.sites.items()
        if {"query", "key"} <= set(array.dims) and "feature" not in array.dims
        if array.attrs["quantity"] == "weight" or is_signed(site)
    ]
    return _not_empty(sites)


def is_signed(site: Site) -> bool:
    """Whether a site holds a signed map of attention."""
    parts = site.role.split("/")
    return site.quantity == "contribution" and parts[0] in ATTENTION and MASK not in parts


def map_array(trace: AttentionTrace, site: Site) -> xr.DataArray:
    """The array of a map: that of a signed site, or the weights of any other, whatever its quantity.  Raises
    TraceError: no such site."""
    return trace.site(site if is_signed(site) else site.with_quantity("weight"))


def _not_empty(sites: list[Site]) -> list[Site]:
    if not sites:
        raise TraceError("no weights over query and key in this trace")
    return sites


def two_way_weights(trace: AttentionTrace, site: Site | str) -> xr.DataArray:
    """Weights [head, query, key] of a site, or its signed numbers, summed over any context and further axis, or
    averaged where each of its tokens has distributions of its own; a site without heads gets one."""
    weights = trace.site(site)
    weights = without_axes(weights)
    if "head" not in weights.dims:
        weights = weights.expand_dims("head")
    return weights.transpose("head", "query", "key")


def layer_by_layer(sites: Iterable[Site]) -> list[Site]:
    """The sites by the number of their layer, those without one first; within a layer as they come."""
    return sorted(sites, key=lambda site: -1 if site.layer is None else site.layer)


def layer_numbers(sites: Iterable[Site]) -> dict[Site, int]:
    """The number of the layer of each site, from 0; where a model does not number its layers, the place of the module
    (and visit) among those of the sites."""
    sites = list(sites)
    runs = list(dict.fromkeys((site.module, site.visit) for site in sites if site.layer is None))
    return {site: runs.index((site.module, site.visit)) if site.layer is None else site.layer for site in sites}


def layer_titles(sites: Sequence[Site]) -> list[str]:
    """Of each site the number of its layer, from 1, with a letter where a layer has several, as for each direction of a
    pair, and ± before it where it is signed; of a single one nothing."""
    if len(sites) == 1:
        return [""]
    layers = list(layer_numbers(sites).values())
    if len({site.role for site in sites}) > 1 and all(site.role in SIDES for site in sites):
        return [f"{layer + 1} {site.role}" for layer, site in zip(layers, sites)]
    letters = [chr(ord("a") + layers[:i].count(layer)) for i, layer in enumerate(layers)]
    signs = ["±" * is_signed(site) for site in sites]
    parts = zip(signs, layers, letters)
    return [f"{sign}{layer + 1}{letter * (layers.count(layer) > 1)}" for sign, layer, letter in parts]


def same_tokens(weights: xr.DataArray) -> bool:
    """Whether queries and keys are the same tokens, as in self-attention."""
    if weights.sizes["query"] != weights.sizes["key"]:
        return False
    names = ("token", "text", "start")
    if any(f"{axis}_{name}" not in weights.coords for axis in ("query", "key") for name in names):
        return False
    return all(np.array_equal(weights[f"query_{name}"].values, weights[f"key_{name}"].values) for name in names)
