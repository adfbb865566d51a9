"""A laboratory model trained step by step while somebody watches: nothing is written to disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from triattn_core.configs.laboratory import LaboratoryCheckpoint
from triattn_core.inference.batch import Batch, collate
from triattn_core.inference.laboratory import weights_of_batch
from triattn_core.inference.pause import progress
from triattn_core.kinds import kind_of
from triattn_core.tasks.laboratory import Example
from triattn_core.training.laboratory.trainer import rate_at
from triattn_core.training.loop import optimizer_for

MOST = 1000  # steps: what a model that learns its task here needs
TENTHS = 10  # snapshots beside the untrained weights
ALONE = 15.0  # seconds that a run goes on unwatched
HELD_OUT = 500  # rows that accuracy is measured on


class LiveRun:
    """One run on the CPU: `step` trains by a batch, `losses` and `snapshots` grow.

    Rows are drawn as they are needed, none twice; those of accuracy are of the test seed.
    """

    device = "cpu"

    def __init__(self, settings: dict, steps: int = MOST, seed: int | None = None):
        """settings: a checkpoint's config."""
        config = LaboratoryCheckpoint.model_validate({**settings, "digest": None})
        self.config, self.task = config, kind_of(config).task(config)
        self.seed = config.training.seed if seed is None else seed
        self.steps, self.done, self.seconds = steps, 0, 0.0
        self.stopped, self.watched = False, time.monotonic()
        self._began = time.monotonic(), 0  # when `train` was called, and after how many steps
        self._rows = self.task.generate(f"live-{self.seed}")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.model = kind_of(config).model(config, 0)
        self._optimizer = optimizer_for(self.model, config.training.weight_decay)
        self.losses: list[tuple[int, float]] = []
        self.snapshots: dict[int, dict[str, torch.Tensor]] = {}
        self._keep()

    def train(self) -> None:
        """Steps to the end, or until it is `stopped`, or nobody has set `watched` for a while."""
        self._began = time.monotonic(), self.done
        while not self.stopped and time.monotonic() - self.watched < ALONE and self.step():
            progress(self.done, self.steps)
        self._keep()

    def pace(self) -> tuple[float, float] | None:
        """Steps a second since `train` was called, pauses included, and the seconds left at that pace; None before the
        first step."""
        since, first = self._began
        if (steps := self.done - first) <= 0:
            return None
        rate = steps / (time.monotonic() - since)
        return rate, (self.steps - self.done) / rate

    def step(self) -> bool:
        """Trains by one batch; whether there is more to do."""
        started, settings = time.monotonic(), self.config.training
        examples = [next(self._rows) for _ in range(settings.batch)]
        self.model.train()
        for group in self._optimizer.param_groups:
            group["lr"] = rate_at(self.done, self.steps, settings.rate)
        loss = cross_entropy(self.model(self._batch(examples)), torch.tensor([example.label for example in examples]))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.done += 1
        if self.done % max(1, self.steps // 50) == 0 or self.done == self.steps:
            self.losses.append((self.done, round(loss.item(), 4)))
        if self.done * TENTHS // self.steps > (self.done - 1) * TENTHS // self.steps:
            self._keep()
        self.seconds += time.monotonic() - started
        return self.done < self.steps

    def look(self, example: Example, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities, and weights as of `weights_of`, that the snapshot of a step gives a row."""
        probabilities, weights = self._run([example], step)
        return probabilities[0], weights[0]

    def accuracy(self, step: int) -> float:
        """The share of held-out rows that the snapshot of a step answers rightly."""
        rows = list(self.task.generate(self.config.data.test_seed, HELD_OUT))
        answers = self._run(rows, step)[0].argmax(-1)
        return float(np.mean(answers == np.array([row.label for row in rows])))

    @torch.inference_mode()
    def _run(self, examples: Sequence[Example], step: int) -> tuple[np.ndarray, np.ndarray]:
        model = kind_of(self.config).model(self.config, 0)
        model.load_state_dict(self.snapshots[step])
        logits, weights = weights_of_batch(model.eval(), self._batch(examples))
        return logits.softmax(-1).numpy(), weights

    def _batch(self, examples: Sequence[Example]) -> Batch:
        (roles, *_) = zip(*self.task.roles(examples, self.task.vocabulary, self.config.limits))
        return cast(Batch, collate(roles, self.task.vocabulary))

    def _keep(self) -> None:
        self.snapshots[self.done] = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
