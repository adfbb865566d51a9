"""The training loop: yields events, saves states, and resumes to the same weights after a kill at any point.

No random state is carried over: the order of the rows and the dropout of a step depend only on the seed and the step,
so that a saved state is weights, optimizer and step number.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from filelock import FileLock
from pydantic import BaseModel
from torch import Tensor, nn

from triattn_core.errors import ConfigError
from triattn_core.text.atomic_write import write_whole

STATES_KEPT = 2
LOG = "events.jsonl"
RECIPE = "recipe.json"
WEIGHTS = "pytorch_model.bin"  # of a state, as accelerate names it
NO_RECIPE: dict[str, Any] = {"digest": True, "training": {"more_seeds"}}  # keys of a config that change no weight


@dataclass(frozen=True)
class Event:
    """An event of training: kind is `note`, `step`, `metric` or `saved`; `values` are plain numbers or texts."""

    kind: str
    step: int
    steps: int
    values: dict

    def line(self) -> str:
        """The event as one JSON line."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True)
class Job:
    """One run.  `loss(module, step)` returns the loss of a step and numbers to report.

    `rate(step)` is the learning rate; `measure(module, step)` is called after the steps in `milestones` and returns
    metrics (None: nothing to measure).  `after(module, step)` is called after each step, step from 0.  `recipe`: the
    settings of the run; it can only be resumed with the same ones.
    """

    module: nn.Module
    steps: int
    seed: int
    rate: Callable[[int], float]
    loss: Callable[[nn.Module, int], tuple[Tensor, dict[str, float]]]
    measure: Callable[[nn.Module, int], dict | None]
    milestones: frozenset[int]
    after: Callable[[nn.Module, int], None] = lambda module, step: None
    weight_decay: float = 0.01
    clip: float = 1.0
    optimizer: str = "adamw"
    recipe: dict = field(default_factory=dict)


OPTIMIZERS = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "adadelta": torch.optim.Adadelta}


def recipe_of(config: BaseModel) -> dict:
    """The settings of a config that a resumed run must share: not the defaults, so that a run which was started before
    a setting was added can be resumed."""
    return config.model_dump(mode="json", exclude=NO_RECIPE, exclude_defaults=True)


@contextmanager
def one_at_a_time(accelerator: Accelerator, runs: Path) -> Iterator[None]:
    """What is computed once for all, such as features: the main process goes first, the others find its results; so do
    other trainings with the same `runs`, which wait."""
    (runs / "features").mkdir(parents=True, exist_ok=True)
    with accelerator.main_process_first(), FileLock(runs / "features" / ".lock"):
        yield


def optimizer_for(module: nn.Module, weight_decay: float, name: str = "adamw") -> torch.optim.Optimizer:
    """One of OPTIMIZERS; one-dimensional parameters (biases, normalisation) and those with `no_decay` do not decay.

    A parameter's `rate_share` is the share of the learning rate that it has.  In `adam` and `adadelta` the decay is
    part of the gradient: L2 regularisation, decay / 2 times the squared norm.
    """
    trained = [p for p in module.parameters() if p.requires_grad]
    no_decay = [p.ndim <= 1 or getattr(p, "no_decay", False) for p in trained]
    shares = [getattr(p, "rate_share", 1.0) for p in trained]
    groups = [
        {
            "params": [p for p, *group in zip(trained, no_decay, shares) if group == [exempt, share]],
            "weight_decay": 0.0 if exempt else weight_decay,
            "rate_share": share,
        }
        for share in sorted({1.0, *shares}, reverse=True)
        for exempt in (False, True)
    ]
    fused = {} if name == "adadelta" else {"fused": True}  # one pass over all parameters, also on a CPU
    return OPTIMIZERS[name](groups, lr=0.0, **fused)


def fit(job: Job, run: Path, accelerator: Accelerator, save_every: int = 200, resume: bool = False) -> Iterator[Event]:
    """Train `job.module` in place; yields events, which also go to `run/events.jsonl`.

    States go to `run/state-*`; the last STATES_KEPT are kept.  With `resume`, training continues from the newest
    complete state, or from the start if there is none; otherwise the contents of `run` are removed.
    """
    if accelerator.is_main_process:
        _prepare(run, resume, job.recipe)
    accelerator.wait_for_everyone()
    for event in _steps(job, run, accelerator, save_every, resume, seconds(run)):
        if accelerator.is_main_process:
            with open(run / LOG, "a", encoding="utf-8") as file:
                file.write(event.line() + "\n")
        yield event


