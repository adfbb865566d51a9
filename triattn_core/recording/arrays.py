"""Recorded attentions as the arrays of a trace: what each holds, what its rows sum to, and what a reader must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
import xarray as xr

from triattn_core.recording.row_sums import describe_rows
from triattn_core.recording.watch import Attention
from triattn_core.trace.array_rows import empty_nan_rows
from triattn_core.trace.site import Site

REBUILT = "Weights times values rebuild what the model computed, to"  # in a note
PROVED = 1e-5  # largest error that counts as rounding


def site_array(attention: Attention, length: int | None = None) -> xr.DataArray:
    """Returns the weights of an attention, and in its attributes what is known of them.

    length: how many tokens there are, without the padding of a band to whole blocks.
    """
    with torch.no_grad():
        values = attention.arranged().float().cpu().numpy()
    if attention.layout.blocks:
        values = values[:, :length, :length]
    rows = describe_rows(values, attention.layout.sums_over, attention.layout.dims, attention.columns)
    attrs = {
        "quantity": rows.quantity,
        **rows.sums,
        "module": attention.running.path,
        "kind": attention.kind,
        "rebuilt": attention.error,
        "mask": _describe_mask(attention),
        "columns": attention.columns,
        "heads_to_a_key": attention.group,
    }
    return xr.DataArray(values, dims=attention.layout.dims, attrs=attrs)


def _describe_mask(attention: Attention) -> str:
    """`causal`, `none`, or what share of the cells a mask of another form hides."""
    if attention.hidden is None or not bool(attention.hidden.any()):
        return "none"
    hidden = attention.hidden.cpu().numpy()
    n, m = hidden.shape
    if np.array_equal(hidden, np.triu(np.ones((n, m), bool), 1 + m - n)):
        return "causal"
    return f"hides {100 * hidden.mean():.3g} % of the cells"


def join_steps(steps: Sequence[Attention], grows: bool) -> xr.DataArray:
    """Returns the weights [head, step, key] of one attention over the steps of a generation: of each its last query.

    grows: whether each step adds a key, as in self-attention; the keys of a step that has fewer, as those of a sliding
    window, are the last ones.
    """
    arrays = [site_array(attention) for attention in steps]
    first = arrays[0]
    keys = first.sizes["key"] + (len(arrays) - 1 if grows else 0)
    values = np.zeros((first.sizes["head"], len(arrays), keys), np.float32)
    for step, array in enumerate(arrays):
        end = first.sizes["key"] + (step if grows else 0)
        row = array.values[:, -1, -end:]
        values[:, step, end - row.shape[-1] : end] = row
    rows = describe_rows(values, ("key",), ("head", "query", "key"), max(attention.columns for attention in steps))
    kept = {name: first.attrs[name] for name in ("module", "kind", "heads_to_a_key")}
    dropped = int(first.attrs["columns"]) - first.sizes["key"]
    attrs = {"quantity": rows.quantity, **rows.sums, **kept, "mask": "causal" if grows else "none"}
    attrs |= {"columns": keys + dropped, "rebuilt": largest_error(arrays)}
    return xr.DataArray(values, dims=first.dims, attrs=attrs)


def largest_error(arrays: Iterable[xr.DataArray]) -> float:
    """Returns the largest error of weights times values."""
    return max(float(array.attrs["rebuilt"]) for array in arrays)


def empty_unknown_rows(arrays: Mapping[Site, xr.DataArray]) -> tuple[dict[Site, xr.DataArray], list[str]]:
    """Returns the arrays with empty rows for those that hold what is no number, and a note on the first such array."""
    emptied, bad = {}, []
    for site, array in arrays.items():
        sums = str(array.attrs.get("sums_over") or array.attrs.get("runs_over") or "key").split(",")
        values, notes = empty_nan_rows(array.values, [str(axis) for axis in array.dims], sums)
        emptied[site] = array.copy(data=values)
        bad += [f"{site}: {note}" for note in notes]
    more = f" So do rows of {len(bad) - 1} more of the {len(arrays)} maps." if len(bad) > 1 else ""
    return emptied, [bad[0] + more] if bad else []


def describe_arrays(arrays: Mapping[Site, xr.DataArray]) -> list[str]:
    """Returns what a reader must know: how well the weights are proved, and rows that do not sum to one."""
    error = largest_error(arrays.values())
    notes = [f"{REBUILT} {error:.1g}."]
    if not error <= PROVED:
        worst = next(array for array in arrays.values() if array.attrs["rebuilt"] == error)
        where = worst.attrs["module"] or "the model"
        notes = [f"Not proved: in {where}, weights times values differ from what the model computed by {error:.2g}."]
    sentences = Counter(describe_rows_note(array) for array in arrays.values())
    notes += [
        sentence + (f" ({count} of {len(arrays)} maps)" if count < len(arrays) else "") + "."
        for sentence, count in sentences.items()
        if sentence
    ]
    return notes


def describe_rows_note(array: xr.DataArray) -> str:
    """A sentence on rows that are no distributions over their keys; empty where they are."""
    cells = np.prod([size for axis, size in array.sizes.items() if axis in ("key", "context")])
    dropped = int(array.attrs["columns"]) - int(cells)
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
        return f"The cube is normalised over {' and '.join(array.attrs['sums_over'].split(','))}"
    return ""
