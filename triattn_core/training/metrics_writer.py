"""Measurement after training, and its records: metrics.json, the model card, and a line of a records file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard

import torch
from tqdm import tqdm

from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.checkpoint.config import AnyConfig, CoinCheckpoint, SentenceCheckpoint
from triattn_core.checkpoint.metadata import metrics
from triattn_core.checkpoint.registry import is_unlisted
from triattn_core.checkpoint.verify import example_record
from triattn_core.errors import DataError
from triattn_core.inference.device import describe_device
from triattn_core.inference.evaluate import evaluate
from triattn_core.models.kinds import task_of
from triattn_core.results.run_records import RUN, TRAINED, append_record, config_variant, new_records_folder, today
from triattn_core.tasks import TASKS
from triattn_core.text.atomic_write import write_whole
from triattn_core.text.rows import matches, rows_file
from triattn_core.training.best_checkpoint import best, history
from triattn_core.training.coin.trainer import coin_card
from triattn_core.training.cross_validation import fold_record, mean_over_folds
from triattn_core.training.laboratory.model_card import laboratory_card
from triattn_core.training.laboratory.records import measure_laboratory
from triattn_core.training.loop import Event, seconds
from triattn_core.training.measures import attention_report, write_measures
from triattn_core.training.model_card import checkpoint_card
from triattn_core.training.reader.data import reader_splits
from triattn_core.training.reader.model_card import reader_card
from triattn_core.training.sentence.model_card import sentence_card
from triattn_core.training.sentence.splits import splits
from triattn_core.training.sentence.trainer import fold_configs

NOTHING: Mapping = MappingProxyType({})
ATTENTION_ROWS = 2000  # rows of dev for the measures of a TAN's attention
CARDS = {
    "tan": checkpoint_card, "sentence": sentence_card, "reader": reader_card, "coin": coin_card,
    "laboratory": laboratory_card,
}  # fmt: skip
SPLITS: dict[str, Callable[..., Any]] = {
    "sentence": splits,
    "reader": reader_splits,
}  # for kinds that hold out rows themselves


def is_cross_validated(config: AnyConfig | dict) -> TypeGuard[SentenceCheckpoint]:
    """Whether the config uses cross-validation, for a set without a split."""
    return isinstance(config, SentenceCheckpoint) and config.data.folds > 0


def seed_run(runs: Path, name: str, seed: int) -> Path:
    """The folder of the run of an additional seed, and of its checkpoint."""
    return runs / f"{name}-seed-{seed}"


def record_metrics(
    trained: Sequence[tuple[Path, AnyConfig]], data: Path, runs: Path, resume: bool, command: str
) -> Iterator[Event]:
    """Measure the checkpoints on disk on dev and test; write metrics.json and model cards.

    Checkpoints that share encoder and sets are measured together, so that the encoder reads each row once.
    """
    groups: dict[tuple, list[tuple[Path, AnyConfig]]] = {}
    for folder, config in trained:
        if is_cross_validated(config):
            yield _measure_folds(folder, config, data, runs, resume, command)
            continue
        if config.kind == "laboratory":
            yield _laboratory(folder, config, data, runs, command)
            continue
        key = (
            config.task,
            config.encoder,
            config.max_tokens,
            config.data.dev,
            config.data.test,
            _measurement_key(config),
        )
        groups.setdefault(key, []).append((folder, config))
    for group in groups.values():
        folders = {
            (folder, seed): folder if seed == config.training.seed else seed_run(runs, folder.name, seed)
            for folder, config in group
            for seed in (config.training.seed, *config.training.more_seeds)
        }
        numbers = dict(
            zip(folders, measure([load(folder) for folder in folders.values()], group[0][1], data, runs, resume))
        )
        for folder, config in group:
            seeds = {seed: seed_metrics for (owner, seed), seed_metrics in numbers.items() if owner == folder}
            yield _write(folder, config, seeds, runs / folder.name, data, command)


def _measurement_key(config: AnyConfig) -> str:
    """A key of further settings that models must share to be measured together: their inputs and sets."""
    if isinstance(config, CoinCheckpoint):
        return repr((config.vocabulary, config.data.model_dump()))
    if config.kind == "tan":
        return repr((config.cells, config.model.context, config.model.states, config.model.attend_special))
    if config.kind not in SPLITS:
        return ""
    return repr(
        (config.kind, getattr(config.model, "vectors", None), getattr(config, "labels", ()), config.data.model_dump())
    )


def _measure_folds(
    folder: Path, config: SentenceCheckpoint, data: Path, runs: Path, resume: bool, command: str
) -> Event:
    """Measure each fold's weights on the rows that they were not trained on; record all folds."""
    by_fold = {}
    for path, fold_config in fold_configs(config, folder, runs).items():
        (by_fold[fold_config.data.fold],) = measure([load(path)], fold_config, data, runs, resume)
    by_seed = {config.training.seed: mean_over_folds(by_fold)}
    return _write(
        folder, config, by_seed, runs / folder.name, data, command, {"folds": fold_record(by_fold, config.data.fold)}
    )


