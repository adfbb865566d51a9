"""Training as somebody adds it: the cross-entropy of each token's tag; the best epoch on dev is the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from triattn_core.models.word_tagger import LabellerCheckpoint

from triattn_core.inference.batch import collate
from triattn_core.kinds import kind_of
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import word_classes as task
from triattn_core.text.rows import rows_file
from triattn_core.training import batching
from triattn_core.training.best_checkpoint import measured, save_best
from triattn_core.training.loop import Event, Job, fit, recipe_of
from triattn_core.training.tokenize_rows import tokenize_rows

NO_TOKEN = -100  # the target of padding


def train_labeller(
    config: LabellerCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights and config.json to `folder`."""
    run, kind = runs / folder.name, kind_of(config)
    encoder, tokenizer = load_encoder(config.encoder, str(accelerator.device))
    words = kind.frozen(config, encoder)
    config = config.model_copy(update={"encoder_digest": words.digest})

    def rows_of(name: str) -> tuple[list, list[list[int]]]:
        examples = list(task.read(rows_file(data, name)))
        texts = [text for (text,) in tokenize_rows(task, examples, tokenizer, config.limits, rows_file(data, name))]
        tags = [
            [task.TAGS.index(e.tag_at(start)) for start, _ in t.roles["text"].spans] for e, t in zip(examples, texts)
        ]
        return texts, tags

    (train_texts, train_tags), (dev_texts, dev_tags) = map(rows_of, (config.data.train[0], config.data.dev))
    torch.manual_seed(config.training.seed)
    epochs = batching.Epochs(np.array([text.length for text in train_texts]), config.training)

    def scored(module: nn.Module, texts: Sequence, tags: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        batch = collate(texts, tokenizer).to(accelerator.device)
        width = max(map(len, tags))
        targets = torch.tensor([[*row, *[NO_TOKEN] * (width - len(row))] for row in tags], device=accelerator.device)
        return module(words(batch)).flatten(0, 1), targets.flatten()

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        rows = epochs.rows(step)
        scores, targets = scored(module, [train_texts[i] for i in rows], [train_tags[i] for i in rows])
        return cross_entropy(scores, targets, ignore_index=NO_TOKEN), {}

    @torch.no_grad()
    def evaluate(module: nn.Module) -> dict[str, float]:
        module.eval()
        scores, targets = scored(module, dev_texts, dev_tags)
        real = targets != NO_TOKEN
        return {
            "dev_loss": cross_entropy(scores[real], targets[real]).item(),
            "dev_accuracy": (scores[real].argmax(-1) == targets[real]).float().mean().item(),
        }

    job = Job(
        module=kind.model(config, words.hidden),
        steps=epochs.steps,
        seed=config.training.seed,
        rate=batching.schedule(config.training, epochs.steps),
        loss=loss,
        measure=measured(evaluate, run, accelerator),
        milestones=epochs.ends,
        recipe=recipe_of(config),
    )
    yield from fit(job, run, accelerator, save_every=200, resume=resume)
    save_best(run, folder, config, kind.model(config, words.hidden))
