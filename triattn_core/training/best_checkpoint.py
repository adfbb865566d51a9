"""The history of a run, and its best epoch on dev (the first on ties), which is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from accelerate import Accelerator
from torch import Tensor, nn

from triattn_core.checkpoint.bundle import save
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.models.tensors import read_tensors, write_tensors
from triattn_core.training import batching
from triattn_core.training.loop import Job, events, recipe_of

BEST = "best.safetensors"
SCORES = ("dev_accuracy", "dev_f1", "dev_bleu")  # the first that a model has on dev decides which epoch is best


def keep_best(run: Path, step: int, values: Mapping[str, float], tensors: Mapping[str, Tensor]) -> None:
    """Write the tensors to `run/BEST` if `values` of this step are better on dev than those of all previous epochs."""
    score = next(name for name in SCORES if name in values)
    if values[score] > best([row for row in history(run) if row["step"] < step]).get(score, -1.0):
        write_tensors(run / BEST, tensors)


def measured(
    evaluate: Callable[[nn.Module], dict], run: Path, accelerator: Accelerator, part: str = ""
) -> Callable[[nn.Module, int], dict]:
    """The `measure` of a `loop.Job` that keeps the best weights on dev.  part: the submodule that is kept, by default
    the whole module."""

    def measure(module: nn.Module, step: int) -> dict:
        values = evaluate(module)
        if accelerator.is_main_process:
            keep_best(run, step, values, module.get_submodule(part).state_dict())
        return values

    return measure


def best_job(
    config: CheckpointConfig,
    module: nn.Module,
    steps: int,
    ends: Collection[int],
    loss: Callable,
    evaluate: Callable[[nn.Module], dict],
    run: Path,
    accelerator: Accelerator,
    part: str = "",
    **options: Any,
) -> Job:
    """A job with the settings of `config.training` that keeps the best weights on dev, see `measured`.

    ends: the steps after which `evaluate` is called.  loss, options: see `loop.Job`.
    """
    training = cast(Any, config.training)
    return Job(
        module, steps, training.seed, batching.schedule(training, steps), loss,
        measured(evaluate, run, accelerator, part), frozenset(ends), weight_decay=training.weight_decay,
        clip=getattr(training, "clip", Job.clip), optimizer=getattr(training, "optimizer", Job.optimizer),
        recipe=recipe_of(config), **options,
    )  # fmt: skip


def save_best(run: Path, folder: Path, config: CheckpointConfig, model: nn.Module) -> None:
    """Write the checkpoint of a run to `folder`: its config, and its best weights on dev, read into the new `model`."""
    model.load_state_dict({name: tensor.float() for name, tensor in read_tensors(run / BEST).items()})
    save(folder, config, model)


def history(run: Path) -> list[dict]:
    """Rows for a curve: the training loss of each 100 steps, averaged over the logged steps (every twentieth), and loss
    and accuracy on dev after each epoch."""
    rows: dict[int, dict] = {}
    losses: list[float] = []
    for event in events(run):
        step = event["step"]
        if event["kind"] == "step":
            losses.append(event["values"]["loss"])
            if step % 100 == 0:
                rows[step] = {"step": step, "train_loss": round(float(np.mean(losses)), 5)}
                losses = []
        elif event["kind"] == "metric":
            rows[step] = {"step": step, **rows.get(step, {}), **event["values"]}
    return [rows[step] for step in sorted(rows)]


def best(rows: Sequence[dict]) -> dict:
    """The best row of a history on dev, the first on ties; empty if dev was never measured."""
    score = next((name for name in SCORES if any(name in row for row in rows)), SCORES[0])
    return max((row for row in rows if score in row), key=lambda row: row[score], default={})
