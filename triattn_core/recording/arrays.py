"""Recorded attentions as the arrays of a trace: what each holds, what its rows sum to, and what a reader must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import numpy as np
import torch
import xarray as xr

from triattn_core.recording.attention import Attention
from triattn_core.recording.row_sums import Rows, describe_rows
from triattn_core.recording.tensors import PROVED
from triattn_core.trace.axes import MASKED
from triattn_core.trace.listing import listing
from triattn_core.trace.site import Site

REACHES_OUTPUT = "the model's output"  # else the path of the outermost module that returned it; empty for none
REBUILT = "Weights times values rebuild what the model computed"  # in a note
# How the weights of a kind of attention are known, which says how much their error proves.
PROOFS = dict.fromkeys(("sdpa", "difference"), "computed again from queries, keys and masks")
PROOFS["flex"] = "read from the call by one-hot values"
PROOFS["flex with its sum"] = (
    PROOFS["flex"]
    + ", which returned the log-sum-exp of each row too: where the model rescales by it, as for a sink or"
    " to merge parts, they are shares within the call, not what is used"
)
OWN = "the model's own, whose product with the values was repeated"


def site_array(attention: Attention, length: int | None = None, padded: int = 0) -> xr.DataArray:
    """Returns the weights of an attention, and in its attributes and the coordinate MASKED what is known of them.

    length: how many tokens there are, without the padding of a band to whole blocks.  padded: how many there are with
    it, of what is no band and has such an axis; 0 where there is no band beside it.
    """
    with torch.no_grad():
        values = attention.arranged().float().cpu().numpy()
        hidden = None if attention.hidden is None else attention.hidden.cpu().numpy()
    if attention.layout.blocks:
        values = values[:, :length, :length]
    elif padded:
        values, hidden = _cut(values, padded, length, 1), None if hidden is None else _cut(hidden, padded, length)
    cells = _masked_cells(attention, values, hidden)
    precision = str(attention.precision).removeprefix("torch.")
    rows = describe_rows(values, attention.layout.sums_over, attention.layout.dims, attention.columns, precision)
    if attention.kind == "difference":
        rows = Rows("contribution", {})
    attrs = {
        "quantity": rows.quantity,
        **rows.sums,
        "module": attention.running.path,
        "kind": attention.kind,
        "rebuilt": attention.error,
        "mask": _describe_mask(cells),
        "columns": attention.columns,
        "heads_to_a_key": attention.group,
        "windows": attention.windows,
        "precision": precision,
    }
    attrs |= {"reaches": REACHES_OUTPUT if attention.reach.path == "" else attention.reach.path or ""}
    unused = attention.unused_rows
    attrs["overwritten"] = "" if unused is None else ",".join(map(str, unused.any(0).nonzero().flatten().tolist()))
    attrs |= {} if attention.factor is None else {"factor": attention.factor}
    array = xr.DataArray(values, dims=attention.layout.dims, attrs=attrs)
    if cells is None or cells.ndim < 3:
        return array
    out = cells & (values == 0).all(0)  # a row that is hidden as a whole may have weights all the same
    return array.assign_coords({MASKED: (array.dims[1:], out)}) if out.any() else array


def _cut(values: np.ndarray, padded: int, length: int | None, start: int = 0) -> np.ndarray:
    """Without the padding, on each axis from `start` on that has it."""
    sizes = values.shape[start:]
    return values[(slice(None),) * start + tuple(slice(length if size == padded else None) for size in sizes)]


def _masked_cells(attention: Attention, values: np.ndarray, hidden: np.ndarray | None) -> np.ndarray | None:
    """Which cells [query, key(, context)] of the first head a mask hides; None where there is none.

    values: the weights [head, query, key(, context)].  hidden: the cells of the scores [query, column].
    """
    if hidden is None or not hidden.any():
        return None
    shape = values.shape[1:]
    if not attention.layout.blocks and len(hidden) == shape[0]:
        if hidden.size == values[0].size:
            return hidden.reshape(shape)
        if len(shape) == 2 and attention.columns > shape[1]:
            return _without_sinks(hidden, values[0] == 0)
        if hidden.shape == shape[:2]:
            return np.broadcast_to(hidden[..., None], shape)
    zero, unused = (values == 0).all(0), attention.unused_rows  # of a band, what lies outside it is hidden too
    if unused is not None and not attention.layout.blocks:
        zero[unused.all(0).cpu().numpy()[: len(zero)]] = False  # the model wrote over them
    return zero


def _describe_mask(cells: np.ndarray | None) -> str:
    """`causal`, `none`, or what share of the cells a mask of another form hides.  cells: see `_masked_cells`."""
    if cells is None or not cells.any():
        return "none"
    n, *sizes = cells.shape
    queries = np.arange(n).reshape(-1, *[1] * len(sizes))
    later = [places - (m - n) > queries for m, places in zip(sizes, np.indices(sizes, sparse=True))]
    is_causal = np.array_equal(cells, np.logical_or.reduce(np.broadcast_arrays(*later)))
    return "causal" if is_causal else f"hides {100 * cells.mean():.3g} % of the cells"


def _without_sinks(hidden: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """The hidden cells [n, m] of the keys that a map kept of a softmax over more columns, [n, m + sinks].

    These are the first or the last ones, whichever have no weight where they are hidden.
    """
    m = zero.shape[-1]
    parts = [part for part in (hidden[:, :m], hidden[:, -m:]) if part.shape == zero.shape]
    fitting = [part for part in parts if bool(zero[part].all())]
    return max(fitting, key=np.sum, default=hidden)


def largest_error(arrays: Iterable[xr.DataArray]) -> float:
    """Returns the largest error of weights times values."""
    return max(float(array.attrs["rebuilt"]) for array in arrays)


def describe_arrays(arrays: Mapping[Site, xr.DataArray]) -> list[str]:
    """Returns what a reader must know: how well the weights are proved, and rows that do not sum to one."""
    worst = max(arrays.values(), key=lambda array: float(array.attrs["rebuilt"]) / _rounding(array))
    error = float(worst.attrs["rebuilt"])
    largest = largest_error(arrays.values())
    notes = [f"{REBUILT}, to {largest:.1g}." if largest else f"{REBUILT}, to the bit."]
    if not error <= _rounding(worst):
        where = worst.attrs["module"] or "the model"
        notes = [f"Not proved: in {where}, weights times values differ from what the model computed by {error:.2g}."]
        if np.isinf(error):
            notes = [f"Not proved: in {where}, what weights times values make or what the model did is not a number."]
    elif error > PROVED:
        notes = [f"{REBUILT}, to {error:.1g}, which is within the rounding of {worst.attrs['precision']}."]
    notes[0] += f" {_describe_proof(arrays.values())}"
    unused = [str(array.attrs["module"]) or "the model" for array in arrays.values() if not array.attrs["reaches"]]
    if unused:
        more = f" and {len(unused) - 1} more maps" if len(unused) > 1 else ""
        notes += [
            f"Not proved to be used: in {unused[0]}{more}, what weights made of the values was not seen in anything"
            " that the module returned."
        ]
    notes += [*_describe_windows(arrays.values()), *_describe_overwritten(arrays.values())]
    sentences = Counter(describe_rows_note(array) for array in arrays.values())
    notes += [
        sentence + (f" ({count} of {len(arrays)} maps)" if count < len(arrays) else "") + "."
        for sentence, count in sentences.items()
        if sentence
    ]
    return notes


def _describe_proof(arrays: Collection[xr.DataArray]) -> str:
    """What the error is of, and how far what the weights made was followed."""
    kinds = Counter(PROOFS.get(str(array.attrs["kind"]), OWN) for array in arrays)
    of = [way + (f" ({count} of {len(arrays)} maps)" if len(kinds) > 1 else "") for way, count in kinds.items()]
    ends = {str(array.attrs["reaches"]) for array in arrays} - {""}
    reached = "" if not ends else f" What they made is in {REACHES_OUTPUT}."
    if ends and ends != {REACHES_OUTPUT}:
        reached = f" What they made is in what {min(ends - {REACHES_OUTPUT})} returned, and was not followed further."
    return f"Weights are {', or '.join(of)}.{reached}"


def _describe_windows(arrays: Collection[xr.DataArray]) -> list[str]:
    """That what stands as heads are the heads of one window after another, where that is so."""
    within = Counter(int(array.attrs.get("windows", 1)) for array in arrays)
    more = {count: maps for count, maps in within.items() if count > 1}
    if not more:
        return []
    first = next(array for array in arrays if array.attrs.get("windows", 1) > 1)
    each, several = first.sizes["head"] // int(first.attrs["windows"]), len(more) > 1 or 1 in within
    told = f" ({sum(more.values())} of {len(arrays)} maps)" if several else ""
    counts = " or ".join(map(str, more))
    heads = f"the first {each} maps are the heads of the first window, and so on"
    return [f"Tokens attend within {counts} windows{told}: {heads}."]


def _describe_overwritten(arrays: Collection[xr.DataArray]) -> list[str]:
    """That some rows are not the ones that were computed first, where that is so."""
    places = [str(array.attrs["overwritten"]) for array in arrays if array.attrs.get("overwritten")]
    if not places:
        return []
    count = f" ({len(places)} of {len(arrays)} maps)" if len(places) < len(arrays) else ""
    first = [place + 1 for place in map(int, places[0].split(","))]
    which = ", ".join(map(str, first[:8])) + (" …" if len(first) > 8 else "")
    return [
        f"Rows that were computed and then written over or dropped are not shown{count}: of query {which}, from 1. The"
        " row that was used stands there where it has the same keys; else it is empty."
    ]


def _rounding(array: xr.DataArray) -> float:
    """The largest error that counts as rounding: the epsilon of the type that the model computes in, but PROVED if
    that is less."""
    return max(PROVED, float(torch.finfo(getattr(torch, str(array.attrs.get("precision", "float32")))).eps))


def describe_rows_note(array: xr.DataArray) -> str:
    """A sentence on rows that are no distributions over their keys; empty where they are."""
    cells = np.prod([size for axis, size in array.sizes.items() if axis in ("key", "context")])
    dropped = int(array.attrs["columns"]) - int(cells)
    if array.attrs.get("sums_over", array.attrs.get("runs_over")) == "query":
        ends = "" if array.attrs.get("sums_over") else ", and the model scales weights after it"
        return "The softmax runs over the queries: a column sums to one, not a row" + ends
    if array.attrs["kind"] == "mixed":
        return "What the model uses is a mix of the maps of its heads; those before are sites too"
    if array.attrs["kind"] in ("difference", "sum"):
        return f"What the model uses is the {array.attrs['kind']} of two maps; these are sites too"
    if array.attrs["kind"] == "part":
        return ""
    if array.attrs["quantity"] == "contribution":
        return "Weights are signed: the model subtracts or scales them"
    if array.attrs.get("runs_over") and array.attrs.get("parts", 1) > 1:
        return f"The softmax runs over {array.attrs['columns']} keys, of which this map has a part"
    if array.attrs.get("runs_over") and 0 < dropped <= array.sizes["query"]:
        return (
            f"A learned sink takes the rest of each row: {dropped} column{'s' * (dropped > 1)} of the softmax dropped"
        )
    if array.attrs.get("runs_over"):
        return "Rows do not sum to one: the model drops or scales weights after the softmax"
    if "context" in array.dims:
        return f"The cube is normalised over {listing(array.attrs['sums_over'].split(','))}"
    return ""
