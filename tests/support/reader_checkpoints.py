"""Untrained QA models: the tokenizer is the real one, all weights are small; and traces made by them."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.support.two_languages import HIDDEN, make_encoder
from triattn_core.checkpoint import bundle
from triattn_core.configs.reader import ReaderCheckpoint
from triattn_core.kinds import kind_of

STATES = 14  # features of a state
CONFIG = {
    "format": 1,
    "kind": "reader",
    "task": "questions",
    "language": "en",
    "encoder": "minilm-en",
    "max_tokens": 61,
    "data": {"train": ["squad1.1/train"], "test": "squad1.1/dev"},
    "training": {"epochs": 2, "rate": 0.01, "batch": 8},
}
MODEL = {"width": 11, "hidden": STATES, "longest": 5}
NAMES = ("cosine", "dot", "general3", "scaled_dot", "t_trilinear", "trilinear")
O_1 = "trilinear"  # this one there is twice


def make_system(root: Path, mechanism: str, similarity: str) -> None:
    """In `root` an untrained reader `squad-<mechanism>-<similarity>`, with the encoder if that is not there."""
    torch.manual_seed(17)
    if not (root / "encoders" / "minilm-en").is_dir():
        make_encoder("minilm-en", root / "encoders" / "minilm-en")
    model = MODEL | {"mechanism": mechanism, "similarity": similarity}
    config = ReaderCheckpoint.model_validate(CONFIG | {"model": model})
    name = f"squad-{mechanism}-{similarity.replace('_', '-')}"
    bundle.save(root / name, config, kind_of(config).model(config, HIDDEN))


def make_checkpoints(root: Path, names: tuple[str, ...] = NAMES) -> Path:
    """`root` with the English encoder and a reader of each function in O_2, `squad-general3`; and one in O_1."""
    torch.manual_seed(17)
    make_encoder("minilm-en", root / "encoders" / "minilm-en")
    for number, (name, output) in enumerate([*((name, "O_2") for name in names), *[(O_1, "O_1")] * bool(names)]):
        folder = root / f"squad-{name.replace('_', '-')}{'-o1' if output == 'O_1' else ''}"
        config = ReaderCheckpoint.model_validate(CONFIG | {"model": MODEL | {"similarity": name, "output": output}})
        bundle.save(folder, config, kind_of(config).model(config, HIDDEN))
        score = {"set": "squad1.1/dev", "em": 40.0 + number, "f1": 50.0 + number, "n": 10_570}
        seeds = [{"seed": seed, "dev": score, "test": score | {"em": score["em"] + seed / 7}} for seed in (1, 2, 3)]
        history = [{"step": step, "dev_loss": 9 - number / 3 - step / 50, "dev_accuracy": 0.3} for step in (50, 100)]
        metrics = {"dev": score, "test": score, "seed": 1, "each_seed": seeds, "history": history, "seconds": 1}
        (folder / "metrics.json").write_text(json.dumps(metrics), "utf-8")
    return root
