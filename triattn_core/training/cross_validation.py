"""k-fold cross-validation in metrics.json: the mean and the spread over folds, and which fold's weights are shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev

from triattn_core.checkpoint import metadata


def mean_over_folds(measured: Mapping[int, Mapping[str, Mapping]]) -> dict[str, dict]:
    """`{"dev", "test"}` of all folds together: means of the metrics, `n` of all rows.

    measured: of each fold what was measured on its own parts.
    """
    splits = [split for split in ("dev", "test") if all(split in fold for fold in measured.values())]
    return {split: _mean([fold[split] for fold in measured.values()]) for split in splits}


def _mean(parts: Sequence[Mapping]) -> dict:
    names = [*metadata.metrics(parts[0]), *(name for name in metadata.BASELINES if name in parts[0])]
    means = {name: round(mean(one[name] for one in parts), 2) for name in names}
    return {"set": parts[0]["set"], **means, "n": sum(one["n"] for one in parts)}


def fold_record(measured: Mapping[int, Mapping[str, Mapping]], shipped: int) -> dict:
    """The record of the folds: what each reached on its own part, and how far they lie apart."""
    split = "test" if all("test" in one for one in measured.values()) else "dev"
    name = next(iter(metadata.metrics(next(iter(measured.values()))[split])))
    each = {fold: one[split][name] for fold, one in sorted(measured.items())}
    return {
        "count": len(each),
        "shipped": shipped,
        "metric": name,
        "of": split,
        "mean": round(mean(each.values()), 2),
        "spread": round(stdev(each.values()), 2),
        "each": list(each.values()),
    }
