"""The cube in words: its strongest cells, what is hidden, and where the array is from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site
from triattn_core.views.lib.strongest import labels

LISTED = 6  # sinks that are named
FEW = 8  # of the strongest, whose mass is said


def describe_cells(
    array: xr.DataArray, rows: pd.DataFrame, against: bool, roles: Mapping[str, str] = MappingProxyType({})
) -> str:
    """A sentence on what is shown: how many cells, the strongest of them, and what the strongest hold of the mass.

    against: they are the strongest against an even share of what a mask leaves.  roles: the labels of axes.
    """
    sizes = " × ".join(f"{array.sizes[axis]} {roles.get(str(axis), axis)}" for axis in array.dims)
    first, quantity, few = rows.iloc[0], array.attrs["quantity"], rows.head(FEW)
    named = " × ".join(f"“{first[axis]}”" if axis != "feature" else f"feature {first[axis]}" for axis in array.dims)
    most = "strongest against an even share" if against else "strongest"
    top = f"the {most} is {named}, {quantity} {first[quantity]:.3g}".replace("-", "\u2212")
    share = 100 * few["share"].sum(skipna=False)
    held = f"; the {len(few)} strongest hold {share:.3g} % of the mass" if np.isfinite(share) else ""
    return f"Of {array.size:,} {quantity}s, {sizes}, {top}{held}."


def describe_bars(shown: Distribution, roles: Mapping[str, str]) -> str:
    """What the bars beside the slices are.  roles: the labels of the axes, the third the last."""
    third = list(roles)[2]
    if third not in shown.axes:
        return f"Bars: means over {'features' if third == 'feature' else roles[third]}; under them the chosen pair."
    if shown.quantity == "weight":
        return "Bars: sums along the drawn slice."
    return "Bars: log-sum-exp along the drawn slice, centred."


def describe_hidden(shown: Distribution, positions: dict[str, np.ndarray]) -> str:
    """What is hidden, by name where it is no special token, and how much mass it holds."""
    array, trace = shown.array, shown.trace
    texts, roles = dict(trace.texts), axis_labels(trace)
    hidden = [
        f"“{labels(array, texts, axis)[i]}” as {roles[axis]}"
        for axis in map(str, array.dims)
        if f"{axis}_special" in array.coords
        for i in np.flatnonzero(array[f"{axis}_special"].values > 1)
    ]
    sinks = f" and sinks ({', '.join(hidden[:LISTED])}{' …' * (len(hidden) > LISTED)})" if hidden else ""
    sentence = f"Special tokens{sinks} are hidden"
    if shown.weight is not None:
        share = 1 - float(shown.shares(shown.weight).isel(positions).sum())
        sentence += f": they hold {100 * share:.3g} % of the mass. Sums still count them, and nothing is renormalised"
    above = trace.meta.get("sinks")
    none = f" No other token receives more than {above:g} times an even share." if above and not hidden else ""
    return f"{sentence}.{none}"


def position_name(trace: AttentionTrace, site: Site, axis: str, position: int) -> str:
    """A position of an axis of a site: its token, or its number from 1."""
    return labels(trace.site(site), dict(trace.texts), axis)[position]


def caption(shown: Distribution, array: xr.DataArray) -> str:
    """Where the array is from: checkpoint, text, layer, direction, heads, quantity, and which axes are folded."""
    trace, choice, site = shown.trace, shown.choice, shown.choice.site
    roles = axis_labels(trace)
    heads = [f"head {i + 1}" for axis, i in choice.index if axis == "head"]
    heads += [f"{roles[axis]} {position_name(trace, site, axis, i)}" for axis, i in choice.index if axis != "head"]
    heads += [f"{reduction} of heads" for axis, reduction in choice.reduce if axis == "head"]
    heads += [f"head {int(trace.meta['head']) + 1} ({trace.meta['mask']})"] if "head" in trace.meta else []
    axes = [axis for axis in array.attrs.get("folded", "").split(",") if axis in array.dims]
    sentences = [f"{roles[axis]} folded to {array.sizes[axis]}" for axis in axes]
    parts = [
        str(trace.meta.get("checkpoint", "")),
        site.module,
        site.layer_name,
        site.role.replace("_", " "),
        *heads,
        site.quantity,
        *sentences,
    ]
    return ", ".join(filter(None, parts))
