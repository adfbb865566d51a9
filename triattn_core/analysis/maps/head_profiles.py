"""What every head of a row gives to each token, and how far its maps are from those of the other heads.

For weights W [query, key] of a head, rows divided by their sums, and cubes A [query, key, context] in the same way:

    to_key      mean_n W[n,i]                              what a token gets as a key (W: A summed over context)
    to_context  mean_n sum_i A[n,i,j]                      what it gets as context
    from_query  KL(W[n] || mean_n W[n]), in bits           how much its own row differs: a query gives 1 in all
    by_feature  mean_n P[n,i,l]                            of MTSA, what it gets as a key, feature by feature
    overlaps    mean_n sum_{i,j} sqrt(A[n,i,j] B[n,i,j])   with each head B of the same group: 1 where they are equal

A group holds the layers of one direction, whose heads read the same tokens.  1 less the overlap is the squared
Hellinger distance of the two heads' distributions.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.analysis.maps.mtsa_tensor import MAX_CELLS, head_tensor
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import without_axes
from triattn_core.trace.axes import CUBE, TOKEN_AXES
from triattn_core.trace.site import Site
from triattn_core.trace.sites import layer_by_layer, two_way_sites

WAYS = {"to_key": "key", "to_context": "context", "from_query": "query", "by_feature": "key"}  # with the axis of each


def group_of(site: Site) -> str:
    """The text of a site without its layer: `a_over_b/weight`."""
    return str(Site(role=site.role, quantity=site.quantity).under(site.module))


def profile_table(trace: AttentionTrace) -> pd.DataFrame:
    """A row for each site of weights and head: `site`, `head` from 0, `group`; `to_key`, `from_query` and `to_context`
    [tokens]; `by_feature` [tokens, features] of MTSA; `overlaps` [heads of the group, in the order of these rows]; and
    of each axis, the same for all heads of a site, `tokens of <axis>` and `glued of <axis>`: whether a token follows
    the one before without a space.  None where there is no such thing.

    Raises TraceError if the trace has no weights over query and key.
    """
    sites = layer_by_layer(two_way_sites(trace))
    distributions = {site: _distributions(trace.site(site)) for site in sites}
    rows = []
    for site, shares in distributions.items():
        group = [other for other in sites if group_of(other) == group_of(site)]
        overlaps = np.concatenate([_overlaps(shares, distributions[other]) for other in group], -1)
        axes = {axis: _tokens(trace.site(site), axis) for axis in TOKEN_AXES}
        texts = {
            f"{field} of {axis}": of_axis[i] for axis, of_axis in axes.items() for i, field in enumerate(TOKEN_FIELDS)
        }
        features = _by_feature(trace, site)
        for head, values in enumerate(shares):
            maps = {"overlaps": overlaps[head], "by_feature": None if features is None else features[head]}
            rows.append(
                {
                    "site": str(site),
                    "head": head,
                    "group": group_of(site),
                    **_to_and_from(values, "context" in trace.sum_axes(site)),
                    **maps,
                    **texts,
                }
            )
    return pd.DataFrame(rows)


def drop_profiles(table: pd.DataFrame) -> pd.DataFrame:
    """A table without the columns of `profile_table`, which hold an array a row."""
    arrays = [*WAYS, "overlaps", "group", "profile", *(name for name in table if name.split(" of ")[0] in TOKEN_FIELDS)]
    return table.drop(columns=[name for name in arrays if name in table])


TOKEN_FIELDS = ("tokens", "glued")


def _distributions(site: xr.DataArray) -> np.ndarray:
    """[head, query, key] or [head, query, key, context] with the rows of queries divided by their sums, float32."""
    site = without_axes(site, keep=CUBE)
    site = site if "head" in site.dims else site.expand_dims("head")
    axes = [axis for axis in CUBE if axis in site.dims]
    values = np.clip(site.transpose("head", *axes).values.astype(np.float32), 0.0, None)
    total = values.sum(tuple(range(2, values.ndim)), keepdims=True)
    return np.divide(values, total, out=np.zeros_like(values), where=total > 0)


def _to_and_from(shares: np.ndarray, over_context: bool) -> dict[str, np.ndarray | None]:
    """The profiles of one head's distributions [query, key] or [query, key, context].  over_context: whether they run
    over context; where each has distributions of its own, none of it receives more than another."""
    keys = shares.sum(-1) if shares.ndim == 3 else shares
    filled = max(1, int((keys.sum(-1) > 0).sum()))
    mean = keys.sum(0) / filled
    ratio = np.divide(keys, mean, out=np.ones_like(keys), where=keys > 0)
    bits = np.maximum((keys * np.log2(ratio)).sum(-1), 0.0)
    context = shares.sum((0, 1)) / filled if shares.ndim == 3 and over_context else None
    return {"to_key": mean, "to_context": context, "from_query": bits}


def _overlaps(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """[heads, heads]: the mean over nonempty queries of sum sqrt(A B); ones where the shapes differ never occur."""
    if left.shape[1:] != right.shape[1:]:
        return np.full((len(left), len(right)), np.nan, np.float32)
    filled = max(1, int((left[0].reshape(left.shape[1], -1).sum(-1) > 0).sum()))
    return np.sqrt(left).reshape(len(left), -1) @ np.sqrt(right).reshape(len(right), -1).T / filled


def _by_feature(trace: AttentionTrace, site: Site) -> np.ndarray | None:
    """[head, key, feature] of a site of MTSA; None of others, and of texts too long for the tensor."""
    layer = Site(site.module, site.layer)
    scores = trace.sites.get((layer / "source2token").with_quantity("relevance"))
    if scores is None or scores.sizes["key"] ** 2 * scores.sizes["feature"] > MAX_CELLS:
        return None
    tensors = (head_tensor(trace, layer, head) for head in range(scores.sizes["head"]))
    weights = (tensor.site((layer / "tensor").with_quantity("weight")) for tensor in tensors)
    return np.stack([weight.mean("query").transpose("key", "feature") for weight in weights])


def _tokens(site: xr.DataArray, axis: str) -> tuple[list[str] | None, list[bool] | None]:
    """The tokens along an axis, and which follow the one before without a space; special tokens are empty."""
    if f"{axis}_token" not in site.coords:
        return None, None
    tokens, texts, starts, ends, special = (
        site[f"{axis}_{name}"].values for name in ("token", "text", "start", "end", "special")
    )
    names = ["" if is_special else str(token).removeprefix("##") for token, is_special in zip(tokens, special)]
    glued = [
        i > 0 and texts[i] == texts[i - 1] and starts[i] == ends[i - 1] and not special[i] and not special[i - 1]
        for i in range(len(names))
    ]
    return names, list(map(bool, glued))
