"""What `triattn train` measures when it has trained, and what is recorded of it: metrics.json, the card, a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType

import torch
from tqdm import tqdm

from triattn_core.checkpoint import Bundle, load
from triattn_core.config import AnyConfig, CoinCheckpoint, SentenceCheckpoint
from triattn_core.device import describe
from triattn_core.errors import DataError
from triattn_core.evaluate import evaluate
from triattn_core.records import metrics
from triattn_core.results.ours import RUN, TRAINED, append, today, variant
from triattn_core.results.ours import folder as results
from triattn_core.shelf import root
from triattn_core.tasks import TASKS
from triattn_core.text.rows import rows_file, wanted
from triattn_core.training.card import checkpoint_card
from triattn_core.training.coin import coin_card
from triattn_core.training.epochs import best, history
from triattn_core.training.folds import joined, spread
from triattn_core.training.loop import Event, seconds
from triattn_core.training.reader_card import reader_card
from triattn_core.training.reader_data import reader_splits
from triattn_core.training.sentence import folds
from triattn_core.training.sentence_card import sentence_card
from triattn_core.training.splits import splits
from triattn_core.verify import example_record

NOTHING: Mapping = MappingProxyType({})
CARDS = {"tan": checkpoint_card, "sentence": sentence_card, "reader": reader_card, "coin": coin_card}
SPLITS = {"sentence": splits, "reader": reader_splits}  # of kinds that hold rows of their own out


def folded(config: AnyConfig) -> bool:
    """Whether its set has no split, and each of its parts is tested on in turn."""
    return isinstance(config, SentenceCheckpoint) and config.data.folds > 0


def seed_run(runs: Path, name: str, seed: int) -> Path:
    """Where the run of a further seed, and its checkpoint, stand."""
    return runs / f"{name}-seed-{seed}"


def record_metrics(
    trained: Sequence[tuple[Path, AnyConfig]], data: Path, runs: Path, resume: bool, command: str
) -> Iterator[Event]:
    """Measures dev and test with the checkpoints as they stand on disk; writes metrics.json and the cards.

    Checkpoints that share encoder and sets are measured together: the encoder reads each row once.
    """
    alike: dict[tuple, list[tuple[Path, AnyConfig]]] = {}
    for folder, config in trained:
        if folded(config):
            yield _folds(folder, config, data, runs, resume, command)
            continue
        key = (config.task, config.encoder, config.max_tokens, config.data.dev, config.data.test, _own(config))
        alike.setdefault(key, []).append((folder, config))
    for group in alike.values():
        folders = {
            (folder, seed): folder if seed == config.training.seed else seed_run(runs, folder.name, seed)
            for folder, config in group
            for seed in (config.training.seed, *config.training.more_seeds)
        }
        numbers = dict(
            zip(folders, measure([load(folder) for folder in folders.values()], group[0][1], data, runs, resume))
        )
        for folder, config in group:
            seeds = {seed: found for (of, seed), found in numbers.items() if of == folder}
            yield _write(folder, config, seeds, runs / folder.name, command)


def _own(config: AnyConfig) -> str:
    """What models that are no TAN must have in common to be measured together: their sets, and what they read."""
    if isinstance(config, CoinCheckpoint):
        return repr((config.vocabulary, config.data.model_dump()))
    if config.kind not in SPLITS:
        return ""
    return repr((config.kind, config.model.vectors, getattr(config, "labels", ()), config.data.model_dump()))


def _folds(folder: Path, config: SentenceCheckpoint, data: Path, runs: Path, resume: bool, command: str) -> Event:
    """Each fold's weights on the rows that they were not trained on; the records are those of all."""
    measured = {}
    for path, one in folds(config, folder, runs).items():
        (measured[one.data.fold],) = measure([load(path)], one, data, runs, resume)
    found = {config.training.seed: joined(measured)}
    return _write(folder, config, found, runs / folder.name, command, {"folds": spread(measured, config.data.fold)})


