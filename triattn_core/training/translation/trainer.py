"""Training of a translation model; the best epoch on dev, by BLEU of greedy translations, becomes the checkpoint."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from triattn_core.configs.translation import TranslationCheckpoint
from triattn_core.inference.translate import translate
from triattn_core.kinds import kind_of
from triattn_core.models.coin import TOKENIZER
from triattn_core.tasks import translation
from triattn_core.tasks.training_words import FILE, count_sources, sources_text
from triattn_core.text.atomic_write import write_whole
from triattn_core.text.sub_words import SubWords
from triattn_core.training import batching
from triattn_core.training.best_checkpoint import best_job, save_best
from triattn_core.training.loop import Event, Job, fit, one_at_a_time
from triattn_core.training.translation.translated_rows import IGNORED, TranslatedRows, learnt_sub_words, translated_rows


def train_translation(
    config: TranslationCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights, config.json and tokenizer.json to `folder`.

    Raises InputError, before anything is trained, where BLEU cannot be measured.
    """
    translation.require_bleu()
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
        save_best(run, folder, config, kind.model(config, len(sub_words)))
        shutil.copyfile(vocabulary, folder / TOKENIZER)
        write_whole(folder / FILE, sources_text(count_sources(example.source for example in train.examples)))


def _job(
    model: nn.Module,
    config: TranslationCheckpoint,
    train: TranslatedRows,
    dev: TranslatedRows,
    run: Path,
    accelerator: Accelerator,
) -> Job:
    training, epochs = config.training, batching.Epochs(train.lengths, config.training)

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        rows = batching.share(epochs.rows(step), accelerator.process_index, accelerator.num_processes)
        source, target, labels = train.batch(rows)
        scores = module(source.to(accelerator.device), target.to(accelerator.device))
        return next_loss(scores, labels.to(accelerator.device), training.smoothing), {}

    on_dev = partial(evaluate, rows=dev, device=accelerator.device)
    return best_job(config, model, epochs.steps, epochs.ends, loss, on_dev, run, accelerator)


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
