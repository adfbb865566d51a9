"""MiniLM as the start of specimens in Hugging Face's own format: most of it frozen, its last layers learn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
import transformers
from safetensors.torch import load_file

from triattn_core.checkpoint.registry import find_encoder

ENCODER = "minilm-en"
Model = TypeVar("Model", bound=transformers.BertPreTrainedModel)


def folder() -> Path:
    """Where the encoder is."""
    found = find_encoder(ENCODER)
    assert found, f"no encoder {ENCODER}"
    return found


def load_tokenizer() -> transformers.BertTokenizerFast:
    """The tokenizer of the encoder."""
    return transformers.BertTokenizerFast(tokenizer_file=str(folder() / "tokenizer.json"), model_max_length=512)


def load(kind: type[Model], learn: int, **settings: Any) -> Model:
    """A model of this class with MiniLM's weights and a new head; only the last layers and what follows them learn."""
    model = kind(transformers.BertConfig.from_pretrained(folder(), **settings))
    weights = {name: tensor.float() for name, tensor in load_file(folder() / "model.safetensors").items()}
    missing = model.bert.load_state_dict(weights, strict=False).missing_keys
    assert all(name.startswith("pooler") for name in missing), missing
    layers = model.bert.encoder.layer
    for part in (model.bert.embeddings, *layers[: len(layers) - learn]):
        part.requires_grad_(False)
    return model


def train(model: transformers.BertPreTrainedModel, batches: Sequence[dict], rate: float) -> None:
    """One epoch over batches of inputs with what is right; prints the mean loss of each 50."""
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=len(batches), pct_start=0.1)
    model.train()
    losses = []
    for number, batch in enumerate(batches, 1):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if number % 50 == 0:
            print(f"{number} of {len(batches)} batches, loss {sum(losses[-50:]) / 50:.2f}", flush=True)
    model.eval()
