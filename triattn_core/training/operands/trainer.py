"""Training of a model of operands; its last weights become the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn

from triattn_core.checkpoint.bundle import save
from triattn_core.inference.number_batch import NumberBatch, example_batch
from triattn_core.models.operands import OperandsCheckpoint, OperandsModel
from triattn_core.training.batching import batches
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
    torch.manual_seed(config.training.seed)
    job = operands_job(OperandsModel(config.model), config, data, accelerator)
    yield from fit(job, runs / folder.name, accelerator, save_every=1000, resume=resume)
    if accelerator.is_main_process:
        save(folder, config, accelerator.unwrap_model(job.module).cpu())


def operands_job(model: nn.Module, config: OperandsCheckpoint, data: Path, accelerator: Accelerator) -> Job:
    """The run of a config: `epochs` passes over the training steps, in an order that follows from the seed."""
    training, parts = config.training, operands_splits(config, data)
    ((name, indices),) = parts.train.items()
    examples = [parts.sets[name][i] for i in indices]
    rows, operands = example_batch(examples), operands_of(examples)
    pool, lengths = rows.values[rows.keep & (rows.kinds != WORD)], rows.keep.sum(1).numpy()
    dev = example_batch(parts.examples("dev"))
    steps_per_epoch = -(-len(examples) // training.batch)
    steps = training.epochs * steps_per_epoch
    orders: dict[int, list[np.ndarray]] = {}  # of one epoch at a time

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        epoch, place = divmod(step, steps_per_epoch)
        if epoch not in orders:
            orders.clear()
            orders[epoch] = batches(lengths, training.batch, training.seed, epoch, window=10)
        chosen = torch.from_numpy(orders[epoch][place])
        batch = redraw(rows.take(chosen), operands.take(chosen), pool, training.redrawn)
        wanted = batch.truth if training.told == "pair" else fitting_cells(batch)
        batch, wanted = batch.to(accelerator.device), wanted.to(accelerator.device)
        return pointer_loss(accelerator.unwrap_model(module), batch, wanted), {}

    return Job(
        module=model,
        steps=steps,
        seed=training.seed,
        rate=lambda step: training.rate * min((step + 1) / WARM, (steps - step) / steps),
        loss=loss,
        measure=lambda module, step: measure_dev(module, dev.to(accelerator.device)),
        milestones=frozenset(round(steps * part / MEASURED) for part in range(1, MEASURED + 1)),
        weight_decay=training.weight_decay,
        recipe=recipe_of(config),
    )


def pointer_loss(model: OperandsModel, batch: NumberBatch, wanted: Tensor) -> Tensor:
    """-log of the weight on the wanted cells [B, n, n], mean over the rows that have one."""
    weight = (model.cells(batch) * wanted).sum((1, 2))
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
def measure_dev(module: nn.Module, dev: NumberBatch) -> dict[str, float]:
    """Loss, the share of right pairs and the weight on them."""
    module.eval()
    cells = cast(OperandsModel, module).cells(dev)
    weight = (cells * dev.truth).sum((1, 2))
    best = (cells + cells.mT).flatten(1).argmax(1, keepdim=True)
    right = dev.truth.flatten(1).gather(1, best).float().mean()
    values = (-(weight + SMALLEST).log().mean(), right, weight.mean())
    return {name: round(float(v), 5) for name, v in zip(("dev_loss", "dev_accuracy", "dev_mass"), values)}
