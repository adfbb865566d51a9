"""Traces of an MTSA layer made up of drawn scores: three heads, each under a mask of its own."""

from __future__ import annotations

import numpy as np
import xarray as xr

from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site

N, SIZE, LAYER = 7, 5, Site(layer=0)
MASKS = ("forward", "backward", "window:2")


def coords(axis: str, n: int, text: str = "text") -> dict:
    """Tokens w0, w1, … of a text "w0 w1 …"."""
    words = [f"w{i}" for i in range(n)]
    starts = [len(" ".join(words[:i])) + (i > 0) for i in range(n)]
    columns = {"token": words, "text": [text] * n}
    columns |= {"start": starts, "end": [start + len(word) for start, word in zip(starts, words)]}
    columns |= {"special": [0] * n, "segment": [text] * n, "tokens": [1] * n}
    return {f"{axis}_{name}": (axis, values) for name, values in columns.items()}


def open_pairs(name: str, n: int) -> np.ndarray:
    """Whether the query (row) may attend to the key under a mask of MASKS."""
    offset = np.subtract.outer(np.arange(n), np.arange(n))
    return {"forward": offset > 0, "backward": offset < 0}.get(name, (abs(offset) <= 2) & (offset != 0))


def make_trace(
    n: int = N, size: int = SIZE, layer: str = LAYER, text: str = "text", masks: str = ",".join(MASKS), **scales
):
    """The sites that MTSA taps, with weights as their softmax.  scales: scale_t and scale_s, by default the paper's."""
    draw, heads = np.random.default_rng(5), len(MASKS)
    R, S = draw.normal(0, 1.5, (heads, n, n)).astype(np.float32), draw.normal(0, 2, (heads, n, size)).astype(np.float32)
    powers = 1 / (1 + np.exp(-R)) if scales.get("scale_t") != "identity" else np.exp(R)
    allowed = np.stack([open_pairs(name, n) for name in MASKS])
    powers = powers * allowed
    pairs = powers / np.maximum(powers.sum(-1, keepdims=True), 1e-30)
    features = np.exp(S) / np.exp(S).sum(1, keepdims=True)
    both, key = {**coords("query", n, text), **coords("key", n, text)}, coords("key", n, text)

    def site(values: np.ndarray, axes: tuple[str, ...], quantity: str) -> xr.DataArray:
        attrs = {"quantity": quantity, "sums_over": "key" if quantity == "weight" else ""}
        return xr.DataArray(values, both if "query" in axes else key, ("head", *axes), attrs=attrs)

    sites = {
        f"{layer}/mask/contribution": site(
            np.where(allowed, 0, -np.inf).astype(np.float32), ("query", "key"), "contribution"
        ),
        f"{layer}/token2token/relevance": site(R, ("query", "key"), "relevance"),
        f"{layer}/token2token/weight": site(pairs, ("query", "key"), "weight"),
        f"{layer}/source2token/relevance": site(S, ("key", "feature"), "relevance"),
        f"{layer}/source2token/weight": site(features, ("key", "feature"), "weight"),
    }
    meta = {"scale_t": "log_sigmoid", "scale_s": "identity", "masks": masks, **scales}
    meta |= {"checkpoint": "tiny-mtsa", "digest": "d1", "mechanism": "mtsa", "layers": 1, "heads": heads}
    return AttentionTrace(sites, {text: " ".join(f"w{i}" for i in range(n))}, meta)
