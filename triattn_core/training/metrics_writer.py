"""Records of trained checkpoints: metrics.json, the model card, and a line of a records file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import torch

from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.metadata import metrics
from triattn_core.checkpoint.registry import is_unlisted
from triattn_core.checkpoint.verify import example_record
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.errors import InputError
from triattn_core.inference.device import describe_device
from triattn_core.kinds import kind_of
from triattn_core.results.run_records import RUN, append_record, config_variant, new_records_folder, today
from triattn_core.text.atomic_write import write_whole
from triattn_core.training.best_checkpoint import best, history
from triattn_core.training.cross_validation import fold_record, mean_over_folds
from triattn_core.training.loop import Event, seconds
from triattn_core.training.scores import SPLITS, split_rows

NOTHING: Mapping = MappingProxyType({})


def seed_run(runs: Path, name: str, seed: int) -> Path:
    """The folder of the run of an additional seed, and of its checkpoint."""
    return runs / f"{name}-seed-{seed}"


def record_metrics(
    trained: Sequence[tuple[Path, CheckpointConfig]], data: Path, runs: Path, resume: bool, command: str
) -> Iterator[Event]:
    """Measure the checkpoints on disk on dev and test; write metrics.json and model cards.

    Checkpoints that share encoder and sets are measured together, so that the encoder reads each row once.
    """
    groups: dict[tuple, list[tuple[Path, CheckpointConfig]]] = {}
    for folder, config in trained:
        if config.folds:
            yield _measure_folds(folder, config, data, runs, resume, command)
        else:
            groups.setdefault((config.kind, *kind_of(config).measured_alike(config)), []).append((folder, config))
    for group in groups.values():
        folders = {
            (folder, seed): folder if seed == config.training.seed else seed_run(runs, folder.name, seed)
            for folder, config in group
            for seed in (config.training.seed, *config.training.more_seeds)
        }
        first, bundles = group[0][1], [load(folder) for folder in folders.values()]
        numbers = dict(zip(folders, kind_of(first).measure(bundles, first, data, runs, resume, SPLITS)))
        for folder, config in group:
            seeds = {seed: seed_metrics for (owner, seed), seed_metrics in numbers.items() if owner == folder}
            yield _write(folder, config, seeds, runs / folder.name, data, command)


def _measure_folds(folder: Path, config: CheckpointConfig, data: Path, runs: Path, resume: bool, command: str) -> Event:
    """Measure each fold's weights on the rows that they were not trained on; record all folds."""
    by_fold, kind = {}, kind_of(config)
    for path, fold_config in kind.folds(config, folder, runs).items():
        (by_fold[fold_config.data.fold],) = kind.measure([load(path)], fold_config, data, runs, resume, SPLITS)
    by_seed = {config.training.seed: mean_over_folds(by_fold)}
    return _write(
        folder, config, by_seed, runs / folder.name, data, command, {"folds": fold_record(by_fold, config.data.fold)}
    )


def _write(
    folder: Path,
    config: CheckpointConfig,
    seeds: dict[int, dict],
    run: Path,
    data: Path,
    command: str,
    extra: Mapping = NOTHING,
) -> Event:
    rows, first, kind = history(run), seeds[config.training.seed], kind_of(config)
    record = {
        **first,
        "seed": config.training.seed,
        "seeds": [
            {"seed": seed, **{split: next(iter(metrics(numbers).values())) for split, numbers in by_split.items()}}
            for seed, by_split in seeds.items()
        ],
        **extra,
        "best_step": rows[-1]["step"] if kind.keeps_last else best(rows).get("step"),
        "epochs": config.training.epochs,
        "parameters": sum(p.numel() for p in load(folder).model.parameters()),
        "seconds": round(seconds(run)),
        "machine": machine(),
        "date": today(),
        "command": command,
        "each_seed": [{"seed": seed, **numbers} for seed, numbers in seeds.items()],
        "history": rows,
        "example": example_record(load(folder), kind.task(config).examples(config.language)[0]),
    }
    _write_metrics(folder, record)
    if kind.attention_rows:
        name, examples = split_rows(config, data, ["dev"])["dev"]
        with suppress(InputError):  # a recurrent network has no weights of word to word
            report = kind.attention_report(load(folder), list(islice(examples(), kind.attention_rows)))
            write_attention(folder, report, name)
    write_whole(folder / "README.md", kind.card(folder))
    if kind.records and is_unlisted(folder):
        append_record(
            new_records_folder() / f"{kind.records}.jsonl", run_record(folder, config, record, record["each_seed"])
        )
    return Event("metric", record["best_step"] or 0, record["best_step"] or 0, {"checkpoint": folder.name, **first})


def write_attention(folder: Path, report: Mapping, set_name: str) -> None:
    """Store what `Kind.attention_report` gives: "word_alignment", which has rows of its own, beside "attention"."""
    parts = {"attention": {name: value for name, value in report.items() if name != "word_alignment"}}
    if "word_alignment" in report:
        parts["word_alignment"] = report["word_alignment"]
    for name, part in parts.items():
        if part:
            write_measures(folder, name, {**part, "set": set_name})


def write_elsewhere(folder: Path, scores: Mapping) -> None:
    """Store the scores on a set that is neither dev nor test under "elsewhere", a list, and in the model card."""
    metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
    others = [one for one in metrics.get("elsewhere", ()) if one["set"] != scores["set"]]
    _write_metrics(folder, metrics | {"elsewhere": [*others, dict(scores)]})
    write_whole(folder / "README.md", load(folder).kind.card(folder))


def write_measures(folder: Path, name: str, report: Mapping) -> None:
    """Store measures under a name, such as `attention`, in a checkpoint's metrics.json."""
    file = folder / "metrics.json"
    _write_metrics(folder, json.loads(file.read_text("utf-8")) | {name: dict(report)})


def _write_metrics(folder: Path, record: Mapping) -> None:
    write_whole(folder / "metrics.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def run_record(folder: Path, config: CheckpointConfig, run: Mapping, each_seed: Sequence[Mapping]) -> dict:
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
