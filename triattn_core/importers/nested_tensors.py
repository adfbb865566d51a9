"""The tensors of a saved container by name: lists of layers are stacked, the steps of a generated text joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import xarray as xr

DIMS = ("layer", "batch", "head", "query", "key")


def named_tensors(content: Any, name: str) -> dict[str, Any]:
    """The saved tensors by name: a list of equally shaped ones, such as the attentions of all layers, is stacked; the
    steps of a generated text are joined; others are named by their place, from 0, such as attentions.0.3."""
    if isinstance(content, torch.Tensor):
        return {name: content}
    if isinstance(content, Mapping):
        items = [(str(key), value) for key, value in content.items()]
    elif isinstance(content, (list, tuple)):
        layers = _stack(content)
        if layers is not None:
            return {name: layers}
        steps = [_stack(step) for step in content]
        joined = join_steps([step for step in steps if step is not None]) if None not in steps else None
        if joined is not None:
            return {name: joined}
        items = [(f"{name}.{number}", item) for number, item in enumerate(content)]
    else:
        return {}
    tensors: dict[str, Any] = {}
    for key, value in items:
        tensors |= named_tensors(value, key)
    return tensors


def _stack(items: Any) -> Any:
    """Equally shaped tensors as one; None for anything else."""
    if not isinstance(items, (list, tuple)) or not items or not all(isinstance(item, torch.Tensor) for item in items):
        return None
    return torch.stack(list(items)) if len({item.shape for item in items}) == 1 else None


def join_steps(steps: Sequence[Any]) -> Any:
    """The attention of a generated text, an xarray of layer × batch × head × query × key with a note, from its steps,
    each with the queries of its own tokens and the keys of all before; None where the steps do not fit so.

    Keys of later steps are zero.  Steps of several texts are not joined: after a beam search, row i of one step and of
    the next may belong to different texts.
    """
    if not steps or any(step.ndim != 5 or step.shape[1] != 1 or step.shape[:3] != steps[0].shape[:3] for step in steps):
        return None
    queries, keys = [step.shape[3] for step in steps], [step.shape[4] for step in steps]
    grows = all(keys[i] == keys[i - 1] + queries[i] for i in range(1, len(steps)))
    if not grows and len(set(keys)) > 1:
        return None
    joined = torch.cat([torch.nn.functional.pad(step, (0, keys[-1] - step.shape[4])) for step in steps], 3)
    stored_as = str(joined.dtype).removeprefix("torch.")  # NumPy has no bfloat16
    note = f"{len(steps)} steps of a generated text joined, their queries one below the other: {_counts(queries)}."
    values = joined.detach().float() if joined.is_floating_point() else joined
    return xr.DataArray(values.numpy(), dims=DIMS, attrs={"note": note, "stored_as": stored_as})


def _counts(queries: Sequence[int]) -> str:
    """How many queries each step has, equal ones counted once."""
    first, rest = queries[0], queries[1:]
    if len(set(queries)) == 1:
        return f"{first} each"
    return f"{first} in the first, {', '.join(map(str, sorted(set(rest))))} in each of the others"
