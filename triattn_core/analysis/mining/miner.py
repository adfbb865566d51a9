"""Case mining: two to four checkpoints over the same rows in batches, with the context shift of Tri-Attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
import torch

from triattn_core.analysis.mining import qa_columns
from triattn_core.analysis.mining.case_table import WINDOW, make_frame
from triattn_core.analysis.mining.context_shift import context_shifts, select_rows
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.inference.batch import collate
from triattn_core.models import answers
from triattn_core.models.encoder import Encoded
from triattn_core.text.roles import Roles
from triattn_core.text.texts import Texts

MIN_CHECKPOINTS, MAX_CHECKPOINTS = 2, 4
OPTIONS_ESTIMATE = 8  # options of an example, about


@dataclass(frozen=True)
class TablePart:
    """The result of a batch: rows of the table (see `case_table.CaseTable`), complaints about skipped rows, and the
    line reached."""

    table: pd.DataFrame
    aside: tuple[str, ...]
    line: int


def mine(bundles: Sequence[Bundle], rows: Iterable[tuple[int, object]], size: int = 64) -> Iterator[TablePart]:
    """Yields a part for each batch; if the caller stops iterating, the parts so far stay valid.  See `batches`."""
    return (compute() for compute in batches(bundles, rows, size))


def batches(
    bundles: Sequence[Bundle], rows: Iterable[tuple[int, object]], size: int = 64
) -> Iterator[Callable[[], TablePart]]:
    """Yields for each batch what computes its part: called again, should it be interrupted.

    rows: (line, example of the task, or a DataError that says why there is none), as `sources.read_examples` gives
    them. Rows are taken in windows and batched in these by length, each about `size` texts; an encoder reads a text
    once for all bundles that share it.  Raises ConfigError for bundles whose answers do not mean the same.
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
        good, aside = _read_rows([group[0] for group in groups], window)
        parts = list(_batches(good, size)) or [[]]
        for number, batch in enumerate(parts, 1):
            at = line + (window[-1][0] - line) * number // len(parts)
            skipped = tuple(aside) if number == 1 else ()
            yield lambda batch=batch, skipped=skipped, at=at: TablePart(_table(bundles, groups, batch), skipped, at)
        line = window[-1][0]


def _require_comparable(bundles: Sequence[Bundle]) -> None:
    first = bundles[0]
    for other in bundles[1:]:
        for what in ("task", "language", "labels"):
            if getattr(other.config, what, ()) != getattr(first.config, what, ()):
                raise ConfigError(f"{first.name} and {other.name} differ in their {what}: ask them apart")
        if other.device != first.device:
            raise ConfigError(f"{first.name} and {other.name} stand on two devices: load them on one")


def _group_by_encoder(bundles: Sequence[Bundle]) -> list[list[Bundle]]:
    """Bundles grouped by encoder, word vectors and text limits."""
    groups: dict[tuple, list[Bundle]] = {}
    for bundle in bundles:
        read = (getattr(bundle.config, what, ()) for what in ("max_tokens", "cells"))
        groups.setdefault((id(bundle.encoder), getattr(bundle.config.model, "vectors", ()), *read), []).append(bundle)
    return list(groups.values())


def _read_rows(readers: Sequence[Bundle], window: Sequence[tuple[int, object]]) -> tuple[list[tuple], list[str]]:
    """(line, example, [its roles for each reader]) of rows that all can read, and complaints about the others."""
    good, aside = [], [str(row) for _, row in window if isinstance(row, DataError)]
    window = [(line, example) for line, example in window if not isinstance(example, DataError)]
    try:
        return [(*row, of) for row, of in zip(window, _roles(readers, [example for _, example in window]))], aside
    except InputError:  # one of them; now one by one
        for line, example in window:
            try:
                good.append((line, example, *_roles(readers, [example])))
            except InputError as error:
                aside.append(f"line {line}: {error}")
    return good, aside


def _roles(readers: Sequence[Bundle], examples: list) -> list[list[Sequence[Roles | Texts]]]:
    """[examples][readers][options]."""
    if not examples:
        return []
    return list(map(list, zip(*(one.task.roles(examples, one.tokenizer, one.config.limits) for one in readers))))


def _batches(good: Sequence[tuple], size: int) -> Iterator[list[tuple]]:
    """Yields batches of examples of similar length, each with all its options."""
    batch: list[tuple] = []
    for one in sorted(good, key=lambda one: max(roles.length for of in one[2] for roles in of)):
        batch.append(one)
        if sum(len(of[0]) for *_, of in batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _table(bundles: Sequence[Bundle], groups: Sequence[Sequence[Bundle]], good: Sequence[tuple]) -> pd.DataFrame:
    """A row for each (line, example, its roles for each group); columns in the order of the bundles."""
    task, checkpoints = bundles[0].task, [(bundle.name, bundle.config.model.mechanism) for bundle in bundles]
    columns = {
        "row": [line for line, *_ in good],
        "id": [str(example.id)[:80] for _, example, _ in good],
        "label": [-1 if example.label is None else example.label for _, example, _ in good],
        "tokens": [max(row.tokens for row in of[0]) for *_, of in good],
    }
    if bundles[0].config.kind == "reader":
        return make_frame(
            columns | qa_columns.answer_columns(groups, [example for _, example, _ in good]), checkpoints, task.NAME
        )
    counts = [len(of[0]) for *_, of in good]
    first = np.cumsum([0, *counts[:-1]])
    for bundle, logits, encoded in _run_models(groups, good):
        probabilities = answers.probabilities(logits, counts)
        best = [int(np.argmax(row)) for row in probabilities]
        right = [e.label is not None and task.verdict(e, row)[0] for (_, e, _), row in zip(good, probabilities)]
        columns[f"{bundle.name} answer"] = best
        columns[f"{bundle.name} confidence"] = [min(round(row[at], 4), 0.9999) for row, at in zip(probabilities, best)]
        columns[f"{bundle.name} right"] = right
        if bundle.config.model.mechanism == "tri":
            # Of several options the one that is chosen, as the pages trace it; of a single one that one.
            chosen = first + np.minimum(best, np.subtract(counts, 1))
            moved = context_shifts(bundle.model, select_rows(encoded, torch.from_numpy(chosen)))
            columns[f"{bundle.name} moved"] = [round(row, 5) for row, _ in moved]
            columns[f"{bundle.name} moved at"] = [np.round(row, 4).astype(np.float32) for _, row in moved]
    return make_frame(columns, checkpoints)


def _run_models(
    groups: Sequence[Sequence[Bundle]], good: Sequence[tuple]
) -> Iterator[tuple[Bundle, torch.Tensor, Encoded]]:
    """Yields each bundle with its outputs [rows, outputs] and its encoding."""
    for number, group in enumerate(groups if good else ()):
        roles = [one for *_, of in good for one in of[number]]
        with torch.inference_mode():
            encoded = group[0].encoder(collate(roles, group[0].tokenizer).to(group[0].device))
            for bundle in group:
                yield bundle, bundle.model(encoded).float().cpu(), encoded
