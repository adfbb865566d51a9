"""Training of a tagger on frozen word vectors; the best epoch on dev becomes the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from triattn_core.configs.tagger import TaggerCheckpoint
from triattn_core.inference.tag_decoding import best_tags
from triattn_core.kinds import kind_of
from triattn_core.models.encoders import load_encoder
from triattn_core.tasks import roles
from triattn_core.tasks.predicate_words import FILE, count_words, counts_text
from triattn_core.text.atomic_write import write_whole
from triattn_core.text.bio_tags import bio_tags
from triattn_core.training import batching
from triattn_core.training.best_checkpoint import best_job, save_best
from triattn_core.training.loop import Event, Job, fit, one_at_a_time
from triattn_core.training.tagger.rows import IGNORED, TaggedRows, tagged_rows


def train_tagger(
    config: TaggerCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights and config.json to `folder`."""
    run = runs / folder.name
    encoder, tokenizer = load_encoder(config.encoder, str(accelerator.device))
    kind = kind_of(config)
    words = cast(Any, kind.frozen(config, encoder))
    config = config.model_copy(update={"encoder_digest": words.digest})
    with one_at_a_time(accelerator, runs):
        train = tagged_rows(config.data.train, config, words, tokenizer, data, runs)
        dev = tagged_rows([config.data.dev], config, words, tokenizer, data, runs)
    torch.manual_seed(config.training.seed)
    job = _job(kind.model(config, words.hidden), config, train, dev, run, accelerator)
    yield from fit(job, run, accelerator, save_every=200, resume=resume)
    if accelerator.is_main_process:
        save_best(run, folder, config, kind.model(config, words.hidden))
        write_whole(folder / FILE, counts_text(count_words(cast(Any, train.examples))))


def _job(
    model: nn.Module, config: TaggerCheckpoint, train: TaggedRows, dev: TaggedRows, run: Path, accelerator: Accelerator
) -> Job:
    training, epochs = config.training, batching.Epochs(train.lengths, config.training)

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        rows = batching.share(epochs.rows(step), accelerator.process_index, accelerator.num_processes)
        states, tags = train.batch(rows, accelerator.device)
        scores = module(states)
        return tag_loss(scores, tags, training.smoothing), {}

    on_dev = partial(evaluate, rows=dev, labels=config.labels, device=accelerator.device)
    return best_job(config, model, epochs.steps, epochs.ends, loss, on_dev, run, accelerator)


def tag_loss(scores: Tensor, tags: Tensor, smoothing: float = 0.0, reduction: str = "mean") -> Tensor:
    """Cross-entropy per word; scores [B, n, T], tags [B, n] with IGNORED at padding."""
    return cross_entropy(
        scores.flatten(0, 1), tags.flatten(), ignore_index=IGNORED, label_smoothing=smoothing, reduction=reduction
    )


@torch.no_grad()
def evaluate(module: nn.Module, rows: TaggedRows, labels: tuple[str, ...], device: str | torch.device) -> dict:
    """Mean loss per word and scores of arguments over rows with tags."""
    module.eval()
    names, total, words, verdicts = bio_tags(labels), 0.0, 0, []
    for batch_rows in batching.batches(rows.lengths, 64, seed=0, epoch=0, window=500):
        states, tags = rows.batch(batch_rows, device)
        scores = module(states)
        total += tag_loss(scores, tags, reduction="sum").item()
        words += int(states.keep.sum())
        for row, numbers in zip(batch_rows, best_tags(scores, states.keep).tolist()):
            example = cast(Any, rows.examples[row])
            verdicts.append(roles.compare(example, [names[i] for i in numbers[: len(example.words)]]))
    scored = roles.metrics(verdicts)
    return {"dev_loss": round(total / words, 5), **{f"dev_{name}": score for name, score in scored.items()}}
