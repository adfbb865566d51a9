"""k-fold cross-validation in metrics.json: mean and spread over folds, and the fold whose weights are shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev

from triattn_core.checkpoint import metadata


def mean_over_folds(by_fold: Mapping[int, Mapping[str, Mapping]]) -> dict[str, dict]:
    """`{"dev", "test"}` over all folds: means of the metrics, and total `n`.

    by_fold: the metrics of each fold on its own parts.
    """
    splits = [split for split in ("dev", "test") if all(split in fold for fold in by_fold.values())]
    return {split: _mean([fold[split] for fold in by_fold.values()]) for split in splits}


def _mean(parts: Sequence[Mapping]) -> dict:
    names = [*metadata.metrics(parts[0]), *(name for name in metadata.BASELINES if name in parts[0])]
    means = {name: round(mean(part[name] for part in parts), 2) for name in names}
    return {"set": parts[0]["set"], **means, "n": sum(part["n"] for part in parts)}


def fold_record(by_fold: Mapping[int, Mapping[str, Mapping]], shipped: int) -> dict:
    """The record of the folds: the score of each on its own part, their mean and spread."""
    split = "test" if all("test" in fold_metrics for fold_metrics in by_fold.values()) else "dev"
    name = next(iter(metadata.metrics(next(iter(by_fold.values()))[split])))
    scores = {fold: fold_metrics[split][name] for fold, fold_metrics in sorted(by_fold.items())}
    return {
        "count": len(scores),
        "shipped": shipped,
        "metric": name,
        "of": split,
        "mean": round(mean(scores.values()), 2),
        "spread": round(stdev(scores.values()), 2),
        "each": list(scores.values()),
    }
