"""`triattn train`: a config.json of a checkpoint, or a recipe.json of an encoder, to weights and metrics."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import torch
from accelerate import Accelerator

from triattn_core.checkpoint import load
from triattn_core.config import Config, read_config
from triattn_core.device import choose, describe
from triattn_core.errors import ConfigError
from triattn_core.evaluate import evaluate
from triattn_core.tasks import TASKS
from triattn_core.text.rows import read_json, rows_file
from triattn_core.training.card import checkpoint_card, encoder_card
from triattn_core.training.encoder import finish_encoder, post_train
from triattn_core.training.loop import Event, seconds
from triattn_core.training.tan import best, history, train_tan
from triattn_core.verify import example_record


def train(path: Path, data: Path, runs: Path, resume: bool, command: str) -> Iterator[Event]:
    """Train what `path` describes; the result stands beside it. Raises ConfigError for a file that is neither."""
    path = path.resolve()
    recipe = _kind(path)
    if not os.environ.get("LOCAL_RANK"):  # `accelerate launch` gives each process its device
        os.environ["ACCELERATE_TORCH_DEVICE"] = choose()
    accelerator = Accelerator(mixed_precision=recipe.get("precision", "no"))
    runs = runs.resolve()
    if recipe["kind"] == "encoder":
        run = runs / path.parent.name
        yield from post_train(recipe, data, run, resume, accelerator)
        if accelerator.is_main_process:
            finish_encoder(recipe, path.parent, run, machine(), command)
            (path.parent / "README.md").write_text(encoder_card(path.parent), "utf-8")
        return
    config = read_config(path)
    yield from train_tan(config, path.parent, data, runs, resume, accelerator)
    if accelerator.is_main_process:
        yield record_metrics(path.parent, config, data, runs / path.parent.name, command)


def record_metrics(folder: Path, config: Config, data: Path, run: Path, command: str) -> Event:
    """Measures dev and test with the checkpoint as it stands on disk; writes metrics.json."""
    bundle, task = load(folder), TASKS[config.task]
    rows = history(run)
    found: dict = {}
    for split in ("dev", "test"):
        name = getattr(config.data, split)
        if name is not None:
            result = evaluate(bundle, task.read(rows_file(data, name)))
            labels = [example.label for example in task.read(rows_file(data, name))]
            share = max(labels.count(label) for label in set(labels)) / len(labels)
            found[split] = {"set": name, **result["metrics"], "n": result["n"], "majority": round(100 * share, 2)}
    found |= {
        "seed": config.training.seed,
        "best_step": best(rows).get("step"),
        "epochs": config.training.epochs,
        "parameters": sum(p.numel() for p in bundle.tan.parameters()),
        "seconds": round(seconds(run)),
        "machine": machine(),
        "command": command,
        "history": rows,
        "example": example_record(bundle, task.examples()[0]),
    }
    (folder / "metrics.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    (folder / "README.md").write_text(checkpoint_card(folder), "utf-8")
    measured = {split: found[split] for split in ("dev", "test") if split in found}
    return Event("metric", found["best_step"] or 0, found["best_step"] or 0, measured)


def machine() -> str:
    """The machine a number was measured on, in a few words."""
    device = describe()
    return f"{device.title}, {device.cores} cores, torch {torch.__version__}"


def _kind(path: Path) -> dict:
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; name a checkpoint's config.json or an encoder's recipe.json")
    found = read_json(path)
    if found.get("kind") not in ("encoder", "tan"):
        raise ConfigError(f'{path}: expected "kind": "encoder" or "tan"')
    return found
