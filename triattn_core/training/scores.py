"""Scores of trained checkpoints on the dev and test rows of their data sets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tqdm import tqdm

from triattn_core.checkpoint.bundle import Bundle
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.errors import DataError
from triattn_core.inference.evaluate import evaluate
from triattn_core.kinds import kind_of
from triattn_core.text.rows import matches, rows_file

SPLITS = ("dev", "test")


def measure(
    bundles: Sequence[Bundle],
    config: CheckpointConfig,
    data: Path,
    runs: Path,
    resume: bool,
    splits: Sequence[str] = SPLITS,
) -> list[dict]:
    """`{"dev": …, "test": …}` of each bundle, for `splits`.

    Verdicts are stored under `runs` until all rows are measured; `resume` continues a stopped measurement from there.
    """
    measured: list[dict] = [{} for _ in bundles]
    task, rows = bundles[0].task, split_rows(config, data, splits)
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


def split_rows(
    config: CheckpointConfig, data: Path, splits: Sequence[str] = SPLITS
) -> dict[str, tuple[str, Callable[[], Iterable]]]:
    """Dev and test, if any: the name of the set, and a function that returns its examples.

    Where the kind does not cut the splits itself, dev is filtered by `data.where`, as in model selection, if the
    config has that; test is the whole file.
    """
    sources: dict[str, tuple[str, Callable[[], Iterable]]] = {}
    parts = kind_of(config).splits(config, data)
    for split in splits:
        name = getattr(config.data, split)
        if parts is not None and getattr(parts, split) and (split == "dev" or name):
            sources[split] = getattr(parts, split)[0], partial(parts.examples, split)
        elif name:
            sources[split] = name, partial(_examples, config, split, rows_file(data, name))
    return sources


def _examples(config: CheckpointConfig, split: str, file: Path) -> Iterator:
    where = getattr(config.data, "where", {}) if split == "dev" else {}
    return (example for example in kind_of(config).task(config).read(file) if matches(vars(example), where))
