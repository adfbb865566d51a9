"""Untrained taggers, with MTSA and with multi-head attention: the tokenizer is the real one, all weights are small."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.support.sentence_checkpoints import make_checkpoints as make_sentence_checkpoints
from tests.support.two_languages import HIDDEN
from triattn_core.checkpoint import bundle
from triattn_core.configs.tagger import TaggerCheckpoint
from triattn_core.kinds import kind_of

LABELS = ("V", "ARG0", "ARG1", "ARGM-TMP")
MODEL = {"out": 16, "heads": 4, "layers": 2, "feed_forward": 16}
CONFIG = {
    "format": 1,
    "kind": "tagger",
    "task": "roles",
    "language": "en",
    "encoder": "minilm-en",
    "labels": LABELS,
    "data": {"train": ["a/train"], "dev": "a/dev", "test": "a/test"},
    "training": {"epochs": 1, "rate": 0.01, "batch": 8},
}
MECHANISMS = {
    "roles-mtsa": {"mechanism": "mtsa", "scale_t": "identity"},
    "roles-multi-head": {"mechanism": "multi_head", "positions": True},
}
SHARES = {"inside": 0.5, "outside": 0.25, "even": 0.125, "even_outside": 0.125}
MEASURED = {
    "n": 70, "set": "propbank/dev", "metric": "f1", "score": 60.0, "reliance": {"even": {"points": 41.5, "p": 0.001}},
    "predicate": [{"layer": layer, "head": head, **SHARES} for layer in range(2) for head in range(4)],
}  # fmt: skip


def make_checkpoints(root: Path) -> Path:
    """`root` with the English encoder, a sentence checkpoint, and taggers; that with MTSA has measures of attention."""
    make_sentence_checkpoints(root, ("trec-mtsa",))
    torch.manual_seed(17)
    for name, model in MECHANISMS.items():
        config = TaggerCheckpoint.model_validate(CONFIG | {"model": MODEL | model})
        bundle.save(root / name, config, kind_of(config).model(config, HIDDEN))
        metrics = {"dev": {}, "test": {}} | ({"attention": MEASURED} if name == "roles-mtsa" else {})
        (root / name / "metrics.json").write_text(json.dumps(metrics), "utf-8")
    return root
