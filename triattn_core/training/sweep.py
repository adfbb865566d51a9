"""`triattn sweep`: variants of configs, trained and measured like any other, of which the records alone are kept."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.checkpoint.config import AnyConfig, read_config
from triattn_core.errors import ConfigError
from triattn_core.results import measured
from triattn_core.text.rows import rows_file
from triattn_core.training.best_checkpoint import best, history
from triattn_core.training.command import is_main_process, prepare, sets, train_seeds
from triattn_core.training.laboratory.records import measure_laboratory
from triattn_core.training.loop import Event, seconds
from triattn_core.training.metrics_writer import machine, measure, run_record


@dataclass(frozen=True)
class Variant:
    """A config with what was changed in it; `name`: the checkpoint that it was made from; on what it is measured."""

    path: Path
    changed: dict[str, Any]
    config: AnyConfig
    splits: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.parent.name


def sweep(
    paths: Sequence[Path],
    settings: Sequence[str],
    seeds: Sequence[int],
    name: str | None,
    test: bool,
    data: Path,
    runs: Path,
    resume: bool,
    command: str,
) -> Iterator[Event]:
    """Train every variant with every seed; when it is done it leaves a record in `checkpoints/results/<name>.jsonl`.

    settings: "model.layers=1,2,3"; all combinations are trained.  seeds: the config's own where none are named.  With
    `resume` what is recorded is not trained again.  Raises ConfigError, DataError, before the first takes its time.
    """
    prepare()
    changes, runs = dict(choices_of(text) for text in settings), runs.resolve()
    found = [
        _variant(path.resolve(), dict(zip(changes, values)), test)
        for path in paths
        for values in product(*changes.values())
    ]
    file = measured.records_folder() / f"{_named(name or default_name(found, changes))}.jsonl"
    if file.is_file() and not resume:
        raise ConfigError(f"{file}: is there already: go on with --resume, or name another with --name")
    for one in dict.fromkeys(one for variant in found for one in sets(variant.config)):
        rows_file(data, one)
    before, wanted = measured.read_records(file)[0], {"dev", "test"} if test else {"dev"}
    done = {(one.card.digest, told.get("seed")): set(told) for one in before for told in one.card.metrics["each_seed"]}
    for number, variant in enumerate(found, 1):
        digest, every = measured.config_variant(variant.config), seeds or (variant.config.training.seed,)
        missing = [seed for seed in every if not wanted <= done.get((digest, seed), set())]
        if missing:
            yield from _run(variant, digest, missing, file, data, runs, resume, command)
        if missing and is_main_process():
            yield _done(measured.read_records(file)[0], variant, digest, number, len(found))


def _run(
    variant: Variant, digest: str, seeds: Sequence[int], file: Path, data: Path, runs: Path, resume: bool, command: str
) -> Iterator[Event]:
    folders = {seed: runs / f"{file.stem}-{digest}-seed-{seed}" for seed in seeds}
    yield from train_seeds(variant.path, variant.config, folders, data, runs, resume)
    if not is_main_process():
        return
    bundles = [load(folder) for folder in folders.values()]
    told = {"date": measured.today(), "machine": machine(), "command": command}
    told["parameters"] = sum(p.numel() for p in bundles[0].model.parameters())
    each = [
        {"seed": seed, "seconds": round(seconds(folder)), "best_step": best(history(folder)).get("step"), **numbers}
        for (seed, folder), numbers in zip(folders.items(), _measure(bundles, variant, data, runs, resume))
    ]
    first = next(iter(folders.values()))
    measured.append_record(
        file, run_record(first, variant.config, told, each) | {"name": variant.name, "set": variant.changed}
    )
    for folder in folders.values():
        shutil.rmtree(folder)


def _measure(bundles: Sequence[Bundle], variant: Variant, data: Path, runs: Path, resume: bool) -> list[dict]:
    if variant.config.kind == "laboratory":
        return [measure_laboratory(bundle, variant.splits) for bundle in bundles]
    return measure(bundles, variant.config, data, runs, resume)


def _done(found: Sequence[measured.Record], variant: Variant, digest: str, number: int, of: int) -> Event:
    record = next(one for one in found if one.card.digest == digest)
    metric = metadata.main_metric(record.card)
    values = record.values("dev", metric)
    said = {"dev": round(mean(values), 2), "metric": metric, "seeds": len(values)}
    return Event("metric", number, of, {"variant": variant.name, **variant.changed, **said})


def choices_of(text: str) -> tuple[str, list]:
    """A setting and its values: "model.layers=1,2" → ("model.layers", [1, 2]).  Raises ConfigError."""
    name, equals, told = text.partition("=")
    if not name or not equals or not told:
        raise ConfigError(f"--set {text}: expected NAME=VALUE,VALUE…, such as model.layers=1,2,3")
    if name in ("training.seed", "training.more_seeds"):
        raise ConfigError(f"--set {text}: name the seeds with --seeds")
    try:
        return name, json.loads(f"[{told}]")
    except ValueError:
        return name, [_value(one) for one in told.split(",")]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _variant(path: Path, changed: dict[str, Any], test: bool) -> Variant:
    config = read_config(path, changed)
    how = config.training.model_copy(update={"more_seeds": ()})
    splits = ("dev", "test") if test else ("dev",)
    if config.kind == "laboratory":  # its rows are generated
        return Variant(path, changed, config.model_copy(update={"digest": None, "training": how}), splits)
    if test and config.data.test is None:
        raise ConfigError(f"{path}: names no data.test to measure with --test")
    on = config.data if test else config.data.model_copy(update={"test": None})
    return Variant(path, changed, config.model_copy(update={"digest": None, "training": how, "data": on}), splits)


def default_name(found: Sequence[Variant], changes: dict[str, list]) -> str:
    """`lcqmc-tri-additive-layers`: what the configs' folders begin with, and the settings that take several values."""
    start = os.path.commonprefix([one.name for one in found]).strip("-_.")
    varied = [name.rpartition(".")[2] for name, values in changes.items() if len(values) > 1]
    return "-".join(filter(None, [start, *varied])) or "sweep"


def _named(name: str) -> str:
    if not re.fullmatch(r"[\w.-]+", name) or name == measured.TRAINED:
        raise ConfigError(f"--name {name}: letters, digits, dots and hyphens, and not {measured.TRAINED!r}")
    return name
