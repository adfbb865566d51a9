"""`record`: a block in which a model's attentions are kept, and the tape that makes a trace of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import numpy as np
import torch
import xarray as xr
from torch import nn

from triattn_core.errors import TraceError
from triattn_core.recording.module_stack import ModuleStack
from triattn_core.recording.names import layer_of_path, site_of
from triattn_core.recording.refusal import explain_absence
from triattn_core.recording.row_sums import describe_rows
from triattn_core.recording.selection import Select, selector
from triattn_core.recording.watch import Attention, Watch
from triattn_core.trace import AttentionTrace
from triattn_core.trace.site import Site
from triattn_core.trace.token_lists import token_coords

PROVED = 1e-5  # largest error that counts as rounding


@contextmanager
def record(model: nn.Module, select: Select = None, *, example: int = 0, scores: bool = False) -> Iterator[Tape]:
    """Records every attention that `model` runs inside the block, in this thread.

    select: layers or modules to record, see `selection.selector`; the others cost nothing.  example: which row of a
    batch to show.  scores: also keep what goes into each softmax, where the model computes it.

    Whatever implementation the model uses stays in use, and its output does not change.  Fused attention is computed
    once more, head by head, in float32.  Raises what the model raises.

    >>> import torch
    >>> with record(torch.nn.MultiheadAttention(8, 2, batch_first=True)) as tape:
    ...     _ = tape.model(*[torch.randn(1, 5, 8)] * 3)
    >>> tape.trace(tokens=list("abcde")).sites["attention/weight"].dims
    ('head', 'query', 'key')
    """
    stack = ModuleStack(model)
    watch = Watch(stack, selector(select), example, scores)
    tape = Tape(model, watch.found)
    with stack.following(), watch:
        yield tape


@dataclass(frozen=True)
class Tape:
    """The attentions that a block recorded, in the order in which they ran."""

    model: nn.Module = field(repr=False)
    attentions: list[Attention]

    @property
    def error(self) -> float:
        """The largest error of weights times values against what the model made of them."""
        return max((attention.error for attention in self.attentions), default=0.0)

    def trace(
        self,
        tokens: Iterable[str] | None = None,
        *,
        query: Iterable[str] | None = None,
        key: Iterable[str] | None = None,
        context: Iterable[str] | None = None,
        step: int | None = None,
        source: str = "",
    ) -> AttentionTrace:
        """Returns the trace of one step, the last where the model ran several times.

        tokens: of every axis with that many positions; query, key, context: tokens of that axis.  Each site says in its
        attributes which `module` it is of, `rebuilt` to what error, and what its `mask` hides.

        Raises TraceError in one line where there was no attention, with the reason.
        """
        attentions = self._of_step(step)
        tokens = None if tokens is None else list(tokens)
        length = len(tokens) if tokens else None
        arrays = {site: _array(attention, length) for site, attention in self._sites(attentions).items()}
        given = {"query": query, "key": key, "context": context}
        texts: dict[str, str] = {}
        sites = {}
        for site, array in arrays.items():
            sites[site], own_texts = _with_tokens(array, tokens, given)
            texts |= own_texts
        return AttentionTrace(sites, texts, self._meta(attentions, arrays, source))

    def _of_step(self, step: int | None) -> list[Attention]:
        steps = {attention.running.step for attention in self.attentions}
        if not steps:
            raise TraceError(explain_absence(self.model))
        step = max(steps) if step is None else step
        if step not in steps:
            raise TraceError(f"step {step}: the model ran {max(steps) + 1} times, counted from 0")
        return [attention for attention in self.attentions if attention.running.step == step]

    def _sites(self, attentions: Sequence[Attention]) -> dict[Site, Attention]:
        """By `layer.N[/visit.V]/role/weight`, after the module's path where that names two modules or no layer."""
        short = [weights_site("", attention, self.model) for attention in attentions]
        counts = Counter(short)
        modules: dict[Site, set[str]] = {}
        for site, attention in zip(short, attentions):
            modules.setdefault(site, set()).add(attention.running.path)
        sites: dict[Site, Attention] = {}
        for site, attention in zip(short, attentions):
            path = attention.running.path
            unclear = len(modules[site]) > 1 or layer_of_path(path) is None and max(len(modules), counts[site]) > 1
            if path and unclear:
                site = weights_site(path, attention, self.model)
            again = (site / str(number) for number in count(2))
            sites[next(other for other in chain([site], again) if other not in sites)] = attention
        return sites

    def _meta(
        self, attentions: Sequence[Attention], arrays: Mapping[Site, xr.DataArray], source: str
    ) -> dict[str, Any]:
        layers = {layer_of_path(attention.running.path) for attention in attentions} - {None}
        meta: dict[str, Any] = {
            "checkpoint": source or type(self.model).__name__,
            "model_type": str(getattr(getattr(self.model, "config", None), "model_type", type(self.model).__name__)),
            "layers": len(layers) or len(attentions),
            "heads": max(array.sizes["head"] for array in arrays.values()),
            "rebuilt": max(attention.error for attention in attentions),
            "notes": "\n".join(_notes(attentions, arrays)),
        }
        if all(array.attrs["mask"] == "causal" for array in arrays.values()):
            meta["mask"] = "causal"
        return meta


def weights_site(module: str, attention: Attention, model: nn.Module) -> Site:
    """The site of an attention's weights; module: its path, or empty where the layer says enough."""
    return site_of(module, attention.running, model)


def _array(attention: Attention, length: int | None) -> xr.DataArray:
    """length: how many tokens there are, without the padding of a band to whole blocks."""
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


def _with_tokens(
    array: xr.DataArray, tokens: Iterable[str] | None, given: Mapping[str, Iterable[str] | None]
) -> tuple[xr.DataArray, dict[str, str]]:
    """The array with the tokens of each axis that has as many positions."""
    sizes = {str(axis): size for axis, size in array.sizes.items()}
    words = None if tokens is None else list(tokens)
    fitting = words if words is not None and len(words) in [sizes[axis] for axis in sizes if axis != "head"] else None
    by_axis = {axis: list(own) for axis, own in given.items() if own is not None and axis in sizes}
    by_axis = {axis: own for axis, own in by_axis.items() if len(own) == sizes[axis]}
    if fitting is not None and not any(sizes[axis] == len(fitting) for axis in sizes if axis not in (*by_axis, "head")):
        fitting = None
    crops = {axis: (0, size) for axis, size in sizes.items()}
    coords, texts = token_coords(sizes, crops, fitting, by_axis, {})
    return array.assign_coords(coords), texts


def _notes(attentions: Sequence[Attention], arrays: Mapping[Site, xr.DataArray]) -> list[str]:
    """What a reader must know: how well the weights are proved, and rows that do not sum to one, with the reason."""
    error = max(attention.error for attention in attentions)
    notes = [f"Weights times values rebuild what the model computed, to {error:.1g}."]
    if error > PROVED:
        worst = max(arrays.values(), key=lambda array: array.attrs["rebuilt"])
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
    if array.attrs.get("runs_over") and 0 < dropped <= array.sizes["query"]:
        return (
            f"A learned sink takes the rest of each row: {dropped} column{'s' * (dropped > 1)} of the softmax dropped"
        )
    if array.attrs.get("runs_over"):
        return "Rows do not sum to one: the model drops or scales weights after the softmax"
    if "context" in array.dims:
        return f"The cube is normalised over {' and '.join(array.attrs['sums_over'].split(','))}"
    return ""
