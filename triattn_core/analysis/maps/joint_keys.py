"""Bi-joint's keys, which are followed by context tokens: separate or join the two parts."""

from __future__ import annotations

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import BESIDE, logsumexp, with_attrs


def key_part(site: xr.DataArray) -> xr.DataArray:
    """A Bi-joint site over the key sequence alone; other sites are unchanged.

    Rows are not normalised again: the missing mass is on the context, see `context_share`; an even share counts its
    tokens, which BESIDE says.
    """
    if not _is_joint(site):
        return site
    is_key = site["key_role"].values == "key"
    return site.isel(key=is_key).drop_vars("key_role").assign_attrs({BESIDE: int((~is_key).sum())})


def context_share(weights: xr.DataArray, head: int | None = None) -> float | None:
    """The share of the weight on context tokens among the keys, averaged over queries and, with `head=None`, heads;
    None for a site without such keys."""
    if not _is_joint(weights):
        return None
    mass = weights.isel(key=weights["key_role"].values != "key").sum("key", dtype=np.float64)
    return float((mass if head is None else mass.isel(head=head)).mean())


def with_context_key(site: xr.DataArray) -> xr.DataArray:
    """A Bi-joint site with its context tokens joined to one last key named context; other sites are unchanged.

    Weights are summed, relevances joined by log-sum-exp, so that rows stay distributions.
    """
    if not _is_joint(site):
        return site
    keys, context = key_part(site), site.isel(key=site["key_role"].values != "key")
    if not context.sizes["key"]:
        return keys
    is_weight = site.attrs.get("quantity") == "weight"
    summed = context.sum("key") if is_weight else logsumexp(context, "key")
    values = {"token": "context", "text": "", "start": 0, "end": 0, "special": 0, "segment": ""}
    if "key_tokens" in context.coords:
        values["tokens"] = int(context["key_tokens"].sum())
    names = [str(name) for name in keys.coords if keys[name].dims == ("key",)]
    coords = {name: [values.get(name.removeprefix("key_"), context[name].values[0])] for name in names}
    last = summed.expand_dims("key", axis=site.get_axis_num("key")).assign_coords(
        {name: ("key", value) for name, value in coords.items()}
    )
    return with_attrs(xr.concat([keys, last], "key", coords="minimal", compat="override"), **site.attrs)


def _is_joint(site: xr.DataArray) -> bool:
    return "key_role" in site.coords
