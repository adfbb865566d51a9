"""An id that is looked up in a table without a row for it, as torch's own message does not say."""

from __future__ import annotations

from traceback import walk_tb
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

NAMED = 4  # ids that a message names


def describe_lookup(error: Exception, model: nn.Module | None = None) -> str:
    """Returns which ids a table has no row for, where an error is of that; else nothing.  model: names the table.

    Read from the frames of the error, so that nothing is watched while a model runs.
    """
    table: Any = None
    for frame, _ in walk_tb(error.__traceback__):
        if isinstance(frame.f_locals.get("self"), nn.Embedding):
            table = frame.f_locals["self"]
        if frame.f_code is functional.embedding.__code__:
            ids, weight = frame.f_locals.get("input"), frame.f_locals.get("weight")
            if isinstance(ids, Tensor) and isinstance(weight, Tensor) and weight.ndim == 2:
                return _describe(ids, len(weight), _path(model, table))
    return ""


def _describe(ids: Tensor, rows: int, path: str) -> str:
    unknown = torch.unique(ids[(ids < 0) | (ids >= rows)]).tolist()
    if not unknown:
        return ""
    listed = ", ".join(map(str, unknown[:NAMED])) + (
        f" and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
    )
    word = "row" if rows == 1 else "rows"
    return f"{path or 'an embedding table'} has {rows:,} {word}, from 0 to {rows - 1:,}, and is asked for {listed}"


def _path(model: nn.Module | None, table: Any) -> str:
    if model is None or table is None:
        return ""
    return next((f"table {name}" for name, module in model.named_modules() if module is table and name), "")
