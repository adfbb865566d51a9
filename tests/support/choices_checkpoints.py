"""Untrained checkpoints of every task: the tokenizer is the real one, all weights are small."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import torch

from tests.support.two_languages import HEADS, HIDDEN, config_dict, make_encoder
from triattn_core.checkpoint import bundle
from triattn_core.configs.tan import TanCheckpoint
from triattn_core.models.tan import Tan
from triattn_core.tasks import TASKS

SETS = {"dialogue": ("ubuntu_irc", (9, 9, 40)), "reading": ("race", (9, 9, 36))}


def make_checkpoints(root: Path, tasks: tuple[str, ...] = ("pairs", "dialogue", "reading")) -> Path:
    """`root` with the English encoder and Bi, C-Bi and Tri of each task: `quora-tri-additive`, `race-bi-additive`."""
    torch.manual_seed(11)
    make_encoder("minilm-en", root / "encoders" / "minilm-en")
    for task, mechanism in product(tasks, ("bi", "cbi", "tri")):
        plan = config_dict("quora", mechanism, "additive")
        if task in SETS:
            data, cells = SETS[task]
            sets = {"train": [f"{data}/train"], "dev": f"{data}/dev", "test": f"{data}/test"}
            plan |= {"task": task, "max_tokens": 150, "cells": cells, "data": sets}
        config = TanCheckpoint.model_validate(plan)
        folder = root / f"{config.data.dev.partition('/')[0]}-{mechanism}-additive"
        bundle.save(folder, config, Tan(config.model, HIDDEN, TASKS[task].OUTPUTS))
        (folder / "metrics.json").write_text(json.dumps({"dev": {}, "test": {}, "parameters": HEADS}), "utf-8")
    return root
