"""24 untrained checkpoints in two languages: the tokenizers are the real ones, all weights are small."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer

from triattn_core.checkpoint import bundle
from triattn_core.checkpoint.registry import encoder_root
from triattn_core.configs.tan import TanCheckpoint
from triattn_core.models.tan import Tan

HIDDEN, HEADS = 24, 2
LAYERS = {"additive": 2, "dot": 3, "scaled_dot": 3, "bilinear": 1}
SETS = {"quora": ("en", "minilm-en"), "lcqmc": ("zh", "characters-zh")}


def make_encoder(name: str, folder: Path) -> None:
    """A small BERT with random weights under one of our tokenizers; without it the test is left out."""
    source = encoder_root() / name / "tokenizer.json"
    if not source.is_file():
        pytest.skip(f"no tokenizer of {name}: copy the folder checkpoints/")
    folder.mkdir(parents=True)
    shutil.copy(source, folder)
    size = Tokenizer.from_file(str(source)).get_vocab_size()
    sizes = {"hidden_size": HIDDEN, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": 48}
    config = transformers.BertConfig(vocab_size=size, max_position_embeddings=160, **sizes)
    transformers.BertModel(config).half().save_pretrained(folder)
    (folder / "metrics.json").write_text(json.dumps({"start": "nothing", "start_had_seen": []}), "utf-8")


def make_checkpoints(root: Path) -> Path:
    """`root` with the encoders and a checkpoint for each set, mechanism and similarity: `lcqmc-tri-scaled-dot`."""
    torch.manual_seed(7)
    for _, encoder in SETS.values():
        make_encoder(encoder, root / "encoders" / encoder)
    for number, (data, mechanism, similarity) in enumerate(product(SETS, ("bi", "cbi", "tri"), LAYERS)):
        folder = root / f"{data}-{mechanism}-{similarity.replace('_', '-')}"
        config = TanCheckpoint.model_validate(config_dict(data, mechanism, similarity))
        bundle.save(folder, config, Tan(config.model, HIDDEN))
        score = {"accuracy": 70 + number / 2, "f1": 60.0, "n": 12500, "majority": 50.0}
        (folder / "metrics.json").write_text(json.dumps({"dev": score, "test": score, "parameters": 9}), "utf-8")
    return root


def config_dict(data: str, mechanism: str, similarity: str) -> dict:
    """The config of one of them."""
    language, encoder = SETS[data]
    model = {"mechanism": mechanism, "similarity": similarity, "layers": LAYERS[similarity], "heads": HEADS}
    return {
        "format": 1,
        "kind": "tan",
        "task": "pairs",
        "language": language,
        "encoder": encoder,
        "model": model,
        "data": {"train": [f"{data}/train"], "dev": f"{data}/dev", "test": f"{data}/test"},
        "training": {"epochs": 1, "rate": 1e-3, "batch": 8},
    }
