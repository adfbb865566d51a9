"""Training of a laboratory model on generated rows; its last weights become the checkpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn
from torch.nn.functional import cross_entropy

from triattn_core.analysis.training_snapshots import SCALE, SNAPSHOTS
from triattn_core.analysis.truth import mass_on_truth, truth_mask
from triattn_core.checkpoint.bundle import save
from triattn_core.configs.laboratory import LaboratoryCheckpoint
from triattn_core.inference.batch import collate
from triattn_core.inference.laboratory import weights_of_batch
from triattn_core.kinds import kind_of
from triattn_core.training.batching import Epochs
from triattn_core.training.laboratory.row_arrays import LaboratoryRows, laboratory_rows
from triattn_core.training.loop import Event, Job, fit, one_at_a_time, recipe_of

MEASURED = 20  # times that dev is measured
FRAMES, SHOWN = 100, 3  # recorded steps, and rows of each
WARM, DECAY = 50, 0.25  # steps of the warm-up; the last share of the steps, in which the rate decays


def train_laboratory(
    config: LaboratoryCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights, config.json and film.json to `folder`."""
    task, training = kind_of(config).task(config), config.training
    with one_at_a_time(accelerator, runs):
        train = laboratory_rows(task, config.data.train_seed, config.data.train_rows, runs)
    torch.manual_seed(training.seed)
    model, recorder = kind_of(config).model(config, 0), SnapshotRecorder(config, runs / folder.name)
    job = laboratory_job(model, config, train, recorder, accelerator)
    yield from fit(job, runs / folder.name, accelerator, save_every=max(200, job.steps // 4), resume=resume)
    if accelerator.is_main_process:
        save(folder, config, accelerator.unwrap_model(job.module).cpu())
        (folder / SNAPSHOTS).write_text(json.dumps(recorder.frames(), separators=(",", ":")) + "\n", "utf-8")


def laboratory_job(
    model: nn.Module,
    config: LaboratoryCheckpoint,
    train: LaboratoryRows,
    recorder: SnapshotRecorder,
    accelerator: Accelerator,
) -> Job:
    """The run of a config: `epochs` passes over the rows, in an order that follows from the seed."""
    training = config.training
    epochs = Epochs(np.ones(len(train)), training)
    steps = epochs.steps

    def loss(module: nn.Module, step: int):
        batch, labels = train.batch(epochs.rows(step), accelerator.device)
        return cross_entropy(module(batch), labels), {}

    milestones = frozenset(round(steps * part / MEASURED) for part in range(1, MEASURED + 1))
    interval = max(1, steps // FRAMES)
    return Job(
        module=model,
        steps=steps,
        seed=training.seed,
        rate=lambda step: rate_at(step, steps, training.rate),
        loss=loss,
        measure=dev_measure(config),
        milestones=milestones,
        after=lambda module, step: (
            recorder.add(module, step + 1) if step % interval == 0 or step + 1 == steps else None
        ),
        weight_decay=training.weight_decay,
        recipe=recipe_of(config),
    )


def rate_at(step: int, steps: int, rate: float) -> float:
    """The learning rate of a step, from 0: warm-up, the rate itself, and a linear decay at the end."""
    return rate * min((step + 1) / WARM, (steps - step) / (DECAY * steps), 1.0)


def dev_measure(config: LaboratoryCheckpoint) -> Callable[[nn.Module, int], dict]:
    """Measures loss, accuracy and mass on truth (shares) on the rows of the dev seed."""
    task = kind_of(config).task(config)
    examples = list(task.generate(config.data.dev_seed, config.data.dev_rows))
    (roles, *_) = zip(*task.roles(examples, task.vocabulary, config.limits))
    batch, labels = collate(roles, task.vocabulary), torch.tensor([example.label for example in examples])

    @torch.inference_mode()
    def measure(module: nn.Module, step: int) -> dict:
        device = next(module.parameters()).device
        logits, weights = weights_of_batch(lambda rows: module(rows.to(device)).float().cpu(), batch)
        masses = [
            mass_on_truth(w, truth_mask(example, w.shape)) for example, w in zip(examples, weights) if example.truth
        ]
        right = (logits.argmax(-1) == labels).float().mean()
        values = (float(cross_entropy(logits, labels)), float(right), float(np.mean(masses)))
        return {name: round(value, 5) for name, value in zip(("dev_loss", "dev_accuracy", "dev_mass"), values)}

    return measure


class SnapshotRecorder:
    """Attention weights of a few rows during training, in thousandths; stored in the run, for when it is resumed."""

    def __init__(self, config: LaboratoryCheckpoint, run: Path):
        self.task, self.run = kind_of(config).task(config), run
        self.examples = self.task.examples()[:SHOWN]
        (roles, *_) = zip(*self.task.roles(self.examples, self.task.vocabulary, config.limits))
        self.batch = collate(roles, self.task.vocabulary)

    @torch.inference_mode()
    def add(self, module: nn.Module, step: int) -> None:
        """One more frame."""
        module.eval()
        device = next(module.parameters()).device
        logits, weights = weights_of_batch(lambda rows: module(rows.to(device)).float().cpu(), self.batch)
        maps = np.rint(SCALE * weights).astype(int).tolist()
        with open(self.run / f"{SNAPSHOTS}l", "a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, "maps": maps, "answers": logits.argmax(-1).tolist()}) + "\n")

    def frames(self) -> dict:
        """`{"rows", "frames": [{"step", "maps", "answers"}]}`, each step once."""
        lines = (self.run / f"{SNAPSHOTS}l").read_text("utf-8").splitlines()
        frames = {frame["step"]: frame for frame in map(json.loads, lines)}
        rows = [self.task.row(example) for example in self.examples]
        return {"rows": rows, "frames": [frames[step] for step in sorted(frames)]}
