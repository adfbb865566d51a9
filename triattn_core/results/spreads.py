"""What the runs of each similarity function reached: a row a run, those apart that were not trained alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from triattn_core.checkpoint import metadata
from triattn_core.results.measured import Record
from triattn_core.results.notes import trained_on

SAID = ("training.epochs", "training.seed", "training.more_seeds")  # in `trained_on`, or what runs may differ in
COLUMNS = ["recipe", "mechanism", "similarity", "output", "value", "seed", "checkpoint", "file", "set", "rows"]


def reader_records(all_: Sequence[Record]) -> list[Record]:
    """The records of readers of passages."""
    return [record for record in all_ if record.settings.get("kind") == "reader"]


def training_recipe(record: Record) -> str:
    """How a reader was made but for its function: runs are to be compared where this is the same."""
    settings, flat = record.settings, metadata.flatten(record.card.config)
    words = f"word vectors {settings.get('vectors')} to {settings.get('width')}, states {settings.get('hidden')}"
    limits = f"windows of {settings.get('max_tokens')} tokens, answers of {settings.get('longest')} words"
    how = [name for name in flat if name.startswith("training.") and name not in SAID]
    described = [f"{name.rpartition('.')[2]} {flat.get(name)}".replace("_", " ") for name in ("model.dropout", *how)]
    return f"{words}, {settings.get('encoder')}; {limits}; {', '.join(described)}; {trained_on(record)}"


def seed_runs(all_: Sequence[Record], split: str, metric: str) -> pd.DataFrame:
    """Rows of `COLUMNS`, one a seed that was measured; a checkpoint that also left a record of the same seed and value
    counts once."""
    rows = []
    for record in reader_records(all_):
        each_seed = record.card.metrics.get("each_seed")
        seeds = [each.get("seed") for each in each_seed] if isinstance(each_seed, list) else []
        values = record.values(split, metric)
        seeds = seeds if len(seeds) == len(values) else [record.card.metrics.get("seed", "?")] * len(values)
        about = [
            training_recipe(record),
            *(metadata.model_setting(record.card, name) for name in ("mechanism", "similarity", "output")),
        ]
        rest = [record.card.name, record.file or "shelf", record.measured_on(split), record.rows(split)]
        rows += [[*about, value, str(seed), *rest] for value, seed in zip(values, seeds)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.drop_duplicates(["recipe", "mechanism", "similarity", "output", "value", "seed"], ignore_index=True)


def loss_curves(all_: Sequence[Record], split: str) -> pd.DataFrame:
    """Rows recipe, mechanism, similarity, output, apart, checkpoint, step, value, of readers whose metrics.json has a
    history.

    split: `dev`, the loss after each epoch; or `train`, the mean of each 100 steps.  apart: what tells a checkpoint
    from others whose columns before it are equal; empty where there are none.
    """
    found = []
    for one in reader_records(all_):
        told = one.card.metrics.get("history")
        history = [row for row in told if isinstance(row, dict)] if isinstance(told, list) else []
        about = [
            training_recipe(one),
            *(metadata.model_setting(one.card, name) for name in ("mechanism", "similarity", "output")),
        ]
        for row in history:
            if isinstance(value := row.get(f"{split}_loss"), int | float):
                found.append([*about, one.card.name, row.get("step"), float(value)])
    table = pd.DataFrame(found, columns=[*COLUMNS[:4], "checkpoint", "step", "value"])
    configs, apart = {one.card.name: one.card.config for one in reader_records(all_)}, {}
    for _, alike in table.groupby(COLUMNS[:4]).checkpoint.unique().items():
        apart |= _apart({name: configs[name] for name in alike})
    table.insert(4, "apart", table.checkpoint.map(apart))
    return table


def _apart(configs: dict[str, Mapping]) -> dict[str, str]:
    """The settings that tell these from each other, by name: `seed 2`; where they do not, or are many, the name."""
    differ = metadata.differences(*configs.values())[0]
    said = {
        name: ", ".join(f"{setting.rpartition('.')[2]} {values[i]}" for setting, values in differ.items())
        for i, name in enumerate(configs)
    }
    short = len(differ) <= 2 and len(set(said.values())) == len(said)
    return said if short or len(said) == 1 else {name: name for name in said}
