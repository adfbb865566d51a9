"""Scores of cross-validated models, grouped by the cross-validation: their folds are the same rows."""

from __future__ import annotations

from collections.abc import Sequence

from triattn_core.checkpoint import metadata
from triattn_core.results.run_records import Record

SPLIT = ("data.train", "data.where", "data.every", "data.folds", "data.split_seed", "data.repeats")


def fold_scores(records: Sequence[Record]) -> list[tuple[str, dict[str, tuple[float, ...]]]]:
    """[(data set, {name: main metric of each fold on test, in per cent})], one of each cross-validation of two models
    or more."""
    groups: dict[tuple, dict[str, tuple[float, ...]]] = {}
    for record in records:
        if record.folds:
            split = tuple(str(record.settings.get(name) or "") for name in SPLIT)  # older configs lack settings
            name = metadata.dataset_name(record.entry)
            groups.setdefault((name, *split, len(record.folds)), {})[record.entry.name] = record.folds
    return [(str(split[0]), scores) for split, scores in groups.items() if len(scores) > 1]
