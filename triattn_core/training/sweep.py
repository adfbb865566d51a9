"""`triattn sweep`: train and measure variants of configs, and keep only their records."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.config import read_config
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.errors import ConfigError
from triattn_core.kinds import kind_of
from triattn_core.results import run_records
from triattn_core.text.rows import rows_file
from triattn_core.training.best_checkpoint import best, history
from triattn_core.training.command import is_main_process, prepare, sets, train_seeds
from triattn_core.training.loop import Event, remove_run, seconds
from triattn_core.training.metrics_writer import machine, run_record
from triattn_core.training.run_lock import lock_runs


@dataclass(frozen=True)
class Variant:
    """A config with its changed settings and the splits to measure; `name`: the checkpoint that it was made from."""

    path: Path
    changed: dict[str, Any]
    config: CheckpointConfig
    splits: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.parent.name


@dataclass(frozen=True)
class Request:
    """What is to be swept.  settings: "model.layers=1,2,3"; all combinations are trained.  seeds: by default the
    config's.  name: of the file of records.  test: measure test too.  resume: skip recorded variants.  command: as it
    was given, for the records."""

    paths: tuple[Path, ...]
    settings: tuple[str, ...]
    seeds: tuple[int, ...]
    name: str | None
    test: bool
    data: Path
    runs: Path
    resume: bool
    command: str


@dataclass(frozen=True)
class Plan:
    """variants: each with its digest, and the seeds that are not recorded yet.  file: of the records.  repeated: runs
    that were left out, since an earlier one has the same settings and seed.  recorded: digest and seed of each run
    that has its record already."""

    variants: tuple[tuple[Variant, str, tuple[int, ...]], ...]
    file: Path
    runs: Path
    repeated: int = 0
    recorded: tuple[tuple[str, int], ...] = ()

    def run(self, digest: str, seed: int) -> Path:
        """The folder of a run."""
        return self.runs / f"{self.file.stem}-{digest}-seed-{seed}"

    def lock(self) -> AbstractContextManager[None]:
        """Keeps other commands off the runs of all sweeps of this name.  Raises ConfigError."""
        return lock_runs(self.runs, [self.file.stem])

    def remove_recorded(self) -> None:
        """Remove what a command that was killed between a record and the end of `store` has left."""
        for digest, seed in self.recorded:
            remove_run(self.run(digest, seed))

    def notes(self) -> Iterator[Event]:
        """One event of kind `note` if runs were left out."""
        if self.repeated:
            yield Event("note", 0, 0, {"runs left out, same settings and seed as another": self.repeated})


def sweep(request: Request) -> Iterator[Event]:
    """Train every variant with every seed; each is then recorded in `<name>.jsonl` in the folder of records.

    Raises ConfigError, DataError, before the first run.
    """
    prepare()
    planned = plan(request)
    with planned.lock() if is_main_process() else nullcontext():
        yield from _train_variants(planned, request)


def _train_variants(planned: Plan, request: Request) -> Iterator[Event]:
    if is_main_process():
        planned.remove_recorded()
        yield from planned.notes()
    for number, (variant, digest, missing) in enumerate(planned.variants, 1):
        if not missing:
            continue
        record = yield from train_variant(variant, missing, planned, request)
        if is_main_process():
            yield store(planned, variant, digest, record, number)


def plan(request: Request) -> Plan:
    """What `sweep` will train, checked before the first run: all files are there, and nothing is trained or recorded
    twice."""
    changes = dict(choices_of(text) for text in request.settings)
    variants = [
        _variant(path, dict(zip(changes, values)), request.test)
        for path in map(Path.resolve, request.paths)
        for values in product(*changes.values())
    ]
    file = run_records.new_records_folder() / f"{_check_name(request.name or default_name(variants, changes))}.jsonl"
    if file.is_file() and not request.resume:
        raise ConfigError(f"{file} already exists; use --resume or another --name")
    for set_name in dict.fromkeys(name for variant in variants for name in sets(variant.config)):
        rows_file(request.data, set_name)
    records, required = run_records.read_records(file)[0], {"dev", "test"} if request.test else {"dev"}
    recorded = {
        (record.entry.digest, seed_metrics.get("seed")): set(seed_metrics)
        for record in records
        for seed_metrics in record.entry.metrics["each_seed"]
    }
    planned, runs, repeated, kept = [], set(), 0, []
    for variant in variants:
        digest, all_seeds = run_records.config_variant(variant.config), request.seeds or (variant.config.training.seed,)
        new_seeds = [seed for seed in all_seeds if (digest, seed) not in runs]
        runs |= {(digest, seed) for seed in new_seeds}
        repeated += len(all_seeds) - len(new_seeds)
        missing = tuple(seed for seed in new_seeds if not required <= recorded.get((digest, seed), set()))
        kept += [(digest, seed) for seed in new_seeds if seed not in missing]
        if new_seeds:
            planned.append((variant, digest, missing))
    return Plan(tuple(planned), file.resolve(), request.runs.resolve(), repeated, tuple(kept))


def train_variant(variant: Variant, seeds: Sequence[int], plan: Plan, request: Request) -> Generator[Event, None, dict]:
    """Train and measure a variant with each of `seeds`; yields events, returns its record."""
    digest = run_records.config_variant(variant.config)
    folders = {seed: plan.run(digest, seed) for seed in seeds}
    yield from train_seeds(variant.path, variant.config, folders, request.data, plan.runs, request.resume)
    if not is_main_process():
        return {}
    bundles = [load(folder) for folder in folders.values()]
    measured = kind_of(variant.config).measure(
        bundles, variant.config, request.data, plan.runs, request.resume, variant.splits
    )
    details: dict[str, Any] = {"date": run_records.today(), "machine": machine(), "command": request.command}
    details["parameters"] = sum(p.numel() for p in bundles[0].model.parameters())
    keeps = kind_of(variant.config).keeps_curve
    curves = [[row for row in history(folder) if "dev_loss" in row] for folder in folders.values() if keeps]
    seed_metrics = [
        {"seed": seed, "seconds": round(seconds(folder)), "best_step": best(history(folder)).get("step"), **numbers}
        for (seed, folder), numbers in zip(folders.items(), measured)
    ]
    for seed_numbers, curve in zip(seed_metrics, curves):
        seed_numbers["curve"] = curve
    first = next(iter(folders.values()))
    return run_record(first, variant.config, details, seed_metrics) | {"name": variant.name, "set": variant.changed}


def store(plan: Plan, variant: Variant, digest: str, record: dict, number: int) -> Event:
    """Append the record of a variant, the `number`-th of the plan, then remove its weights; returns the event of it."""
    run_records.append_record(plan.file, record)
    for seed_metrics in record["each_seed"]:
        remove_run(plan.run(digest, seed_metrics["seed"]))
    stored = next(record for record in run_records.read_records(plan.file)[0] if record.entry.digest == digest)
    metric = metadata.main_metric(stored.entry)
    values = stored.values("dev", metric)
    summary = {"dev": round(mean(values), 2), "metric": metric, "seeds": len(values)}
    return Event("metric", number, len(plan.variants), {"variant": variant.name, **variant.changed, **summary})


def choices_of(text: str) -> tuple[str, list]:
    """A setting and its values: "model.layers=1,2" → ("model.layers", [1, 2]).  Raises ConfigError."""
    name, equals, values = text.partition("=")
    if not name or not equals or not values:
        raise ConfigError(f"--set {text}: expected NAME=VALUE,VALUE…, such as model.layers=1,2,3")
    if name in ("training.seed", "training.more_seeds"):
        raise ConfigError(f"--set {text}: name the seeds with --seeds")
    try:
        return name, json.loads(f"[{values}]")
    except ValueError:
        return name, [_value(value) for value in values.split(",")]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _variant(path: Path, changed: dict[str, Any], test: bool) -> Variant:
    config = read_config(path, changed)
    training = config.training.model_copy(update={"more_seeds": ()})
    splits = ("dev", "test") if test else ("dev",)
    if not config.sets:  # its rows are generated
        return Variant(path, changed, config.model_copy(update={"digest": None, "training": training}), splits)
    if test and config.data.test is None:
        raise ConfigError(f"{path}: names no data.test to measure with --test")
    if test and config.folds:
        raise ConfigError(f"{path}: a sweep trains one fold alone; without --test, or with triattn train for all folds")
    data = config.data if test else config.data.model_copy(update={"test": None})
    return Variant(
        path, changed, config.model_copy(update={"digest": None, "training": training, "data": data}), splits
    )


def default_name(variants: Sequence[Variant], changes: dict[str, list]) -> str:
    """`lcqmc-tri-additive-layers`: the common prefix of the configs' folders, and the settings with several values."""
    start = os.path.commonprefix([variant.name for variant in variants]).strip("-_.")
    swept = [name.rpartition(".")[2] for name, values in changes.items() if len(values) > 1]
    return "-".join(filter(None, [start, *swept])) or "sweep"


def _check_name(name: str) -> str:
    if not re.fullmatch(r"[\w.-]+", name) or name == run_records.TRAINED:
        raise ConfigError(f"--name {name}: letters, digits, dots and hyphens, and not {run_records.TRAINED!r}")
    return name
