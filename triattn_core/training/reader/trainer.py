"""Training of a reader on frozen word vectors; the epoch whose averaged weights are best on dev is the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import cast

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from triattn_core.configs.reader import ReaderCheckpoint
from triattn_core.inference.predictions import Span
from triattn_core.inference.span_decoding import best_spans
from triattn_core.kinds import kind_of
from triattn_core.models.encoders import load_encoder
from triattn_core.models.word_vectors import WordVectors
from triattn_core.tasks import questions as task
from triattn_core.training import batching
from triattn_core.training.best_checkpoint import best_job, save_best
from triattn_core.training.ema import AveragedModel
from triattn_core.training.loop import Event, Job, fit, one_at_a_time
from triattn_core.training.reader.data import question_features, reader_splits, select_rows, unfit_notes
from triattn_core.training.reader.features import QuestionFeatures


def train_reader(
    config: ReaderCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights and config.json to `folder`."""
    run = runs / folder.name
    encoder, tokenizer = load_encoder(config.encoder, str(accelerator.device))
    words = cast(WordVectors, kind_of(config).frozen(config, encoder))
    config = config.model_copy(update={"encoder_digest": words.digest})
    parts = reader_splits(config, data)
    names = dict.fromkeys((*parts.train, parts.dev[0]))
    with one_at_a_time(accelerator, runs):
        sets = {name: question_features(name, parts.sets[name], config, words, tokenizer, data, runs) for name in names}
    train_sets = {name: select_rows(name, sets, rows, config) for name, rows in parts.train.items()}
    dev_features = select_rows(parts.dev[0], sets, parts.dev[1], config)
    dev = Dev(dev_features, parts.sets[parts.dev[0]], config.model.longest)
    if accelerator.is_main_process:
        notes = (*parts.notes.items(), *unfit_notes(parts, train_sets, dev_features))
        yield from (Event("note", 0, 0, {name: text}) for name, text in notes)
    torch.manual_seed(config.training.seed)
    module = AveragedModel(kind_of(config).model(config, words.hidden))
    yield from fit(
        _job(module, config, train_sets, dev, run, accelerator), run, accelerator, save_every=200, resume=resume
    )
    if accelerator.is_main_process:
        save_best(run, folder, config, kind_of(config).model(config, words.hidden))


class Dev:
    """Exact match and F1 of a module over features, each in the window with its answer."""

    def __init__(self, features: QuestionFeatures, examples: Sequence, longest: int):
        self.features, self.longest = features, longest
        self.examples = [examples[i] for i in features.examples]

    @torch.no_grad()
    def __call__(self, module: nn.Module, device: str | torch.device) -> dict[str, float]:
        """Metrics on dev; `dev_accuracy`, the share of exact matches, selects the epoch."""
        module.eval()
        verdicts, total_loss = [], 0.0
        for rows in batching.batches(self.features.lengths, 128, seed=0, epoch=0, window=500):
            states, targets = self.features.batch(rows, device)
            scores = module(states)
            total_loss += loss(scores, targets).item() * len(rows)
            for row, word_scores, length in zip(rows.tolist(), scores.cpu(), states[0].keep.sum(1).tolist()):
                ((_, _, first, last),) = best_spans([word_scores[:length]], self.longest, 1)
                verdicts.append(task.verdict(self.examples[row], [Span(*self.features.span(row, first, last), 0, 0)]))
        right, shared = (fmean(column) for column in zip(*verdicts))
        return {"dev_loss": round(total_loss / len(verdicts), 5), "dev_accuracy": right, "dev_f1": round(shared, 5)}


def loss(scores: Tensor, targets: Tensor) -> Tensor:
    """The cross-entropy of the start plus that of the end: scores [B, M, 2], targets [B, 2]."""
    return cross_entropy(scores[..., 0], targets[:, 0]) + cross_entropy(scores[..., 1], targets[:, 1])


def _schedule(
    config: ReaderCheckpoint, sets: Mapping[str, QuestionFeatures]
) -> tuple[list[tuple[str, np.ndarray]], set[int]]:
    """The set and the rows of each step, the sets mixed within an epoch; and the step counts at the ends of epochs."""
    training, ends = config.training, set()
    steps: list[tuple[str, np.ndarray]] = []
    for epoch in range(training.epochs):
        epoch_batches = [
            (name, rows)
            for number, name in enumerate(config.data.train)
            for rows in batching.batches(sets[name].lengths, training.batch, training.seed + number, epoch)
        ]
        order = np.random.default_rng((training.seed, epoch)).permutation(len(epoch_batches))
        steps += [epoch_batches[i] for i in order]
        ends.add(len(steps))
    return steps, ends


def _job(
    module: AveragedModel,
    config: ReaderCheckpoint,
    sets: Mapping[str, QuestionFeatures],
    dev: Dev,
    run: Path,
    accelerator: Accelerator,
) -> Job:
    steps, ends = _schedule(config, sets)

    def of_step(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        name, rows = steps[step]
        own_rows = batching.share(rows, accelerator.process_index, accelerator.num_processes)
        states, targets = sets[name].batch(own_rows, accelerator.device)
        return loss(module(states), targets), {}

    def average(module: nn.Module, step: int) -> None:
        cast(AveragedModel, module).update(step, config.training.average)

    on_dev = partial(dev, device=accelerator.device)
    return best_job(config, module, len(steps), ends, of_step, on_dev, run, accelerator, "average", after=average)
