"""Untrained COINs, each with its own words: those of the project's pairs."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import torch

from triattn_core.checkpoint import bundle
from triattn_core.configs.coin import CoinCheckpoint
from triattn_core.kinds import kind_of
from triattn_core.models.coin import TOKENIZER, load_words
from triattn_core.tasks import pairs
from triattn_core.text.characters import TOKENIZERS

MODEL = {"embedding": 7, "hidden": 10, "heads": 5}
WIDTH = MODEL["embedding"] + MODEL["hidden"]
LEFT_OUT = {"context": False, "fusion": "simple", "aggregation": False, "pooling": "max", "heads": 1}
NAMES = {
    "quora-coin": ("en", "words", {"layers": 3}),
    "lcqmc-coin": ("zh", "characters", {"layers": 2}),
    "single-coin": ("en", "words", {"layers": 1}),
    "without-all-coin": ("en", "words", LEFT_OUT),
}


def make_checkpoints(root: Path, names: tuple[str, ...] = tuple(NAMES)) -> Path:
    """`root` with these checkpoints; `without-all-coin` has none of what the ablations leave out."""
    root.mkdir(parents=True, exist_ok=True)
    for name in names:
        make(root / name, *NAMES[name])
    return root


def make(folder: Path, language: str, tokens: str, settings: dict) -> None:
    """One checkpoint, of weights large enough to attend to something."""
    torch.manual_seed(11)
    folder.mkdir()
    texts = [text for example in pairs.examples(language) for text in (example.text_a, example.text_b)]
    TOKENIZERS[tokens](texts, 1).save(str(folder / TOKENIZER))
    plan = {"format": 1, "kind": "coin", "task": "pairs", "language": language, "max_tokens": 50}
    plan |= {"vocabulary": {"tokens": tokens, "least": 1}, "model": MODEL | settings}
    data = folder.name.partition("-")[0]
    plan |= {"data": {"train": [f"{data}/train"], "dev": f"{data}/dev", "test": f"{data}/test"}}
    plan |= {"training": {"epochs": 1, "rate": 0.01, "batch": 8}}
    plan |= {"encoder_digest": sha256((folder / TOKENIZER).read_bytes()).hexdigest()}
    config = CoinCheckpoint.model_validate(plan)
    model = kind_of(config).model(config, load_words(folder)[0].hidden)
    for parameter in model.parameters():
        parameter.data *= 1.5
    torch.nn.init.normal_(model.embed.weight)
    bundle.save(folder, config, model)
    (folder / "metrics.json").write_text(json.dumps({"dev": {}, "test": {}}), "utf-8")
