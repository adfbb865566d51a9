"""Start a checkpoint of your own: split a file of rows into train, dev and test, and write the config to train on them.

The config is of the living form, whose answer depends on the attention (see docs/training.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.encoder_folders import encoder_folder
from triattn_core.errors import ConfigError, DataError, TriattnError
from triattn_core.tasks import TASKS, InputForm
from triattn_core.text.rows import each_line, read_json

FEWEST = 20  # rows, so that dev and test have two each
PART = 10  # one row in PART is for dev, one for test
LONG = {
    InputForm.CANDIDATES: (128, (30, 30, 64)),
    InputForm.OPTIONS: (160, (15, 15, 32)),
}  # tokens, and cells of query, key and context
HEADS, WIDTH = 6, 192
SPLIT = "split.json"


def new_checkpoint(
    folder: Path, rows: Path, encoder: str, task: str = "pairs", language: str = "en", epochs: int = 4, **model: str
) -> dict[str, Any]:
    """Write `folder` with config.json, the sets train, dev and test, and split.json, which is returned.

    rows: one JSON object per line, in the format of the task.  encoder: a name or a folder.  model: mechanism,
    similarity.  Either all files are written or none.  Raises ConfigError, DataError with the first bad line,
    CheckpointError.
    """
    if folder.exists():
        raise ConfigError(f"{folder} already exists")
    config = _config(folder.name, task, language, encoder, epochs, model)
    sets, split = cut(rows, task)
    folder.mkdir(parents=True)
    try:
        for name, lines in sets.items():
            (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        (folder / SPLIT).write_text(json.dumps(split, indent=1), "utf-8")
        (folder / "config.json").write_text(json.dumps(config, indent=2), "utf-8")
        read_config(folder / "config.json")
    except (OSError, TriattnError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        raise
    return split


def cut(rows: Path, task: str) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Lines by set, and the record of the split, which does not depend on the order of rows; equal rows count once."""
    if not rows.is_file():
        raise DataError(f"{rows}: no such file")
    task_module, lines, num_rows = TASKS[task], {}, 0
    with open(rows, "rb") as file:
        for number, row in each_line(file, rows.name, unlimited=True):
            place = f"{rows.name}:{number}"
            if not isinstance(row, Mapping):
                raise row
            example = task_module.from_file(row, place)
            example.check()
            if example.label is None:
                raise DataError(f"{place}: a row to train on needs a label")
            line = json.dumps(row, ensure_ascii=False, sort_keys=True)
            lines[hashlib.sha256(line.encode()).hexdigest()] = line
            num_rows += 1
    if len(lines) < FEWEST:
        raise DataError(f"{rows}: {len(lines)} different rows; {FEWEST} at least are needed")
    order, part = [lines[digest] for digest in sorted(lines)], len(lines) // PART
    sets = {"test": order[:part], "dev": order[part : 2 * part], "train": order[2 * part :]}
    split = {
        "rows": rows.name,
        "sha256": hashlib.sha256(rows.read_bytes()).hexdigest(),
        "rule": f"sorted by SHA-256 of the row; of each {PART} one for test, one for dev; equal rows once",
        "counts": {name: len(sets[name]) for name in ("train", "dev", "test")},
        "equal": num_rows - len(lines),
    }
    return sets, split


def _config(name: str, task: str, language: str, encoder: str, epochs: int, model: Mapping[str, str]) -> dict[str, Any]:
    if (local := Path(encoder)).is_dir():
        encoder = str(local.resolve())
    network = read_json(encoder_folder(encoder) / "config.json")
    layers, positions = network.get("num_hidden_layers", 1), network.get("max_position_embeddings", 512)
    tokens, cells = LONG.get(TASKS[task].FORM, (64, None))
    tokens = min(tokens, positions if cells else (positions - 3) // 2)  # two sentences and three special tokens
    living_settings = {
        "layers": 1, "heads": HEADS, "width": WIDTH, "token_comparison": "mlp", "pooling": "mean_max", "pooled": False,
        "context": "apart", "states": [layers, layers], "attend_special": False,
    }  # fmt: skip
    value = {"value": "value_and_product"} if model.get("mechanism") == "tri" else {}
    config = {
        "format": 1, "kind": "tan", "task": task, "language": language, "encoder": encoder, "max_tokens": tokens,
        "cells": cells, "model": {**model, **value, **living_settings},
        "data": {"train": [f"{name}/train"], "dev": f"{name}/dev", "test": f"{name}/test"},
        "training": {"epochs": epochs, "rate": 1e-3, "batch": 16},
    }  # fmt: skip
    return {key: setting for key, setting in config.items() if setting is not None}
