"""What the runs of each similarity function reached: a row a run, those apart that were not trained alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from triattn_core import records
from triattn_core.results.notes import trained_on
from triattn_core.results.ours import Record

SAID = ("training.epochs", "training.seed", "training.more_seeds")  # in `trained_on`, or what runs may differ in
COLUMNS = ["recipe", "mechanism", "similarity", "output", "value", "seed", "checkpoint", "file", "set", "rows"]


def readers(all_: Sequence[Record]) -> list[Record]:
    """The records of readers of passages."""
    return [one for one in all_ if one.settings.get("kind") == "reader"]


def recipe(record: Record) -> str:
    """How a reader was made but for its function: runs are to be compared where this is the same."""
    told, flat = record.settings, records.flat(record.card.config)
    words = f"word vectors {told.get('vectors')} to {told.get('width')}, states {told.get('hidden')}"
    limits = f"windows of {told.get('max_tokens')} tokens, answers of {told.get('longest')} words"
    how = [name for name in flat if name.startswith("training.") and name not in SAID]
    said = [f"{name.rpartition('.')[2]} {flat.get(name)}".replace("_", " ") for name in ("model.dropout", *how)]
    return f"{words}, {told.get('encoder')}; {limits}; {', '.join(said)}; {trained_on(record)}"


def runs(all_: Sequence[Record], split: str, metric: str) -> pd.DataFrame:
    """Rows of `COLUMNS`, one a seed that was measured; a checkpoint that also left a record of the same seed and value
    counts once."""
    found = []
    for one in readers(all_):
        told = one.card.metrics.get("each_seed")
        seeds = [each.get("seed") for each in told] if isinstance(told, list) else []
        values = one.values(split, metric)
        seeds = seeds if len(seeds) == len(values) else [one.card.metrics.get("seed", "?")] * len(values)
        about = [recipe(one), *(records.model(one.card, name) for name in ("mechanism", "similarity", "output"))]
        rest = [one.card.name, one.file or "shelf", one.measured_on(split), one.rows(split)]
        found += [[*about, value, str(seed), *rest] for value, seed in zip(values, seeds)]
    table = pd.DataFrame(found, columns=COLUMNS)
    return table.drop_duplicates(["recipe", "mechanism", "similarity", "output", "value", "seed"], ignore_index=True)


def losses(all_: Sequence[Record], split: str) -> pd.DataFrame:
    """Rows recipe, mechanism, similarity, output, apart, checkpoint, step, value, of readers whose metrics.json has a
    history.

    split: `dev`, the loss after each epoch; or `train`, the mean of each 100 steps.  apart: what tells a checkpoint
    from others whose columns before it are equal; empty where there are none.
    """
    found = []
    for one in readers(all_):
        told = one.card.metrics.get("history")
        history = [row for row in told if isinstance(row, dict)] if isinstance(told, list) else []
        about = [recipe(one), *(records.model(one.card, name) for name in ("mechanism", "similarity", "output"))]
        for row in history:
            if isinstance(value := row.get(f"{split}_loss"), int | float):
                found.append([*about, one.card.name, row.get("step"), float(value)])
    table = pd.DataFrame(found, columns=[*COLUMNS[:4], "checkpoint", "step", "value"])
    configs, apart = {one.card.name: one.card.config for one in readers(all_)}, {}
    for _, alike in table.groupby(COLUMNS[:4]).checkpoint.unique().items():
        apart |= _apart({name: configs[name] for name in alike})
    table.insert(4, "apart", table.checkpoint.map(apart))
    return table


def _apart(configs: dict[str, Mapping]) -> dict[str, str]:
    """The settings that tell these from each other, by name: `seed 2`; where they do not, or are many, the name."""
    differ = records.differences(*configs.values())[0]
    said = {
        name: ", ".join(f"{setting.rpartition('.')[2]} {values[i]}" for setting, values in differ.items())
        for i, name in enumerate(configs)
    }
    short = len(differ) <= 2 and len(set(said.values())) == len(said)
    return said if short or len(said) == 1 else {name: name for name in said}
