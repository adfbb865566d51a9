"""The full alignment tensor of one MTSA head, computed from the scores in its trace.

    T[j, i, l] = scale_t(R[j, i]) + scale_s(S[i, l]) + M[j, i]       Eq. 10
    P = softmax of T over i                                          Eq. 11

of "Tensorized Self-Attention" (Shen et al. 2019).  j is the query (the governor), i the key (the dependent), l the
feature.
"""

from __future__ import annotations

from dataclasses import replace

import torch
import xarray as xr

from triattn_core.attention import tensorized
from triattn_core.errors import InputError, TraceError
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import with_attrs
from triattn_core.trace.site import Site

AXES = ("query", "key", "feature")
MAX_CELLS = 2_000_000  # cells of a tensor: 163 tokens of 75 features


def head_tensor(trace: AttentionTrace, layer: Site, head: int) -> AttentionTrace:
    """The tensor of a head (from 0) of a layer, and the terms of its sum.

    Sites, under `<layer>/tensor/`: `relevance` T and `weight` P [query, key, feature]; and, as contributions,
    `token2token/…` [query, key] and `source2token/…` [key, feature], both scaled, and `mask/…` [query, key], -inf where
    the query may not attend to the key.

    Raises TraceError if the trace is not one of MTSA or has no such head, InputError if the tensor is too large.
    """
    settings = [str(trace.meta.get(name, "")) for name in ("scale_t", "scale_s", "masks")]
    if not all(settings):
        raise TraceError("this trace is not one of MTSA: no scales and masks are recorded with it")
    scale_t, scale_s, masks = settings
    R, S = (trace.site((layer / kind).with_quantity("relevance")) for kind in ("token2token", "source2token"))
    if not 0 <= head < R.sizes["head"]:
        raise TraceError(f"there is no head {head + 1}: {layer} has {R.sizes['head']}")
    R, S, M = (array.isel(head=head) for array in (R, S, trace.site((layer / "mask").with_quantity("contribution"))))
    n, size = R.sizes["query"], S.sizes["feature"]
    if n * n * size > MAX_CELLS:
        raise InputError(
            f"The tensor of {n:,} tokens has {n} × {n} × {size} = {n * n * size:,} cells, "
            f"{MAX_CELLS:,} are shown at most: shorten the text."
        )
    parts = {
        "token2token": R.copy(data=tensorized.SCALES[scale_t](torch.tensor(R.values)).numpy()),
        "source2token": S.copy(data=tensorized.SCALES[scale_s](torch.tensor(S.values)).numpy()),
        "mask": M,
    }
    R_, S_, M_ = (torch.tensor(array.values) for array in (R, S, M))
    P = tensorized.tensor(R_, S_, M_, torch.ones(n, dtype=torch.bool), scale_t, scale_s)
    T = (parts["token2token"] + parts["source2token"] + parts["mask"]).transpose(*AXES)
    place = layer / "tensor"
    sites = {
        (place / name).with_quantity("contribution"): _typed_as(array, "contribution") for name, array in parts.items()
    }
    sites[place.with_quantity("relevance")] = _typed_as(T, "relevance")
    sites[place.with_quantity("weight")] = _typed_as(T.copy(data=P.numpy()), "weight", "key")
    return replace(trace, sites=sites, meta={**trace.meta, "head": head, "mask": masks.split(",")[head]})


def _typed_as(array: xr.DataArray, quantity: str, sums_over: str = "") -> xr.DataArray:
    return with_attrs(array, quantity=quantity, sums_over=sums_over)