def _steps(
    job: Job, run: Path, accelerator: Accelerator, save_every: int, resume: bool, previous_seconds: float
) -> Iterator[Event]:
    module, optimizer = accelerator.prepare(job.module, optimizer_for(job.module, job.weight_decay, job.optimizer))
    first = _load(accelerator, run) if resume else 0
    start = time.monotonic()
    for step in range(first, job.steps):
        module.train()
        set_seed(job.seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = job.rate(step) * group.get("rate_share", 1.0)  # older states have none
        loss, values = job.loss(module, step)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(module.parameters(), job.clip)
        optimizer.step()
        optimizer.zero_grad()
        job.after(accelerator.unwrap_model(module), step)
        done = step + 1
        if done % 20 == 0 or done == job.steps:
            rate = (done - first) / (time.monotonic() - start)
            yield Event("step", done, job.steps, {**values, "loss": round(loss.item(), 4), "steps/s": round(rate, 3)})
        if done in job.milestones:
            metrics = job.measure(accelerator.unwrap_model(module).eval(), done)
            if metrics is not None:
                yield Event("metric", done, job.steps, metrics)
        if done % save_every == 0 or done == job.steps or done in job.milestones:
            _save(accelerator, run, done)
            elapsed = previous_seconds + time.monotonic() - start
            yield Event("saved", done, job.steps, {"seconds": round(elapsed, 1)})


def _prepare(run: Path, resume: bool, recipe: dict) -> None:
    """Empty the run folder; or cut the log back to the resumed state, so that no event is logged twice."""
    recipe_text = json.dumps(recipe, sort_keys=True)
    if resume and (run / RECIPE).is_file() and (run / RECIPE).read_text("utf-8") != recipe_text:
        raise ConfigError(f"{run}: was started with another recipe; start again, without --resume")
    if not resume:
        remove_run(run)
    run.mkdir(parents=True, exist_ok=True)
    write_whole(run / RECIPE, recipe_text.encode())  # a kill must not leave half of it
    states = saved_states(run)
    first = _step(states[-1]) if states else 0
    lines = [json.dumps(event, ensure_ascii=False) + "\n" for event in events(run) if event["step"] <= first]
    part = run / f"{LOG}.part"
    part.write_text("".join(lines), "utf-8")
    os.replace(part, run / LOG)


def remove_run(run: Path) -> None:
    """Remove a run with its states, so that a kill does not leave half of it."""
    old = run.with_name(run.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if run.exists():
        os.rename(run, old)
    shutil.rmtree(old, ignore_errors=True)


def events(run: Path) -> list[dict]:
    """The events of a run so far as plain dicts, in order, without an incomplete last line."""
    log = run / LOG
    complete = log.read_bytes().rpartition(b"\n")[0] if log.is_file() else b""
    return [json.loads(line) for line in complete.splitlines()]


def seconds(run: Path) -> float:
    """Training time of a run in seconds, over all resumed parts."""
    return max((event["values"].get("seconds", 0.0) for event in events(run)), default=0.0)


def last_weights(run: Path) -> dict[str, Tensor]:
    """The weights of the newest complete state of a run, by name, on the CPU."""
    return torch.load(saved_states(run)[-1] / WEIGHTS, map_location="cpu", weights_only=True)


def saved_states(run: Path) -> list[Path]:
    """The folders of the complete states of a run, the newest last."""
    return sorted(run.glob("state-*[0-9]"))


def _save(accelerator: Accelerator, run: Path, step: int) -> None:
    """Write a state atomically: next to its target, then renamed."""
    target, partial = run / f"state-{step:08d}", run / f"state-{step:08d}.part"
    if accelerator.is_main_process:
        shutil.rmtree(partial, ignore_errors=True)
    accelerator.wait_for_everyone()
    # A file of safetensors would lack all but one of the tensors that share memory, as an LSTM's do on a GPU.
    accelerator.save_state(str(partial), safe_serialization=False)
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        shutil.rmtree(target, ignore_errors=True)
        os.rename(partial, target)
        for old in saved_states(run)[:-STATES_KEPT]:
            shutil.rmtree(old, ignore_errors=True)


def _load(accelerator: Accelerator, run: Path) -> int:
    states = saved_states(run)
    if not states:
        return 0
    accelerator.load_state(str(states[-1]))
    return _step(states[-1])


def _step(state: Path) -> int:
    return int(state.name.removeprefix("state-"))
