"""Training of a translation model; the best epoch on dev, by BLEU of greedy translations, becomes the checkpoint."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from triattn_core.checkpoint.bundle import save
from triattn_core.inference.translate import translate
from triattn_core.kinds import kind_of
from triattn_core.models.coin import TOKENIZER
from triattn_core.models.tensors import read_tensors
from triattn_core.models.translation import TranslationCheckpoint
from triattn_core.tasks import translation
from triattn_core.text.sub_words import SubWords
from triattn_core.training import batching
from triattn_core.training.best_checkpoint import BEST, keep_best
from triattn_core.training.loop import Event, Job, fit, one_at_a_time, recipe_of
from triattn_core.training.translation.translated_rows import IGNORED, TranslatedRows, learnt_sub_words, translated_rows


def train_translation(
    config: TranslationCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights, config.json and tokenizer.json to `folder`."""
    run = runs / folder.name
    with one_at_a_time(accelerator, runs):
        vocabulary = learnt_sub_words(config, data, runs) / TOKENIZER
    sub_words = SubWords(vocabulary)
    config = config.model_copy(update={"encoder_digest": sha256(vocabulary.read_bytes()).hexdigest()})
    train = translated_rows(config.data.train, config, data, sub_words)
    dev = translated_rows([config.data.dev], config, data, sub_words)
    kind = kind_of(config)
    torch.manual_seed(config.training.seed)
    job = _job(kind.model(config, len(sub_words)), config, train, dev, run, accelerator)
    yield from fit(job, run, accelerator, save_every=100, resume=resume)
    if accelerator.is_main_process:
        model = kind.model(config, len(sub_words))
        model.load_state_dict({name: tensor.float() for name, tensor in read_tensors(run / BEST).items()})
        save(folder, config, model)
        shutil.copyfile(vocabulary, folder / TOKENIZER)


def _job(
    model: nn.Module,
    config: TranslationCheckpoint,
    train: TranslatedRows,
    dev: TranslatedRows,
    run: Path,
    accelerator: Accelerator,
) -> Job:
    training, lengths = config.training, train.lengths
    steps_per_epoch = -(-len(train) // training.batch)
    steps = training.epochs * steps_per_epoch
    orders: dict[int, list[np.ndarray]] = {}  # of one epoch at a time

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        epoch, place = divmod(step, steps_per_epoch)
        if epoch not in orders:
            orders.clear()
            orders[epoch] = batching.batches(lengths, training.batch, training.seed, epoch)
        rows = batching.share(orders[epoch][place], accelerator.process_index, accelerator.num_processes)
        source, target, labels = train.batch(rows)
        scores = module(source.to(accelerator.device), target.to(accelerator.device))
        return next_loss(scores, labels.to(accelerator.device), training.smoothing), {}

    def measure(module: nn.Module, step: int) -> dict:
        metrics = evaluate(module, dev, accelerator.device)
        if accelerator.is_main_process:
            keep_best(run, step, metrics, module.state_dict())
        return metrics

    return Job(
        module=model,
        steps=steps,
        seed=training.seed,
        rate=batching.schedule(training, steps),
        loss=loss,
        measure=measure,
        milestones=frozenset(range(steps_per_epoch, steps + 1, steps_per_epoch)),
        weight_decay=training.weight_decay,
        optimizer=training.optimizer,
        recipe=recipe_of(config),
    )


def next_loss(scores: Tensor, labels: Tensor, smoothing: float = 0.0, reduction: str = "mean") -> Tensor:
    """Cross-entropy per sub-word; scores [B, m, words], labels [B, m] with IGNORED at padding."""
    return cross_entropy(
        scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, label_smoothing=smoothing, reduction=reduction
    )


@torch.no_grad()
def evaluate(module: nn.Module, rows: TranslatedRows, device: str | torch.device) -> dict[str, float]:
    """Mean loss per sub-word, and BLEU of greedy translations."""
    module.eval()
    total, count, verdicts = 0.0, 0, []
    for batch_rows in batching.batches(rows.lengths, 64, seed=0, epoch=0, window=500):
        source, target, labels = rows.batch(batch_rows)
        total += next_loss(module(source.to(device), target.to(device)), labels.to(device), reduction="sum").item()
        count += int((labels != IGNORED).sum())
        found = translate(module, source.to(device), rows.sub_words, beams=1, alpha=0.0)
        for row, (best, *_) in zip(batch_rows, found):
            verdicts.append(translation.compare(rows.examples[row], rows.sub_words.decode(best.tokens)))
    return {"dev_loss": round(total / count, 5), "dev_bleu": translation.metrics(verdicts)["bleu"]}
