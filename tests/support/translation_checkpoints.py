"""Untrained translation models, with MTSA and with multi-head attention, and a vocabulary learnt on the spot."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import torch

from triattn_core.checkpoint import bundle
from triattn_core.configs.translation import TranslationCheckpoint
from triattn_core.kinds import kind_of
from triattn_core.models.coin import TOKENIZER
from triattn_core.tasks import translation
from triattn_core.text.sub_words import SubWords, learn_sub_words

MODEL = {"out": 16, "heads": 4, "layers": 2, "feed_forward": 16}
CONFIG = {
    "format": 1,
    "kind": "translation",
    "task": "translation",
    "language": "en",
    "target_language": "de",
    "max_tokens": 40,
    "data": {"train": ["a/train"], "dev": "a/dev", "test": "a/test"},
    "training": {"epochs": 1, "rate": 0.01, "batch": 8},
}
MECHANISMS = {
    "translation-mtsa": {"mechanism": "mtsa", "scale_t": "identity"},
    "translation-multi-head": {"mechanism": "multi_head"},
}
RELIANCE = {
    "n": 90, "set": "a/dev", "metric": "bleu", "score": 30.0,
    "reliance": {
        "even": {"points": 12.25, "p": 0.001, "low": 10.0, "high": 14.5},
        "even_cross-attention": {"points": 25.5, "p": 0.001, "low": 24.0, "high": 27.0},
    },
}  # fmt: skip
ALIGNED = {
    "n": 70, "set": "gold/en-de",
    "heads": [
        {"layer": layer, "head": head, "aer": 50.0 + layer + (head or 0), "less_diagonal": [-16.5, -20.0, -12.25]}
        for layer in range(2)
        for head in (0, 1, 2, 3, None)
    ],
    "baselines": {"diagonal": 66.5, "even": 92.25, "gradients": 71.125},
}  # fmt: skip


def make_checkpoints(root: Path) -> Path:
    """`root` with a model of each kind of attention; that with MTSA has measures of its attention."""
    texts = [example.source for example in translation.examples()] + ["Der Hund schläft.", "Wo ist das Haus?"]
    for number, (name, model) in enumerate(MECHANISMS.items()):
        (root / name).mkdir(parents=True)
        vocabulary = root / name / TOKENIZER
        learn_sub_words(texts, 200).save(str(vocabulary))
        torch.manual_seed(number)
        digest = sha256(vocabulary.read_bytes()).hexdigest()
        config = TranslationCheckpoint.model_validate(CONFIG | {"model": MODEL | model, "encoder_digest": digest})
        bundle.save(root / name, config, kind_of(config).model(config, len(SubWords(vocabulary))))
        metrics = {"dev": {}, "test": {}} | (
            {"attention": RELIANCE, "word_alignment": ALIGNED} if name == "translation-mtsa" else {}
        )
        (root / name / "metrics.json").write_text(json.dumps(metrics), "utf-8")
    return root
