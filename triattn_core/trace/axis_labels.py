"""What a user calls the axes of a trace: `trace_of(…, names={"query": "residue i"})` keeps it in the trace's facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from triattn_core.trace.axes import AXES
from triattn_core.trace.site import Site
from triattn_core.trace.trace import AttentionTrace

if TYPE_CHECKING:
    import pandas as pd

SIZES = 3  # that a sentence lists
SUFFIXES = ("", "_at", "_tokens")  # of the columns that an axis has in a table of cells


def axis_labels(trace: AttentionTrace, axes: Iterable[str] = AXES) -> dict[str, str]:
    """The label of each axis: yours, where the trace has one, otherwise its name."""
    return {axis: str(trace.meta.get(f"{axis}_name") or axis) for axis in axes}


def count(size: int, axis: str) -> str:
    """How many positions an axis has: "1 head", "12 queries"."""
    if size == 1:
        return f"1 {axis}"
    if axis.endswith("y") and axis != "key":
        return f"{size:,} {axis[:-1]}ies"
    return f"{size:,} {axis}{'es' if axis.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def describe_sizes(trace: AttentionTrace, sites: Sequence[Site], name: str) -> str:
    """How many sites there are in how many layers, and the sizes that they have.  name: what one of them is called."""
    arrays = [trace.site(site) for site in sites]
    known = [" × ".join(count(size, str(axis)) for axis, size in array.sizes.items()) for array in arrays]
    sizes = list(dict.fromkeys(known))
    if len(sites) == 1:
        return sizes[0]
    listed = "; ".join(sizes[:SIZES]) + " …" * (len(sizes) > SIZES)
    layers = len({site.layer for site in sites})
    return f"{len(sites)} {name}s in {layers} layer{'s' * (layers > 1)}: {listed}"


def describe_axis(axis: str, label: str) -> str:
    """What an axis is, in a sentence: the glossary's, with the axis by its own name where it has another label."""
    return AXES[axis] if label == axis else f"{label[0].upper()}{label[1:]} is the {axis} axis. {AXES[axis]}"


def label_columns(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """A table of cells whose axes are called by their labels: `residue i`, `residue i_at`.

    Axes keep their names where two have one label, or a label is the name of another column.
    """
    changed = {axis: label for axis, label in labels.items() if label != axis and axis in table}
    taken = set(table.columns) | {name for name in labels if name not in changed}
    names = {axis + end: label + end for axis, label in changed.items() for end in SUFFIXES if axis + end in table}
    if len(set(names.values())) < len(names) or taken & set(names.values()):
        return table
    return table.rename(columns=names)
