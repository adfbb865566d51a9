"""Training of a TAN's heads on frozen features; the best epoch on dev becomes the checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn

from triattn_core.attention import MECHANISMS
from triattn_core.configs.parts import CheckpointConfig, Data, SentenceData
from triattn_core.configs.tan import TanCheckpoint
from triattn_core.errors import ConfigError, DataError
from triattn_core.kinds import kind_of
from triattn_core.models import answers
from triattn_core.models.encoder import Encoder
from triattn_core.models.encoders import load_encoder
from triattn_core.models.separate_encoder import ApartEncoder
from triattn_core.tasks import TASKS, pairs
from triattn_core.text.rows import matches, rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import batching
from triattn_core.training.best_checkpoint import best_job, save_best
from triattn_core.training.coin.pair_rows import PairRows
from triattn_core.training.loop import Event, Job, fit, one_at_a_time
from triattn_core.training.overlap_balance import balance_labels, token_overlap
from triattn_core.training.sentence.features import TextFeatures
from triattn_core.training.tan.features import Features, encode
from triattn_core.training.tokenize_rows import tokenize_rows

AnyFeatures = Features | TextFeatures | PairRows
WINDOW = 512  # examples that are tokenized at once


def train_tan(
    config: TanCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights and config.json to `folder`."""
    run = runs / folder.name
    encoder, tokenizer = load_encoder(config.encoder, str(accelerator.device))
    reader = cast(Encoder | ApartEncoder, kind_of(config).frozen(config, encoder))
    config = config.model_copy(update={"encoder_digest": encoder.digest})  # of the encoder on disk
    names = (*config.data.train, config.data.dev)
    with one_at_a_time(accelerator, runs):
        sets = {name: _features(name, config, reader, tokenizer, data, runs) for name in dict.fromkeys(names)}
    yield from fit_best(config, encoder.hidden, sets, folder, run, resume, accelerator)


def fit_best(
    config: CheckpointConfig,
    hidden: int,
    sets: Mapping[Any, AnyFeatures],
    folder: Path,
    run: Path,
    resume: bool,
    accelerator: Accelerator,
    prepare: Callable[[nn.Module], None] = lambda model: None,
) -> Iterator[Event]:
    """Train a new model of any kind on features; the best on dev is written to `folder`.

    sets: the features of `config.data.train`, each read once per epoch (several may be combined under the first name),
    and of `config.data.dev`, under the name None if dev is not a named set.  prepare: sets start weights.
    """
    torch.manual_seed(config.training.seed)
    new = kind_of(config).model(config, hidden)
    prepare(new)
    job = make_job(new, config, sets, run, accelerator)
    yield from fit(job, run, accelerator, save_every=200, resume=resume)
    if accelerator.is_main_process:
        save_best(run, folder, config, kind_of(config).model(config, hidden))


def _features(
    name: str, config: TanCheckpoint, encoder: Encoder | ApartEncoder, tokenizer: Tokenizer, data: Path, runs: Path
) -> Features:
    task, file = TASKS[config.task], rows_file(data, name)
    training = name in config.data.train
    rows = hashlib.sha256(file.read_bytes()).hexdigest()[:8]  # part of the cache key
    half = training and config.training.precision == "bf16"  # dev is measured as it will be used
    where = map("-".join, config.data.where.items())
    parts = [name.replace("/", "-"), rows, config.max_tokens, *(config.cells or ()), *where]
    if isinstance(encoder, ApartEncoder):
        parts += ["apart", *encoder.layers, *["special"] * encoder.attend_special]
    parts += ["bf16"] * half
    parts += ["training", f"{config.data.even or 0:g}", config.data.every] * training
    folder = runs / "features" / encoder.digest[:12] / "-".join(map(str, parts))
    if (folder / "about.json").is_file():
        return Features(folder)
    matching = (example for example in task.read(file, training) if matches(vars(example), config.data.where))
    examples = [example for example in matching if example.label is not None]
    if not examples:
        condition = "".join(f" with {name} {value!r}" for name, value in config.data.where.items())
        raise DataError(f"{file}: no row{condition} has a label: nothing to train on")
    if training:
        examples = select_examples(examples, config.data, tokenizer, config.max_tokens)
    chunks = (examples[start : start + WINDOW] for start in range(0, len(examples), WINDOW))
    windows = (
        (tokenize_rows(task, part, tokenizer, config.limits, file), [example.label for example in part])
        for part in chunks
    )
    return encode(folder, encoder, tokenizer, windows, len(examples), half)


