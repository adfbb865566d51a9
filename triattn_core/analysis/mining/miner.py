"""Case mining: two to four checkpoints over the same rows in batches, with the context shift of Tri-Attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, cast

import numpy as np
import pandas as pd
import torch

from triattn_core.analysis.mining import qa_columns
from triattn_core.analysis.mining.case_columns import make_frame
from triattn_core.analysis.mining.case_table import WINDOW
from triattn_core.analysis.mining.context_shift import context_shifts, select_rows
from triattn_core.analysis.mining.failing_rows import isolate_failures
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.batch import collate
from triattn_core.models import answers
from triattn_core.models.encoder import Encoded
from triattn_core.models.tan import Tan
from triattn_core.text.roles import Roles
from triattn_core.text.texts import Texts

MIN_CHECKPOINTS, MAX_CHECKPOINTS = 2, 4
OPTIONS_ESTIMATE = 8  # approximate number of options of an example


@dataclass(frozen=True)
class TablePart:
    """The result of a batch: rows of the table (see `case_table.CaseTable`), complaints about skipped rows, and the
    line reached."""

    table: pd.DataFrame
    aside: tuple[str, ...]
    line: int


def mine(bundles: Sequence[Bundle], rows: Iterable[tuple[int, Any]], size: int = 64) -> Iterator[TablePart]:
    """Yields a part for each batch; if the caller stops iterating, the parts so far stay valid.  See `batches`."""
    return (compute() for compute in batches(bundles, rows, size))


def batches(
    bundles: Sequence[Bundle], rows: Iterable[tuple[int, Any]], size: int = 64
) -> Iterator[Callable[[], TablePart]]:
    """Yield, for each batch, a function that computes its part; it may be called again after an interruption.

    rows: (line, example or DataError), as from `sources.read_examples`.  Rows are taken in windows and batched within
    these by length, each batch about `size` texts; an encoder reads each text once for all bundles that share it.
    Raises ConfigError for bundles whose answers are not comparable.
    """
    if not MIN_CHECKPOINTS <= len(bundles) <= MAX_CHECKPOINTS:
        raise ConfigError(
            f"cases are mined with {MIN_CHECKPOINTS} to {MAX_CHECKPOINTS} checkpoints, not {len(bundles)}"
        )
    if len({bundle.name for bundle in bundles}) < len(bundles):
        raise ConfigError("a checkpoint is named twice: name each once")
    _require_comparable(bundles)
    groups, line = _group_by_encoder(bundles), 0
    rows = iter(rows)
    while window := list(islice(rows, max(1, WINDOW // (OPTIONS_ESTIMATE if bundles[0].task.OUTPUTS == 1 else 1)))):
        readable, aside = _read_rows([group[0] for group in groups], window)
        parts = list(_batches(readable, size)) or [[]]
        for number, batch in enumerate(parts, 1):
            line_reached = line + (window[-1][0] - line) * number // len(parts)
            skipped = tuple(aside) if number == 1 else ()
            yield partial(_part, bundles, groups, batch, skipped, line_reached)
        line = window[-1][0]


def _part(
    bundles: Sequence[Bundle], groups: Sequence[Sequence[Bundle]], batch: list, skipped: tuple[str, ...], line: int
) -> TablePart:
    tables, failures = isolate_failures(partial(_table, bundles, groups), batch)
    table = pd.concat(tables or [_table(bundles, groups, [])], ignore_index=True)
    return TablePart(table, (*skipped, *failures.values()), line)


def _require_comparable(bundles: Sequence[Bundle]) -> None:
    first = bundles[0]
    for other in bundles[1:]:
        for setting in ("task", "language", "labels"):
            if getattr(other.config, setting, ()) != getattr(first.config, setting, ()):
                raise ConfigError(f"{first.name} and {other.name} differ in their {setting}: ask them apart")
        if other.device != first.device:
            raise ConfigError(f"{first.name} and {other.name} are on different devices: load them on one")


def _group_by_encoder(bundles: Sequence[Bundle]) -> list[list[Bundle]]:
    """Bundles grouped by encoder, word vectors and text limits."""
    groups: dict[tuple, list[Bundle]] = {}
    for bundle in bundles:
        limits = (getattr(bundle.config, setting, ()) for setting in ("max_tokens", "cells"))
        groups.setdefault((id(bundle.encoder), getattr(bundle.config.model, "vectors", ()), *limits), []).append(bundle)
    return list(groups.values())


def _read_rows(readers: Sequence[Bundle], window: Sequence[tuple[int, Any]]) -> tuple[list[tuple], list[str]]:
    """(line, example, [its roles for each reader]) of rows that all readers can read, and the errors of the others."""
    errors = [str(row) for _, row in window if isinstance(row, DataError)]
    window = [(line, example) for line, example in window if not isinstance(example, DataError)]

    def read(rows: Sequence[tuple[int, Any]]) -> list[tuple]:
        return [(*row, roles) for row, roles in zip(rows, _roles(readers, [example for _, example in rows]))]

    readable, failures = isolate_failures(read, window)
    return [row for rows in readable for row in rows], [*errors, *failures.values()]


def _roles(readers: Sequence[Bundle], examples: list) -> list[list[Sequence[Roles | Texts]]]:
    """[examples][readers][options]."""
    if not examples:
        return []
    return list(
        map(list, zip(*(bundle.task.roles(examples, bundle.tokenizer, bundle.config.limits) for bundle in readers)))
    )


def _batches(rows: Sequence[tuple], size: int) -> Iterator[list[tuple]]:
    """Yields batches of examples of similar length, each with all its options."""
    batch: list[tuple] = []
    for row in sorted(rows, key=lambda row: max(roles.length for group_roles in row[2] for roles in group_roles)):
        batch.append(row)
        if sum(len(group_roles[0]) for *_, group_roles in batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _table(bundles: Sequence[Bundle], groups: Sequence[Sequence[Bundle]], rows: Sequence[tuple]) -> pd.DataFrame:
    """A row for each (line, example, its roles for each group); columns in the order of the bundles."""
    task, checkpoints = bundles[0].task, [(bundle.name, bundle.config.model.mechanism) for bundle in bundles]
    columns = {
        "row": [line for line, *_ in rows],
        "id": [str(example.id)[:80] for _, example, _ in rows],
        "label": [-1 if example.label is None else example.label for _, example, _ in rows],
        "tokens": [max(text.tokens for text in roles[0]) for *_, roles in rows],
    }
    if bundles[0].kind.finds_spans:
        return make_frame(
            columns | qa_columns.answer_columns(groups, [example for _, example, _ in rows]), checkpoints, task.NAME
        )
    counts = [len(roles[0]) for *_, roles in rows]
    first = np.cumsum([0, *counts[:-1]])
    for bundle, logits, encoded in _run_models(groups, rows):
        probabilities = answers.probabilities(logits, counts)
        best = [int(np.argmax(row)) for row in probabilities]
        right = [e.label is not None and task.verdict(e, row)[0] for (_, e, _), row in zip(rows, probabilities)]
        columns[f"{bundle.name} answer"] = best
        columns[f"{bundle.name} confidence"] = [
            min(round(row[option], 4), 0.9999) for row, option in zip(probabilities, best)
        ]
        columns[f"{bundle.name} right"] = right
        if bundle.config.model.mechanism == "tri":
            # The predicted option, as on pages, or the only one.
            traced = first + np.minimum(best, np.subtract(counts, 1))
            shifts = context_shifts(cast(Tan, bundle.model), select_rows(encoded, torch.from_numpy(traced)))
            columns[f"{bundle.name} moved"] = [round(row, 5) for row, _ in shifts]
            columns[f"{bundle.name} moved at"] = [np.round(row, 4).astype(np.float32) for _, row in shifts]
    return make_frame(columns, checkpoints)


def _run_models(
    groups: Sequence[Sequence[Bundle]], rows: Sequence[tuple]
) -> Iterator[tuple[Bundle, torch.Tensor, Encoded]]:
    """Yields each bundle with its outputs [rows, outputs] and its encoding."""
    for number, group in enumerate(groups if rows else ()):
        roles = [role for *_, row_roles in rows for role in row_roles[number]]
        with torch.inference_mode():
            encoded = group[0].encoder(collate(roles, group[0].tokenizer).to(group[0].device))
            for bundle in group:
                yield bundle, bundle.model(encoded).float().cpu(), encoded
