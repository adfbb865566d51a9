"""Untrained living checkpoints, Bi, Bi-joint, C-Bi and Tri of every task, under the real tokenizers."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import torch

from tests.support.choices_checkpoints import SETS
from tests.support.two_languages import HEADS, HIDDEN, config_dict, make_encoder
from triattn_core.checkpoint import bundle
from triattn_core.configs.tan import TanCheckpoint
from triattn_core.models.tan import Tan
from triattn_core.tasks import TASKS

MECHANISMS = ("bi", "bi_joint", "cbi", "tri")
LIVING = {
    "layers": 1, "width": 12, "heads": HEADS, "similarity": "dot", "token_comparison": "mlp", "pooling": "mean_max",
    "pooled": False, "context": "apart", "states": (1, 2), "attend_special": False,
}  # fmt: skip
DATA = {"pairs": "quora"} | {task: data for task, (data, _) in SETS.items()}


def make_checkpoints(root: Path, tasks: tuple[str, ...] = tuple(DATA)) -> Path:
    """`root` with the English encoder and four checkpoints a task: `quora-bi-joint-dot`, `race-tri-dot`."""
    make_encoder("minilm-en", root / "encoders" / "minilm-en")
    for seed, (task, mechanism) in enumerate(product(tasks, MECHANISMS)):
        make_checkpoint(root, task, mechanism, seed)
    return root


def make_checkpoint(root: Path, task: str, mechanism: str, seed: int, name: str = "", **model) -> Path:
    """One of them, drawn from a seed, that its config says too."""
    data = DATA[task]
    plan = config_dict("quora", mechanism, "dot")
    plan["model"] = {"mechanism": mechanism, **LIVING, **model}
    if task in SETS:
        sets = {"train": [f"{data}/train"], "dev": f"{data}/dev", "test": f"{data}/test"}
        plan |= {"task": task, "max_tokens": 150, "cells": SETS[task][1], "data": sets}
    plan["training"] |= {"seed": seed}
    config = TanCheckpoint.model_validate(plan)
    torch.manual_seed(seed)
    folder = root / (name or f"{data}-{mechanism.replace('_', '-')}-dot")
    bundle.save(folder, config, Tan(config.model, HIDDEN, TASKS[task].OUTPUTS))
    (folder / "metrics.json").write_text(json.dumps({"dev": {}, "test": {}, "parameters": HEADS}), "utf-8")
    return folder
