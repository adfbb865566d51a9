"""The worth of attention and of its third order: a metric minus that of controls of the same form.

Controls (`Kind.controls`) are trained with fixed weights, or, for Tri-Attention, with pairwise scores, in which no term
reads query, key and context at once (`attention.tri_similarity.strassen`).  Those are divided by √D, so that they are a
control of the scaled dot alone: for any other similarity the same form with the scaled dot is compared, where it was
trained.  The product of a cube's marginals is no control of the third order, since its marginals come from third-order
scores: see the laboratory, where it costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from triattn_core.checkpoint import metadata
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.kinds import kind_of
from triattn_core.results.run_records import Record, all_records, config_variant

DOTS = ("dot", "scaled_dot")


def worth(
    config: CheckpointConfig, scores: Sequence[float], metric: str, records: Sequence[Record] | None = None
) -> dict:
    """{"points", "spread", "seeds"} on dev by control, for controls with records; "of": "scaled_dot" where the form
    with the scaled dot is compared in place of the model.

    scores: the model's metric of each seed, in per cent; seeds that a sweep of its config adds are found here.
    spread: the larger of both standard deviations over seeds, None for single seeds.  The answer needs the attention
    only if the points exceed the spread.
    """
    if not (controls := kind_of(config).controls(config)):
        return {}
    all_runs = all_records()[0] if records is None else records
    own, by_control = [*scores, *_swept_seeds(config, metric, all_runs, "dev")], {}
    for name, changed in controls.items():
        scaled = name != "strassen" or config.model.similarity == "scaled_dot"
        compared = own if scaled else _recorded(config, {"similarity": "scaled_dot"}, metric, all_runs)
        values = _recorded(config, changed, metric, all_runs)
        if values and compared:
            spreads = [stdev(seed_scores) for seed_scores in (compared, values) if len(seed_scores) > 1]
            by_control[name] = {
                "points": round(mean(compared) - mean(values), 3),
                "spread": round(max(spreads), 3) if spreads else None,
                "seeds": min(len(compared), len(values)),
            } | ({} if scaled else {"of": "scaled_dot"})
    return by_control


def _recorded(
    config: CheckpointConfig, changed: Mapping[str, Any], metric: str, records: Sequence[Record]
) -> Sequence[float]:
    """The metric on dev, by seed, of the same form with changed settings; the last record of it counts.

    With fixed weights no score is read: similarities without parameters make one network.
    """
    alike = DOTS if "weights" in changed and config.model.similarity in DOTS else (None,)
    updates = [{**changed, **({"similarity": name} if name else {})} for name in alike]
    models = [config.model.model_copy(update=update) for update in updates]
    digests = {config_variant(config.model_copy(update={"model": model})) for model in models}
    found = [record.values("dev", metric) for record in records if record.entry.digest in digests]
    return next((values for values in reversed(found) if values), ())


def _swept_seeds(config: CheckpointConfig, metric: str, records: Sequence[Record], split: str) -> list[float]:
    """The metric of the seeds that were trained beyond those of the config."""
    config_seeds = {config.training.seed, *config.training.more_seeds}
    swept = [record.entry for record in records if record.file and record.entry.digest == config_variant(config)]
    added = [seed for entry in swept for seed in entry.metrics["each_seed"] if seed.get("seed") not in config_seeds]
    return [seed[split][metric] for seed in added if metric in seed.get(split, {})]


def seed_scores(entry: metadata.Entry, split: str, records: Sequence[Record] | None = None) -> list[float]:
    """The metric of a listed checkpoint on `dev` or `test`, in per cent: of its own seeds and of those on record."""
    metric = metadata.main_metric(entry)
    all_runs = all_records()[0] if records is None else records
    added = _swept_seeds(entry.kind.section().model_validate(entry.config), metric, all_runs, split)
    return [*Record(entry).values(split, metric), *added]


def worth_of(entry: metadata.Entry, records: Sequence[Record] | None = None) -> dict:
    """The worth of a listed checkpoint, from the scores of its seeds in metrics.json."""
    metric = metadata.main_metric(entry)
    config = entry.kind.section().model_validate(entry.config)
    return worth(config, Record(entry).values("dev", metric), metric, records)
