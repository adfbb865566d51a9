"""Case mining: two to four checkpoints over the same rows in batches, with the context shift of Tri-Attention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np
import pandas as pd
import torch

from triattn_core.analysis.mining import qa_columns
from triattn_core.analysis.mining.case_columns import make_frame
from triattn_core.analysis.mining.case_table import WINDOW
from triattn_core.analysis.mining.context_shift import context_shifts, select_rows
from triattn_core.analysis.mining.other_answers import OtherModel, answer_columns
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.errors import ConfigError, DataError
from triattn_core.inference.batch import collate
from triattn_core.models import answers
from triattn_core.models.encoder import Encoded
from triattn_core.models.tan import Tan

MIN_CHECKPOINTS, MAX_CHECKPOINTS = 2, 4
OPTIONS_ESTIMATE = 8  # approximate number of options of an example


@dataclass(frozen=True)
class TablePart:
    """The result of a batch: rows of the table (see `case_table.CaseTable`), complaints about skipped rows, and the
    line reached."""

    table: pd.DataFrame
    aside: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Batch:
    """rows: (line, example or DataError) of similar length.  line: reached in the file once they are mined."""

    rows: list[tuple[int, Any]]
    line: int


def mine(bundles: Sequence[Bundle], rows: Sequence[tuple[int, Any]], size: int = 64) -> pd.DataFrame:
    """The table of rows (line, example), computed in `batches`.

    Raises what a row raises that breaks a model; `analysis.measures.measure_rows` sets such rows aside.  Raises
    ConfigError as `batches`.
    """
    groups = _group_by_encoder([bundle for bundle in bundles if not isinstance(bundle, OtherModel)])
    tables = [mined_table(bundles, groups, _with_roles(groups, batch.rows)) for batch in batches(bundles, rows, size)]
    return pd.concat(tables, ignore_index=True)


def batches(bundles: Sequence[Bundle], rows: Iterable[tuple[int, Any]], size: int = 64) -> Iterator[Batch]:
    """Yield the rows, taken in windows and batched within these by length, each batch about `size` texts.

    rows: (line, example or DataError), as from `sources.read_examples`; errors go with the first batch of a window.
    Raises ConfigError for bundles whose answers are not comparable.
    """
    if not MIN_CHECKPOINTS <= len(bundles) <= MAX_CHECKPOINTS:
        raise ConfigError(
            f"cases are mined with {MIN_CHECKPOINTS} to {MAX_CHECKPOINTS} checkpoints, not {len(bundles)}"
        )
    if len({bundle.name for bundle in bundles}) < len(bundles):
        raise ConfigError("a checkpoint is named twice: name each once")
    _require_comparable(bundles)
    task, line = bundles[0].task, 0
    rows = iter(rows)
    while window := list(islice(rows, max(1, WINDOW // (OPTIONS_ESTIMATE if task.OUTPUTS == 1 else 1)))):
        errors = [row for row in window if isinstance(row[1], DataError)]
        parts = list(_batches(task, [row for row in window if not isinstance(row[1], DataError)], size)) or [[]]
        for number, part in enumerate(parts, 1):
            line_reached = line + (window[-1][0] - line) * number // len(parts)
            yield Batch([*errors, *part] if number == 1 else part, line_reached)
        line = window[-1][0]


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


def _with_roles(groups: Sequence[Sequence[Bundle]], rows: Sequence[tuple[int, Any]]) -> list[tuple]:
    """(line, example, [its roles for each group, one per option or window])."""
    if not rows:
        return []
    examples, readers = [example for _, example in rows], [group[0] for group in groups]
    roles = (bundle.task.roles(examples, bundle.tokenizer, bundle.config.limits) for bundle in readers)
    return [(*row, list(row_roles)) for row, *row_roles in zip(rows, *roles)]


def _batches(task: Any, rows: Sequence[tuple[int, Any]], size: int) -> Iterator[list[tuple[int, Any]]]:
    """Yields batches of examples of similar length in characters, each with all its options."""
    batch: list[tuple[int, Any]] = []
    count = 0
    for row in sorted(rows, key=lambda row: max(map(len, task.texts(row[1]).values()))):
        batch.append(row)
        count += len(task.options(row[1])) if task.FORM.chooses else 1
        if count >= size:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def mined_table(bundles: Sequence[Bundle], groups: Sequence[Sequence[Bundle]], rows: Sequence[tuple]) -> pd.DataFrame:
    """A row for each (line, example, its roles for each group); columns in the order of the bundles."""
    task, checkpoints = bundles[0].task, [(bundle.name, bundle.config.model.mechanism) for bundle in bundles]
    columns = {
        "row": [line for line, *_ in rows],
        "id": [str(example.id)[:80] for _, example, _ in rows],
        "label": [-1 if example.label is None else example.label for _, example, _ in rows],
    }
    if groups:
        columns["tokens"] = [max(text.tokens for text in roles[0]) for *_, roles in rows]
    else:
        columns["tokens"] = [bundles[0].tokens(example) for _, example, _ in rows]  # type: ignore[attr-defined]
    for other in bundles:
        if isinstance(other, OtherModel) and rows:
            columns |= answer_columns(other, [example for _, example, _ in rows])
    if bundles[0].kind.finds_spans:
        return make_frame(
            columns | qa_columns.answer_columns(groups, [example for _, example, _ in rows]), checkpoints, task.NAME
        )
    counts = [len(roles[0]) if groups else 1 for *_, roles in rows]
    first = np.cumsum([0, *counts[:-1]])
    for bundle, logits, encoded in run_models(groups, rows):
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


def run_models(
    groups: Sequence[Sequence[Bundle]], rows: Sequence[tuple]
) -> Iterator[tuple[Bundle, torch.Tensor, Encoded]]:
    """Yields each bundle with its outputs [rows, outputs] and its encoding."""
    for number, group in enumerate(groups if rows else ()):
        roles = [role for *_, row_roles in rows for role in row_roles[number]]
        with torch.inference_mode():
            encoded = group[0].encoder(collate(roles, group[0].tokenizer).to(group[0].device))
            for bundle in group:
                yield bundle, bundle.model(encoded).float().cpu(), encoded
