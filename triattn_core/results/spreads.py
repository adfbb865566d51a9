"""Scores of the runs of each similarity function, one row per run, grouped by training recipe."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from triattn_core.checkpoint import metadata
from triattn_core.results.notes import describe_vectors, trained_on
from triattn_core.results.run_records import Record

RUN_SETTINGS = ("training.epochs", "training.seed", "training.more_seeds")  # in `trained_on`, or allowed to differ
COLUMNS = ["recipe", "mechanism", "similarity", "output", "value", "seed", "checkpoint", "file", "set", "rows"]


def reader_records(records: Sequence[Record]) -> list[Record]:
    """The records of readers of passages."""
    return [record for record in records if record.entry.kind.finds_spans]


def training_recipe(record: Record) -> str:
    """All settings of a reader except its similarity function; only runs with equal recipes are comparable."""
    settings, flat = record.settings, metadata.flatten(record.entry.config)
    words = f"{describe_vectors(settings)}, states {settings.get('hidden')}"
    limits = f"windows of {settings.get('max_tokens')} tokens, answers of {settings.get('longest')} words"
    names = [name for name in flat if name.startswith("training.") and name not in RUN_SETTINGS]
    settings_text = [
        f"{name.rpartition('.')[2]} {flat.get(name)}".replace("_", " ") for name in ("model.dropout", *names)
    ]
    return f"{words}, {settings.get('encoder')}; {limits}; {', '.join(settings_text)}; {trained_on(record)}"


def short_recipes(recipes: Sequence[str]) -> list[str]:
    """Each training recipe with only the parts that tell them apart, the last of several that do: `rate 0.004`."""
    parts = [re.split("[;,] ", recipe) for recipe in recipes]
    if len({len(own) for own in parts}) > 1:
        return list(recipes)
    columns = list(zip(*parts))
    for column in list(columns):
        others = [other for other in columns if other is not column]
        if len(set(zip(*others))) == len(set(recipes)):
            columns = others
    return [", ".join(own) for own in zip(*columns)]


def _reader_settings(record: Record) -> list[str]:
    """Mechanism, similarity and output; the output is the baseline's alone, and empty for other systems."""
    names = ("mechanism", "similarity", "output")
    mechanism, similarity, output = (metadata.model_setting(record.entry, name) for name in names)
    return [mechanism, similarity, output if mechanism == "baseline" else ""]


def seed_runs(records: Sequence[Record], split: str, metric: str) -> pd.DataFrame:
    """Rows of `COLUMNS`, one per measured seed; a checkpoint and a record with the same seed and value count once.

    output: of the baseline's attention, O_1 or O_2; empty for other systems, which have neither.
    """
    rows = []
    for record in reader_records(records):
        each_seed = record.entry.metrics.get("each_seed")
        seeds = [seed_record.get("seed") for seed_record in each_seed] if isinstance(each_seed, list) else []
        values = record.values(split, metric)
        seeds = seeds if len(seeds) == len(values) else [record.entry.metrics.get("seed", "?")] * len(values)
        columns = [
            training_recipe(record),
            *_reader_settings(record),
        ]
        provenance = [record.entry.name, record.file or "checkpoints", record.measured_on(split), record.rows(split)]
        rows += [[*columns, value, str(seed), *provenance] for value, seed in zip(values, seeds)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.drop_duplicates(["recipe", "mechanism", "similarity", "output", "value", "seed"], ignore_index=True)


def loss_curves(records: Sequence[Record], split: str) -> pd.DataFrame:
    """Rows recipe, mechanism, similarity, output, apart, checkpoint, step, value, of readers whose metrics.json has a
    history.

    split: `dev`, the loss after each epoch; or `train`, the mean of each 100 steps.  apart: the settings that
    distinguish a checkpoint from others with equal columns before it; empty if there are none.
    """
    rows = []
    for reader in reader_records(records):
        stored = reader.entry.metrics.get("history")
        history = [row for row in stored if isinstance(row, dict)] if isinstance(stored, list) else []
        columns = [
            training_recipe(reader),
            *_reader_settings(reader),
        ]
        for row in history:
            if isinstance(value := row.get(f"{split}_loss"), int | float):
                rows.append([*columns, reader.entry.name, row.get("step"), float(value)])
    table = pd.DataFrame(rows, columns=[*COLUMNS[:4], "checkpoint", "step", "value"])
    configs = {record.entry.name: record.entry.config for record in reader_records(records)}
    labels: dict[str, str] = {}
    for _, names in table.groupby(COLUMNS[:4]).checkpoint.unique().items():
        labels |= _distinguishing_settings({name: configs[name] for name in names})
    table.insert(4, "apart", table.checkpoint.map(labels))
    return table


def _distinguishing_settings(configs: dict[str, Mapping]) -> dict[str, str]:
    """The settings that distinguish these configs, by name: `seed 2`; if there are none or many, the name."""
    differ = metadata.differences(*configs.values())[0]
    labels = {
        name: ", ".join(f"{setting.rpartition('.')[2]} {values[i]}" for setting, values in differ.items())
        for i, name in enumerate(configs)
    }
    short = len(differ) <= 2 and len(set(labels.values())) == len(labels)
    return labels if short or len(labels) == 1 else {name: name for name in labels}