def _laboratory(folder: Path, config: AnyConfig, data: Path, runs: Path, command: str) -> Event:
    """All seeds of a laboratory model on the rows of its dev and test seeds."""
    seed_folders = {seed: seed_run(runs, folder.name, seed) for seed in config.training.more_seeds}
    seeds = {config.training.seed: folder, **seed_folders}
    measured = {seed: measure_laboratory(load(path)) for seed, path in seeds.items()}
    return _write(folder, config, measured, runs / folder.name, data, command)


def measure(bundles: Sequence[Bundle], config: AnyConfig, data: Path, runs: Path, resume: bool) -> list[dict]:
    """`{"dev": …, "test": …}` of each bundle; verdicts are stored under `runs` until all rows are measured, and
    `resume` continues a stopped measurement from there."""
    measured: list[dict] = [{} for _ in bundles]
    task, rows = TASKS[config.task], _rows(config, data)
    digests = "".join(bundle.digest for bundle in bundles).encode()
    caches = {}
    for split, (name, _) in rows.items():  # the cache is specific to weights and rows
        key = hashlib.sha256(digests + rows_file(data, name).read_bytes()).hexdigest()[:16]
        caches[split] = runs / "measured" / f"{key}-{split}.jsonl"
    (runs / "measured").mkdir(parents=True, exist_ok=True)  # not removed: others may measure meanwhile
    for split, (name, examples) in rows.items():
        if not resume:
            caches[split].unlink(missing_ok=True)
        try:
            with tqdm(desc=f"measure {name}", unit="example") as bar:
                results = evaluate(bundles, examples(), bar.update, caches[split])
        except DataError as error:
            path = str(rows_file(data, name))
            raise error if str(error).startswith(path) else DataError(f"{path}: {error}") from None
        baseline = task.baseline(example for example in examples() if example.label is not None)
        for bundle_metrics, result in zip(measured, results):
            bundle_metrics[split] = {"set": name, **result["metrics"], "n": result["n"], **baseline}
    for file in caches.values():
        file.unlink(missing_ok=True)
    return measured


def _rows(config: AnyConfig, data: Path) -> dict[str, tuple[str, Callable[[], Iterable]]]:
    """Dev and test, if any: the name of the set, and a function that returns its examples.

    Dev of a TAN is filtered by `data.where`, as in model selection; test is the whole file.
    """
    sources: dict[str, tuple[str, Callable[[], Iterable]]] = {}
    parts = SPLITS[config.kind](config, data) if config.kind in SPLITS else None
    for split in ("dev", "test"):
        name = getattr(config.data, split)
        if parts is not None and getattr(parts, split) and (split == "dev" or name):
            sources[split] = getattr(parts, split)[0], partial(parts.examples, split)
        elif name:
            sources[split] = name, partial(_examples, config, split, rows_file(data, name))
    return sources


def _examples(config: AnyConfig, split: str, file: Path) -> Iterator:
    where = getattr(config.data, "where", {}) if split == "dev" else {}
    return (example for example in TASKS[config.task].read(file) if matches(vars(example), where))


def _write(
    folder: Path,
    config: AnyConfig,
    seeds: dict[int, dict],
    run: Path,
    data: Path,
    command: str,
    extra: Mapping = NOTHING,
) -> Event:
    rows, first = history(run), seeds[config.training.seed]
    record = {
        **first,
        "seed": config.training.seed,
        "seeds": [
            {"seed": seed, **{split: next(iter(metrics(numbers).values())) for split, numbers in by_split.items()}}
            for seed, by_split in seeds.items()
        ],
        **extra,
        "best_step": rows[-1]["step"] if config.kind == "laboratory" else best(rows).get("step"),
        "epochs": config.training.epochs,
        "parameters": sum(p.numel() for p in load(folder).model.parameters()),
        "seconds": round(seconds(run)),
        "machine": machine(),
        "date": today(),
        "command": command,
        "each_seed": [{"seed": seed, **numbers} for seed, numbers in seeds.items()],
        "history": rows,
        "example": example_record(load(folder), task_of(config).examples(config.language)[0]),
    }
    write_whole(folder / "metrics.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    if config.kind == "tan":
        examples = list(islice(_examples(config, "dev", rows_file(data, config.data.dev)), ATTENTION_ROWS))
        write_measures(folder, "attention", attention_report(load(folder), examples) | {"set": config.data.dev})
    write_whole(folder / "README.md", CARDS[config.kind](folder))
    if config.kind != "laboratory" and is_unlisted(folder):
        append_record(
            new_records_folder() / f"{TRAINED}.jsonl", run_record(folder, config, record, record["each_seed"])
        )
    return Event("metric", record["best_step"] or 0, record["best_step"] or 0, {"checkpoint": folder.name, **first})


def run_record(folder: Path, config: AnyConfig, run: Mapping, each_seed: Sequence[Mapping]) -> dict:
    """The record of a run that is not shipped.  run: its `parameters`, `command` and the like."""
    names = [name for name in RUN if name in run]
    settings = json.loads((folder / "config.json").read_text("utf-8"))
    settings["training"] = {
        name: setting for name, setting in settings["training"].items() if name not in ("seed", "more_seeds")
    }
    settings.pop("digest", None)
    facts = {"name": folder.name, **{name: run[name] for name in names}}
    return {**facts, "digest": config_variant(config), "config": settings, "each_seed": list(each_seed)}


def machine() -> str:
    """This machine in a few words, for records."""
    device = describe_device()
    return f"{device.title}, {device.cores} cores, torch {torch.__version__}"