def select_examples(examples: list, data: Data, tokenizer: Tokenizer, limit: int) -> list:
    """The training examples selected by the config's `even` and `every`."""
    if data.even and not isinstance(examples[0], pairs.Example):
        raise ConfigError("data.even is for pairs of sentences: take it out")
    if data.even:
        a, b = (
            tokenizer.encode([getattr(example, text) for example in examples], limit) for text in ("text_a", "text_b")
        )
        overlaps = [token_overlap(left.ids, right.ids) for left, right in zip(a, b)]
        balanced = balance_labels(overlaps, [example.label for example in examples], data.even, seed=1)
        examples = [examples[i] for i in balanced]
    selected = examples[:: data.every]
    if (
        len({example.label for example in selected}) == 1 < len({example.label for example in examples})
    ):  # labels alternate
        raise ConfigError(f"data.every {data.every} leaves rows of one label alone: take another number")
    return selected


def make_job(
    model: nn.Module, config: CheckpointConfig, sets: Mapping[Any, AnyFeatures], run: Path, accelerator: Accelerator
) -> Job:
    """The job that trains a model on features as its config says, and measures it on dev."""
    reads_own = getattr(MECHANISMS.get(config.model.mechanism), "reads", None) == "own"
    data = cast(Data | SentenceData, config.data)
    training, train_names = config.training, [name for name in data.train if name in sets]
    block_loss = getattr(config.model, "block_loss", 0.0)
    weight = None
    if getattr(training, "balanced", False):
        weight = balance(np.concatenate([sets[name].labels for name in train_names])).to(accelerator.device)
    steps: list[tuple[str, np.ndarray]] = []
    ends = set()
    for epoch in range(training.epochs):
        for number, name in enumerate(train_names):
            batches = batching.batches(sets[name].lengths, training.batch, training.seed + number, epoch, window=500)
            steps += [(name, rows) for rows in batches]
        ends.add(len(steps))

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        name, rows = steps[step]
        own_rows = batching.share(rows, accelerator.process_index, accelerator.num_processes)
        encoded, counts, labels = sets[name].batch(np.sort(own_rows), accelerator.device, reads_own)
        blocks = module(encoded, each_block=True) if block_loss else [module(encoded)]
        *early, last = (answers.loss(block, counts, labels, weight=weight) for block in blocks)
        return last + block_loss * sum(early), {}

    on_dev = partial(evaluate, features=sets[data.dev], device=accelerator.device)
    return best_job(config, model, len(steps), ends, loss, on_dev, run, accelerator)


def balance(labels: np.ndarray) -> Tensor:
    """Label weights that give all labels equal total weight, with a mean of one over rows."""
    counts = np.bincount(labels)
    return torch.tensor(counts.sum() / (len(counts) * counts.clip(min=1)), dtype=torch.float32)


@torch.no_grad()
def evaluate(module: nn.Module, features: AnyFeatures, device: str | torch.device) -> dict[str, float]:
    """Mean loss and accuracy over a set of features."""
    module.eval()
    right = total_loss = 0.0
    for rows in batching.batches(features.lengths, 128, seed=0, epoch=0, window=500):
        encoded, counts, labels = features.batch(rows, device)
        outputs = module(encoded)
        total_loss += answers.loss(outputs, counts, labels, reduction="sum").item()
        right += (answers.scores(outputs, counts).argmax(-1) == labels).sum().item()
    return {"dev_loss": round(total_loss / len(features), 5), "dev_accuracy": right / len(features)}
