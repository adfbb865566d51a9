"""What laboratory models reached: all seeds of each, other sizes of its task, longer and shorter training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from triattn_core.checkpoint.registry import Entry
from triattn_core.results.run_records import Record, read_records, record_files

FILES = "laboratory*.jsonl"
SIZE, ROWS = "data.size", "data.train_rows"
COLUMNS = ["model", "mechanism", "x", "seed", "measure", "value", "floor"]
FLOORS = {"accuracy": "chance", "mass": "even_share"}


def laboratory_records() -> tuple[Record, ...]:
    """The runs of sweeps over laboratory models."""
    return tuple(record for file in record_files(FILES) for record in read_records(file)[0])


def seed_tests(entry: Entry, records: Sequence[Record]) -> dict[int, Mapping]:
    """By seed what the model reached on test: the checkpoint's own seeds, and those of sweeps that changed nothing."""
    swept = [record.entry for record in records if not record.changed and _same_recipe(record.entry, entry)]
    tests = [item for run in (*swept, entry) for item in _tests(run).items()]
    return dict(sorted(tests, key=lambda item: item[0]))  # the checkpoint's own is the last of a seed, and stays


def size_rows(entries: Mapping[str, tuple[str, Entry]], task_size: int, records: Sequence[Record]) -> pd.DataFrame:
    """Rows `COLUMNS` of the models that were trained at several sizes, `x`; empty without any.

    entries: name → (mechanism, checkpoint); task_size: the default size of their task.
    """
    return _swept(entries, SIZE, lambda config: config["data"].get("size") or task_size, records)


def step_rows(entries: Mapping[str, tuple[str, Entry]], records: Sequence[Record]) -> pd.DataFrame:
    """The same of the models that were trained for several numbers of steps, on as many more rows."""
    return _swept(entries, ROWS, training_steps, records)


def recipes(entries: Mapping[str, tuple[str, Entry]]) -> pd.DataFrame:
    """A row a model: its parameters, its form, and how it was trained."""
    rows = []
    for name, (_, entry) in entries.items():
        model, training = entry.config["model"], entry.config["training"]
        form = {"layers": model["layers"], "heads": model["heads"], "features": model["hidden"]}
        recipe = {"learning rate": training["rate"], "batch": training["batch"], "steps": training_steps(entry.config)}
        rows.append({"model": name, "parameters": entry.metrics["parameters"], **form, **recipe,
                     "rows": entry.config["data"]["train_rows"]})  # fmt: skip
    return pd.DataFrame(rows)


def training_steps(config: Mapping) -> int:
    """The steps that a config asks for."""
    return config["training"]["epochs"] * -(-config["data"]["train_rows"] // config["training"]["batch"])


def _swept(
    entries: Mapping[str, tuple[str, Entry]], setting: str, place: Callable[[Mapping], int], records: Sequence[Record]
) -> pd.DataFrame:
    """What models reached where one setting alone was changed, and as they are; place: x of a config."""
    rows = []
    for name, (mechanism, entry) in entries.items():
        changed = [record.entry for record in records if set(record.changed) == {setting}]
        points: dict[int, dict] = {}
        for run in changed:
            if _same_model(run, entry):
                points.setdefault(place(run.config), {}).update(_tests(run))
        if points:
            points[place(entry.config)] = seed_tests(entry, records)
        for x, tests in sorted(points.items()):
            rows += [
                [name, mechanism, x, seed, measure, test[measure], test[floor]]
                for seed, test in tests.items()
                for measure, floor in FLOORS.items()
            ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _same_model(run: Entry, other: Entry) -> bool:
    """Whether a sweep's run has the task and model settings of a checkpoint."""
    equal_parts = (run.config.get(part) == other.config.get(part) for part in ("task", "model"))
    return run.name == other.name and all(equal_parts)


def _same_recipe(run: Entry, other: Entry) -> bool:
    """Whether a run differs from a checkpoint as it is now in nothing but its seed."""
    return _same_model(run, other) and _without_seeds(run.config) == _without_seeds(other.config)


def _without_seeds(config: Mapping) -> tuple[Mapping, Mapping]:
    """Data and training of a config."""
    training = config.get("training", {})
    return config.get("data", {}), {name: training[name] for name in training if name not in ("seed", "more_seeds")}


def _tests(entry: Entry) -> dict[int, Mapping]:
    seeds = entry.metrics.get("each_seed") or ()
    return {seed["seed"]: seed["test"] for seed in seeds if isinstance(seed.get("test"), Mapping)}
