"""Does context matter, in sentences: the parts of one head against all, and the three-way interaction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from triattn_core.trace.site import Site
from triattn_core.views.lib.number_format import minus


def percent(share: float) -> str:
    """One decimal, aligned."""
    return f"{100 * share:.1f} %"


def layers_of(table: pd.DataFrame) -> pd.Series:
    """The layer, from 0, of each row of `anova.share_table`; of a cube without layers 0."""
    return table["site"].map(lambda site: Site.parse(site).layer or 0)


def parts(table: pd.DataFrame, row: pd.Series, layer: int, head: int) -> str:
    """The chosen head against all.  table: of `anova.share_table`; row: that of the head; layer, head: from 0."""
    all_shares = table["redirected"]
    place, other = most_redirected(table)
    if not all_shares.any():
        return "Context redirects no relevance that softmax sees in any head: there is nothing to decompose."
    share, rest = percent(row["redirected"]), "A two-way map cannot hold that part."
    if len(all_shares) == 1:
        return f"Context redirects {share} of the relevance that softmax sees. {rest}"
    layers = layers_of(table).nunique() > 1
    head_name, top_head = (
        f"layer {i + 1}, head {j + 1}" if layers else f"head {j + 1}" for i, j in ((layer, head), (place, other))
    )
    return (
        f"In {head_name}, context redirects {share} of the relevance that softmax sees; the median of "
        f"{len(all_shares)} heads is {percent(all_shares.median())}, the most {percent(all_shares.max())} "
        f"({top_head}). {rest}"
    )


def strongest(part: xr.DataArray) -> int:
    """The context position with the largest three-way cell, special tokens aside."""
    return int(abs(part).max(["query", "key"]).where(part["context_special"] == 0, -1).values.argmax())


def most_redirected(table: pd.DataFrame) -> tuple[int, int]:
    """Layer and head that context redirects most, from 0."""
    row = table.loc[table["redirected"].idxmax()]
    return Site.parse(row["site"]).layer or 0, int(row["head"])


def residual(cells: xr.DataArray, word: str, queries: Sequence[str], keys: Sequence[str], bits: np.ndarray) -> str:
    """The strongest cell of the map [query, key], and the bits of the queries."""
    for axis, names in (("query", queries), ("key", keys)):
        if len(names) == 1:
            return f"There is only one {axis}, so the three-way interaction is 0: nothing to decompose."
    sentence = (
        f"Mean over queries {bits.mean():.3g} bits; 0 would mean that no context token changes which key is chosen."
    )
    if not cells.values.any():
        return f"With “{word}” as context nothing is left beyond what any two of the words explain. {sentence}"
    query, _ = divmod(int(abs(cells.values).argmax()), cells.shape[1])
    row = cells.values[query]
    up, down = int(row.argmax()), int(row.argmin())
    ends = f"more to “{keys[up]}” ({row[up]:+.2g}) and less to “{keys[down]}” ({row[down]:+.2g})"
    effect = f"With “{word}” as context, “{queries[query]}” attends {ends}, beyond what any two of the words explain. "
    return minus(effect + sentence)


def describe_rows(results: pd.DataFrame) -> str:
    """How many rows of a file, and the median share and information by layer.  found: of
    `context_shares.measure_rows`."""
    layer = layers_of(results) + 1
    medians = results.groupby(layer)[["redirected", "information"]].median()
    layers = [(layer_index, percent(row["redirected"]), row["information"]) for layer_index, row in medians.iterrows()]
    ends = [f"layer {layer_index}: {share}, {bits:.3g} bits" for layer_index, share, bits in layers]
    rows = results["row"].nunique()
    return f"Over {rows} rows, all heads and both directions, context redirects (medians): {'; '.join(ends)}."
