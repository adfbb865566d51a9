"""A whole small world made on the spot: tokenizer, encoder, rows and configs, so that loading and training are real."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from triattn_core.checkpoint.bundle import save
from triattn_core.configs.tan import TanCheckpoint
from triattn_core.models.tan import Tan
from triattn_core.tasks import TASKS

WORDS = "who what where play watch download movie film browser car red blue is the a not big small ? 电 影 看".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
HIDDEN, HEADS = 24, 2


def make_encoder(folder: Path, seed: int = 5, words: Sequence[str] = WORDS) -> None:
    """A 2-layer BERT with random weights and a word-piece tokenizer, as `save_pretrained` writes them."""
    folder.mkdir(parents=True)
    vocabulary = {word: i for i, word in enumerate([*SPECIAL, *words, "##s", "##er"])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(seed)
    sizes = {"hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": 48}
    config = transformers.BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **sizes)
    transformers.BertModel(config).half().save_pretrained(folder)


def make_rows(path: Path, count: int, seed: int) -> None:
    """Pairs with label 1 where the sentences share their first word."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            a, b = (draw.choices(WORDS[:-3], k=draw.randint(2, 7)) for _ in range(2))
            if number % 2:
                b[0] = a[0]
            row = {"id": str(number), "text_a": " ".join(a), "text_b": " ".join(b), "label": int(a[0] == b[0])}
            file.write(json.dumps(row) + "\n")


def make_world(root: Path, mechanisms: tuple[str, ...] = ("bi", "cbi", "tri")) -> Path:
    """`root/checkpoints` with an encoder and a config a mechanism; `root/data/small/{train,dev,test}.jsonl`."""
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    metrics = {"start": "nothing", "start_had_seen": []}
    (root / "checkpoints" / "encoders" / "tiny" / "metrics.json").write_text(json.dumps(metrics), "utf-8")
    for split, count, seed in (("train", 48, 1), ("dev", 20, 2), ("test", 22, 3)):
        make_rows(root / "data" / "small" / f"{split}.jsonl", count, seed)
    for mechanism in mechanisms:
        folder = root / "checkpoints" / f"small-{mechanism}"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(config(mechanism)), "utf-8")
    return root


def make_checkpoint(root: Path, name: str, mechanism: str, seed: int, **settings) -> Path:
    """A checkpoint in `root/checkpoints` whose weights are drawn, not trained: for what does not ask how good it is."""
    folder = root / "checkpoints" / name
    plan = TanCheckpoint.model_validate(config(mechanism) | settings)
    torch.manual_seed(seed)
    save(folder, plan, Tan(plan.model, HIDDEN, TASKS[plan.task].OUTPUTS))
    return folder


def change(folder: Path, **parts: dict) -> dict:
    """Changes settings in the parts of a config.json, such as `training={"epochs": 2}`; returns the whole."""
    stored_config = json.loads((folder / "config.json").read_text("utf-8"))
    for part, settings in parts.items():
        stored_config[part] |= settings
    (folder / "config.json").write_text(json.dumps(stored_config), "utf-8")
    return stored_config


def mark(path: Path, **marked: tuple[int, ...]) -> None:
    """Marks rows of a file by their numbers, such as `dup=(3, 4)`."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for name, numbers in marked.items():
        for number in numbers:
            rows[number][name] = 1
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def config(mechanism: str) -> dict:
    """The config of a small checkpoint."""
    return {
        "format": 1,
        "kind": "tan",
        "task": "pairs",
        "language": "en",
        "encoder": "tiny",
        "max_tokens": 16,
        "model": {"mechanism": mechanism, "similarity": "additive", "layers": 2, "heads": HEADS},
        "data": {"train": ["small/train"], "dev": "small/dev", "test": "small/test"},
        "training": {"epochs": 3, "rate": 3e-3, "batch": 8, "seed": 1},
    }
