"""Training of a model of family stories; its last weights become the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from triattn_core.checkpoint.bundle import save
from triattn_core.configs.kinship import KinshipCheckpoint
from triattn_core.errors import DataError
from triattn_core.inference.story_batch import StoryBatch, stories
from triattn_core.models.kinship import KinshipModel
from triattn_core.tasks.kinship import family_stories
from triattn_core.text.rows import rows_file
from triattn_core.training.batching import Epochs
from triattn_core.training.loop import Event, Job, fit, recipe_of
from triattn_core.training.sentence.splits import Splits

MEASURED = 10  # times that dev is measured
WARM = 100  # steps of the warm-up; a linear decay follows


def kinship_splits(config: KinshipCheckpoint, folder: Path) -> Splits:
    """A share of the training stories, drawn from `split_seed`, is dev.  Raises DataError for a story without a
    relation."""
    data = config.data
    (name,) = data.train
    sets = {each: list(family_stories.read(rows_file(folder, each))) for each in (name, data.test) if each}
    if unknown := sum(example.label is None for example in sets[name]):
        raise DataError(f"{rows_file(folder, name)}: {unknown} stories have no relation to train on")
    order = np.random.default_rng(data.split_seed).permutation(len(sets[name]))
    held_out = max(1, round(data.dev_share * len(order)))
    test = (data.test, np.arange(len(sets[data.test]))) if data.test else None
    return Splits(sets, {name: np.sort(order[held_out:])}, (name, np.sort(order[:held_out])), test)


def train_kinship(
    config: KinshipCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights and config.json to `folder`."""
    torch.manual_seed(config.training.seed)
    job = kinship_job(KinshipModel(config.model), config, data, accelerator)
    yield from fit(job, runs / folder.name, accelerator, save_every=1000, resume=resume)
    if accelerator.is_main_process:
        save(folder, config, accelerator.unwrap_model(job.module).cpu())


def kinship_job(model: nn.Module, config: KinshipCheckpoint, data: Path, accelerator: Accelerator) -> Job:
    """The run of a config: `epochs` passes over the training stories, in an order that follows from the seed."""
    training, parts = config.training, kinship_splits(config, data)
    ((name, indices),) = parts.train.items()
    rows, dev = stories([parts.sets[name][i] for i in indices]), stories(parts.examples("dev"))
    epochs = Epochs(rows.keep.sum(1).numpy(), training, window=10)
    steps = epochs.steps

    def loss(module: nn.Module, step: int) -> tuple[Tensor, dict[str, float]]:
        batch = rows.take(torch.from_numpy(epochs.rows(step)))
        if config.model.mechanism != "triangle":  # whose grid knows no numbers of people
            batch = batch.renamed()
        batch = batch.to(accelerator.device)
        return cross_entropy(module(batch), batch.labels), {}

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


@torch.inference_mode()
def measure_dev(module: nn.Module, dev: StoryBatch) -> dict[str, float]:
    """Loss and the share of right relations."""
    logits = module.eval()(dev)
    right = (logits.argmax(-1) == dev.labels).float().mean()
    return {"dev_loss": round(float(cross_entropy(logits, dev.labels)), 5), "dev_accuracy": round(float(right), 5)}
