"""Untrained MTSA checkpoints: the tokenizer is the real one, all weights are small."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.support.two_languages import HIDDEN, make_encoder
from triattn_core.checkpoint import bundle
from triattn_core.configs.sentence import SentenceCheckpoint
from triattn_core.kinds import kind_of

MODEL = {"mechanism": "mtsa", "width": 10, "out": 28, "heads": 4, "hidden": 6}
CONFIG = {
    "format": 1,
    "kind": "sentence",
    "language": "en",
    "encoder": "minilm-en",
    "max_tokens": 60,
    "data": {"train": ["a/train"]},
    "training": {"epochs": 1, "rate": 0.01, "batch": 8},
}
KINDS = {
    "trec-mtsa": {"task": "sentences", "labels": ["person", "place", "thing"], "data": {"train": ["trec/train"]}},
    "snli-mtsa": {"task": "inference", "data": {"train": ["snli/train"]}},
    "long-mtsa": {"task": "sentences", "labels": ["no", "yes"], "max_tokens": 2000},
    "stacked-mtsa": {"task": "sentences", "labels": ["no", "yes"], "model": {"layers": 2, "masks": ["none"]}},
}


def make_checkpoints(root: Path, names: tuple[str, ...] = tuple(KINDS)) -> Path:
    """`root` with the English encoder and these checkpoints; `stacked-mtsa` has two layers and no masks."""
    torch.manual_seed(13)
    make_encoder("minilm-en", root / "encoders" / "minilm-en")
    for name in names:
        overrides = KINDS[name]
        config = SentenceCheckpoint.model_validate(CONFIG | overrides | {"model": MODEL | overrides.get("model", {})})
        bundle.save(root / name, config, kind_of(config).model(config, HIDDEN))
        (root / name / "metrics.json").write_text(json.dumps({"dev": {}, "test": {}}), "utf-8")
    return root