def measure(bundles: Sequence[Bundle], config: AnyConfig, data: Path, runs: Path, resume: bool) -> list[dict]:
    """`{"dev": …, "test": …}` of each bundle; what is said of a row stands under `runs` until all are measured, and
    with `resume` a stopped measurement goes on after it."""
    found: list[dict] = [{} for _ in bundles]
    task, rows = TASKS[config.task], _rows(config, data)
    own = "".join(bundle.digest for bundle in bundles).encode()
    kept = {}
    for split, (name, _) in rows.items():  # other weights and other rows are other answers
        both = hashlib.sha256(own + rows_file(data, name).read_bytes()).hexdigest()[:16]
        kept[split] = runs / "measured" / f"{both}-{split}.jsonl"
    (runs / "measured").mkdir(parents=True, exist_ok=True)
    for split, (name, examples) in rows.items():
        if not resume:
            kept[split].unlink(missing_ok=True)
        try:
            with tqdm(desc=f"measure {name}", unit="example") as bar:
                results = evaluate(bundles, examples(), bar.update, kept[split])
        except DataError as error:
            file = str(rows_file(data, name))
            raise error if str(error).startswith(file) else DataError(f"{file}: {error}") from None
        baseline = task.baseline(example for example in examples() if example.label is not None)
        for told, result in zip(found, results):
            told[split] = {"set": name, **result["metrics"], "n": result["n"], **baseline}
    for file in kept.values():
        file.unlink(missing_ok=True)
    with suppress(OSError):  # another measurement is under way
        (runs / "measured").rmdir()
    return found


def _rows(config: AnyConfig, data: Path) -> dict[str, tuple[str, Callable[[], Iterable]]]:
    """Dev and test, where there are such: the name of the set, and what gives its examples.

    Dev of a TAN is what it was chosen on, the rows that `data.where` leaves; test is the whole file.
    """
    found = {}
    parts = SPLITS[config.kind](config, data) if config.kind in SPLITS else None
    for split in ("dev", "test"):
        name = getattr(config.data, split)
        if parts is not None and getattr(parts, split) and (split == "dev" or name):
            found[split] = getattr(parts, split)[0], partial(parts.examples, split)
        elif name:
            found[split] = name, partial(_examples, config, split, rows_file(data, name))
    return found


def _examples(config: AnyConfig, split: str, file: Path) -> Iterator:
    where = config.data.where if split == "dev" else {}
    return (one for one in TASKS[config.task].read(file) if wanted(vars(one), where))


def _write(
    folder: Path, config: AnyConfig, seeds: dict[int, dict], run: Path, command: str, more: Mapping = NOTHING
) -> Event:
    rows, first = history(run), seeds[config.training.seed]
    found = {
        **first,
        "seed": config.training.seed,
        "seeds": [
            {"seed": seed, **{split: next(iter(metrics(told).values())) for split, told in one.items()}}
            for seed, one in seeds.items()
        ],
        **more,
        "best_step": best(rows).get("step"),
        "epochs": config.training.epochs,
        "parameters": sum(p.numel() for p in load(folder).model.parameters()),
        "seconds": round(seconds(run)),
        "machine": machine(),
        "date": today(),
        "command": command,
        "each_seed": [{"seed": seed, **told} for seed, told in seeds.items()],
        "history": rows,
        "example": example_record(load(folder), TASKS[config.task].examples(config.language)[0]),
    }
    (folder / "metrics.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "README.md").write_text(CARDS[config.kind](folder), "utf-8")
    if root().resolve() in folder.parent.parents:  # under the project's, but not on the shelf: it leaves a record there
        append(results() / f"{TRAINED}.jsonl", line(folder, config, found, found["each_seed"]))
    return Event("metric", found["best_step"] or 0, found["best_step"] or 0, {"checkpoint": folder.name, **first})


def line(folder: Path, config: AnyConfig, told: Mapping, each_seed: Sequence[Mapping]) -> dict:
    """The record of a run that is not shipped; see `results.ours`.  told: its `parameters`, `command` and the like."""
    names = [name for name in RUN if name in told]
    kept = json.loads((folder / "config.json").read_text("utf-8"))
    kept["training"] = {name: one for name, one in kept["training"].items() if name not in ("seed", "more_seeds")}
    kept.pop("digest", None)
    about = {"name": folder.name, **{name: told[name] for name in names}}
    return {**about, "digest": variant(config), "config": kept, "each_seed": list(each_seed)}


def machine() -> str:
    """The machine a number was measured on, in a few words."""
    device = describe()
    return f"{device.title}, {device.cores} cores, torch {torch.__version__}"
