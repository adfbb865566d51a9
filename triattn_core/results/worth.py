"""The worth of attention: a metric less that of controls of the same form, trained with their weights fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev

from triattn_core.attention.fixed_weights import FIXED
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.config import Config
from triattn_core.results.measured import Record, all_records, config_variant


def worth(config: Config, scores: Sequence[float], metric: str, records: Sequence[Record] | None = None) -> dict:
    """By control, {"points", "spread", "seeds"} on dev, of those whose records are there.

    scores: the model's metric of each seed, in per cent.  spread: the larger standard deviation over seeds of the two,
    None for single seeds.  Only where the points exceed it may one say that the answer needs the attention.
    """
    every = all_records()[0] if records is None else records
    found = {}
    for name in FIXED:
        control = config.model_copy(update={"model": config.model.model_copy(update={"weights": name})})
        digest = config_variant(control)
        for record in every:
            values = record.values("dev", metric) if record.card.digest == digest else ()
            if values and scores:
                spreads = [stdev(one) for one in (scores, values) if len(one) > 1]
                found[name] = {
                    "points": round(mean(scores) - mean(values), 2),
                    "spread": round(max(spreads), 2) if spreads else None,
                    "seeds": min(len(scores), len(values)),
                }
    return found


def is_worth_something(found: Mapping[str, Mapping]) -> bool | None:
    """Whether attention is worth more than the spread of seeds; None where no control was trained with even weights."""
    even = found.get("even")
    return None if even is None else even["points"] > (even["spread"] or 0.0)


def worth_of(card: metadata.Card, records: Sequence[Record] | None = None) -> dict:
    """The same of a listed checkpoint, whose metrics.json holds the scores of its seeds."""
    metric = metadata.main_metric(card)
    config = Config.model_validate(card.config)
    return worth(config, Record(card).values("dev", metric), metric, records)
