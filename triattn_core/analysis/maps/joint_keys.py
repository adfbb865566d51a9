"""Keys that are followed by context tokens, as those of Bi-joint are: the part over the key sequence, and the rest."""

from __future__ import annotations

import numpy as np
import xarray as xr

from triattn_core.trace.aggregation import logsumexp


def key_part(site: xr.DataArray) -> xr.DataArray:
    """A site whose keys are followed by context tokens (Bi-joint's), over the key sequence alone; others as they are.

    Nothing is normalised anew: what its rows lack lies on the context, see `context_share`.
    """
    return site.isel(key=site["key_role"].values == "key").drop_vars("key_role") if _is_joint(site) else site


def context_share(weights: xr.DataArray, head: int | None = None) -> float | None:
    """The share of the weight on the context tokens among the keys, the mean over queries and, with `head=None`, over
    heads; None for a site without such keys."""
    if not _is_joint(weights):
        return None
    mass = weights.isel(key=weights["key_role"].values != "key").sum("key", dtype=np.float64)
    return float((mass if head is None else mass.isel(head=head)).mean())


def with_context_key(site: xr.DataArray) -> xr.DataArray:
    """A site whose keys are followed by context tokens, these joined to one last key, called context; others as they
    are.  Weights are summed, relevances joined by log-sum-exp: rows stay distributions, whatever the context holds."""
    if not _is_joint(site):
        return site
    of_key, around = key_part(site), site.isel(key=site["key_role"].values != "key")
    if not around.sizes["key"]:
        return of_key
    weight = site.attrs.get("quantity") == "weight"
    joined = around.sum("key") if weight else logsumexp(around, "key")
    named = {"token": "context", "text": "", "start": 0, "end": 0, "special": 0, "segment": ""}
    if "key_tokens" in around.coords:
        named["tokens"] = int(around["key_tokens"].sum())
    names = [str(name) for name in of_key.coords if of_key[name].dims == ("key",)]
    coords = {name: [named.get(name.removeprefix("key_"), around[name].values[0])] for name in names}
    last = joined.expand_dims("key", axis=site.get_axis_num("key")).assign_coords(
        {name: ("key", value) for name, value in coords.items()}
    )
    return xr.concat([of_key, last], "key", coords="minimal", compat="override").assign_attrs(site.attrs)


def _is_joint(site: xr.DataArray) -> bool:
    return "key_role" in site.coords
