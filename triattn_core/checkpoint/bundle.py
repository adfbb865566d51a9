"""Bundle: a trained model in eval mode, loaded from and saved to a checkpoint folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from triattn_core.checkpoint.config import read_config
from triattn_core.checkpoint.registry import WEIGHTS, checkpoint_name, find_checkpoint, require_regular
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.errors import CheckpointError, ConfigError
from triattn_core.inference.device import choose_device
from triattn_core.kinds import Frozen, Kind, kind_of
from triattn_core.models.tensors import digest, read_tensors, write_tensors
from triattn_core.tasks.laboratory import Vocabulary
from triattn_core.text.atomic_write import write_whole
from triattn_core.text.rows import read_json
from triattn_core.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Bundle:
    """A loaded checkpoint: modules in eval mode, config, metrics and tokenizer.  Shared by all sessions: do not modify.

    For every kind of model, the frozen, shared `encoder` turns a batch into the inputs of the trained `model`.
    """

    name: str
    path: Path
    config: CheckpointConfig
    metrics: dict
    digest: str
    tokenizer: Tokenizer | Vocabulary
    encoder: Frozen
    model: torch.nn.Module
    device: str

    @property
    def kind(self) -> Kind:
        """What the checkpoint is: its kind of config, model and answers."""
        return kind_of(self.config)

    @property
    def task(self):
        """The module of the checkpoint's task: its Example, roles, labels and metrics."""
        return self.kind.task(self.config)

    def labels(self, example) -> tuple[str, ...]:
        """The labels that an example's probabilities belong to."""
        return getattr(self.config, "labels", ()) or self.task.labels(example)

    @property
    def attends_special(self) -> bool:
        """Whether special tokens are context."""
        return getattr(self.config.model, "attend_special", True)

    @property
    def num_outputs(self) -> int:
        """The number of outputs of the model for one row."""
        return self.kind.outputs(self.config)

    def untrained(self, seed: int | None = None) -> Bundle:
        """The same network with new random weights, by default drawn with its training seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.config.training.seed if seed is None else seed)
            model = self.kind.model(self.config, self.encoder.hidden)
        return replace(self, model=model.to(self.device).eval().requires_grad_(False))

    def batch(self, rows: Sequence[Any]) -> Any:
        """A batch of rows, which `task.roles` makes, on the device of the model."""
        return self.kind.collate(rows, self.tokenizer).to(self.device)

    def logits(self, batch: Any) -> Tensor:
        """Logits [B, outputs] of a batch of the kind, on the CPU."""
        with torch.inference_mode():
            return self.model(self.encoder(batch.to(self.device))).float().cpu()


def load(name: str | Path, device: str | None = None) -> Bundle:
    """Loads a checkpoint by name or folder onto `device` (by default CUDA, then MPS, then CPU).

    Raises CheckpointError or ConfigError in one line that names the file and what to do.
    """
    path = find_checkpoint(name)
    config = read_config(path / "config.json")
    require_regular(path / "tokenizer.json")
    metrics = read_json(path / "metrics.json") if (path / "metrics.json").is_file() else {}
    device = choose_device(device)
    tensors = read_tensors(path / WEIGHTS)
    actual = digest(tensors)
    if config.digest and actual != config.digest:
        raise CheckpointError(
            f"{path / WEIGHTS}: digest {actual[:12]}, but config.json records {config.digest[:12]}; "
            "copy the checkpoint again"
        )
    try:
        frozen, tokenizer = kind_of(config).load_frozen(config, path, device)
        model = kind_of(config).model(config, frozen.hidden)
    except ConfigError as error:
        raise ConfigError(f"{path / 'config.json'}: {error}") from None
    _fill(model, tensors, path / WEIGHTS)
    model = model.to(device).eval().requires_grad_(False)
    return Bundle(checkpoint_name(path), path, config, metrics, actual, tokenizer, frozen, model, device)


def _fill(module: torch.nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    expected = module.state_dict()
    extra = [name for name in tensors if name not in expected]
    if missing := [name for name in expected if name not in tensors]:
        closest = get_close_matches(missing[0], extra or tensors, 1, 0.0)
        hint = f"; the nearest there is {closest[0]!r}" if closest else ", and no other either"
        raise CheckpointError(f"{path}: no tensor {missing[0]!r}, which config.json asks for{hint}")
    if extra:
        raise CheckpointError(f"{path}: tensor {min(extra)!r} does not belong to the model of config.json")
    for name, tensor in expected.items():
        if tensors[name].shape != tensor.shape:
            shape, expected_shape = tuple(tensors[name].shape), tuple(tensor.shape)
            raise CheckpointError(f"{path}: tensor {name!r} is {shape}, config.json asks for {expected_shape}")
    module.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})


def save(path: Path, config: CheckpointConfig, model: torch.nn.Module) -> CheckpointConfig:
    """Writes weights and config.json; returns the config with its digest."""
    path.mkdir(parents=True, exist_ok=True)
    config = config.model_copy(update={"digest": write_tensors(path / WEIGHTS, model.state_dict())})
    write_whole(path / "config.json", config.model_dump_json(indent=2, exclude_none=True) + "\n")
    return config
