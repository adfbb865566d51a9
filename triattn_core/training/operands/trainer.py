"""Training of a model of operands; its last weights become the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from triattn_core.checkpoint.bundle import save
from triattn_core.configs.operands import OperandsCheckpoint, OperandsTraining
from triattn_core.inference.number_batch import NumberBatch, example_batch
from triattn_core.models.operands import OperandsModel
from triattn_core.models.word_states import WordStates, load_word_states
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.batching import Epochs
from triattn_core.training.loop import Event, Job, fit, recipe_of
from triattn_core.training.operands.redraw import WORD, operands_of, redraw
from triattn_core.training.operands.splits import operands_splits

MEASURED = 10  # times that dev is measured
WARM = 100  # steps of the warm-up; a linear decay follows
SMALLEST = 1e-9  # probability that the logarithm sees


def train_operands(
    config: OperandsCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights and config.json to `folder`."""
    words, tokenizer = load_word_states(config.encoder, str(accelerator.device)) if config.encoder else (None, None)
    if words is not None:
        config = config.model_copy(update={"encoder_digest": words.digest})
    torch.manual_seed(config.training.seed)
    model = OperandsModel(config.model, words.hidden if words else 0)
    job = operands_job(model, config, data, accelerator, words, tokenizer)
    yield from fit(job, runs / folder.name, accelerator, save_every=1000, resume=resume)
    if accelerator.is_main_process:
        save(folder, config, accelerator.unwrap_model(job.module).cpu())


def operands_job(
    model: nn.Module,
    config: OperandsCheckpoint,
    data: Path,
    accelerator: Accelerator,
    words: WordStates | None = None,
    tokenizer: Tokenizer | None = None,
) -> Job:
    """The run of a config: `epochs` passes over the training steps, in an order that follows from the seed.

    words, tokenizer: of the frozen encoder, if one reads the words; each different window is encoded once, before.
    """
    training, parts = config.training, operands_splits(config, data)
    ((name, indices),) = parts.train.items()
    examples, dev_examples = [parts.sets[name][i] for i in indices], list(parts.examples("dev"))
    rows, operands = example_batch(examples, tokenizer), operands_of(examples)
    dev, dev_operations = example_batch(dev_examples, tokenizer), operands_of(dev_examples).operation
    table, rows, dev = (*words.indexed(rows), words(dev)) if words else (None, rows, dev)
    pool, lengths = rows.values[rows.keep & (rows.kinds != WORD)], rows.keep.sum(1).numpy()
    epochs = Epochs(lengths, training, window=10)
    steps = epochs.steps

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        chosen = torch.from_numpy(epochs.rows(step))
        batch = redraw(rows.take(chosen), operands.take(chosen), pool, training.redrawn)
        batch = batch if table is None else replace(batch, words=table[batch.words])
        net = cast(OperandsModel, accelerator.unwrap_model(module))
        pointed = step < training.pointed * steps
        return step_loss(net, batch, operands.operation[chosen], training, pointed, accelerator.device), {}

    return Job(
        module=model,
        steps=steps,
        seed=training.seed,
        rate=lambda step: training.rate * min((step + 1) / WARM, (steps - step) / steps),
        loss=loss,
        measure=lambda module, step: measure_dev(module, dev.to(accelerator.device), dev_operations),
        milestones=frozenset(round(steps * part / MEASURED) for part in range(1, MEASURED + 1)),
        weight_decay=training.weight_decay,
        recipe=recipe_of(config),
    )


def step_loss(
    net: OperandsModel,
    batch: NumberBatch,
    operations: Tensor,
    training: OperandsTraining,
    pointed: bool,
    device: torch.device,
) -> Tensor:
    """The loss of a batch, by what `training.told` says; pointed: the pair is told besides the operation [B]."""
    wanted = fitting_cells(batch) if training.told == "arithmetic" else batch.truth
    batch, wanted = batch.to(device), wanted.to(device)
    if training.told != "operation":
        return pointer_loss(net.cells(batch), wanted)
    cells, read = net.cells_and_operations(batch)
    answer = operation_loss(read, operations.to(read.device))
    return answer + pointer_loss(cells, wanted) if pointed else answer


def operation_loss(read: Tensor, operations: Tensor) -> Tensor:
    """Cross-entropy of log-probabilities [B, operations], mean over the rows whose operation [B] is known (not -1)."""
    return nll_loss(read, operations, ignore_index=-1)


def pointer_loss(cells: Tensor, wanted: Tensor) -> Tensor:
    """-log of the weight of cells [B, n, n] that are wanted [B, n, n], mean over the rows that have one."""
    weight = (cells * wanted).sum((1, 2))
    return -(weight[wanted.any(2).any(1)] + SMALLEST).log().mean()


def fitting_cells(batch: NumberBatch) -> Tensor:
    """The pairs of two positions that make the number by one of the four operations [B, n, n], as `gsm8k.makes`."""
    left, right, result = batch.values[:, :, None], batch.values[:, None, :], batch.results[:, None, None]
    tolerance = 0.01 * result.abs().clamp(1e-9, 1.0)
    quotient = left / right.where(right != 0, torch.nan)
    found = torch.zeros_like(batch.truth)
    for made in (left + right, left - right, left * right, quotient):
        found |= (made - result).abs() <= tolerance
    found |= found.mT.clone()  # in either order
    apart = ~torch.eye(found.shape[-1], dtype=torch.bool)
    return found & apart & batch.keep[:, :, None] & batch.keep[:, None, :]


@torch.inference_mode()
def measure_dev(module: nn.Module, dev: NumberBatch, operations: Tensor) -> dict[str, float]:
    """Loss, the share of right pairs and the weight on them; of operations [B] that are read rightly, if they are."""
    model = cast(OperandsModel, module.eval())
    reads = model.config.operation != "none"
    cells, read = model.cells_and_operations(dev) if reads else (model.cells(dev), None)
    weight = (cells * dev.truth).sum((1, 2))
    best = (cells + cells.mT).flatten(1).argmax(1, keepdim=True)
    right = dev.truth.flatten(1).gather(1, best).float().mean()
    values = (-(weight + SMALLEST).log().mean(), right, weight.mean())
    found = {name: round(float(v), 5) for name, v in zip(("dev_loss", "dev_accuracy", "dev_mass"), values)}
    if read is None:
        return found
    rightly = (read.argmax(-1).cpu() == operations).float().mean()
    return found | {"dev_operation": round(float(rightly), 5)}
