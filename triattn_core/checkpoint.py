"""Bundle: a trained model ready to be asked, from a folder that explains itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import torch
from torch import Tensor

from triattn_core.batch import Batch, TextBatch, collate
from triattn_core.config import AnyConfig, read_config
from triattn_core.device import choose
from triattn_core.errors import CheckpointError, ConfigError
from triattn_core.models import answers, kinds
from triattn_core.models.coin import PairWords
from triattn_core.models.encoder import Encoder
from triattn_core.models.tensors import digest, read_tensors, write_tensors
from triattn_core.models.words import WordVectors
from triattn_core.shelf import WEIGHTS, called, find
from triattn_core.tasks import TASKS
from triattn_core.text.rows import read_json
from triattn_core.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Bundle:
    """Modules in eval mode with all that is known of them. Never written to after loading; shared by all sessions.

    Of every kind: `encoder` is frozen, shared, and makes of a batch what `model`, which was trained, takes.
    """

    name: str
    path: Path
    config: AnyConfig
    metrics: dict
    digest: str
    tokenizer: Tokenizer
    encoder: Encoder | WordVectors | PairWords
    model: torch.nn.Module
    device: str

    @property
    def task(self):
        """The task's room: its Example, roles, labels and metrics."""
        return TASKS[self.config.task]

    def labels(self, example) -> tuple[str, ...]:
        """What the probabilities of an example belong to."""
        return self.config.labels if getattr(self.config, "labels", ()) else self.task.labels(example)

    @property
    def outputs(self) -> int:
        """How many numbers the model gives for a row."""
        return kinds.outputs(self.config)

    def logits(self, batch: Batch | TextBatch) -> Tensor:
        """[B, outputs] of a batch, on the CPU."""
        with torch.inference_mode():
            return self.model(self.encoder(batch.to(self.device))).float().cpu()


def load(name: str | Path, device: str | None = None) -> Bundle:
    """A checkpoint by name or folder, on `device` (CUDA, then MPS, then CPU by default).

    Raises CheckpointError or ConfigError in one line that names the file and what to do.
    """
    path = find(name)
    config = read_config(path / "config.json")
    metrics = read_json(path / "metrics.json") if (path / "metrics.json").is_file() else {}
    device = choose(device)
    tensors = read_tensors(path / WEIGHTS)
    found = digest(tensors)
    if config.digest and found != config.digest:
        raise CheckpointError(
            f"{path / WEIGHTS}: digest {found[:12]}, but config.json records {config.digest[:12]}; "
            "copy the checkpoint anew"
        )
    try:
        frozen, tokenizer = kinds.frozen(config, path, device)
        model = kinds.build(config, frozen.hidden)
    except ConfigError as error:
        raise ConfigError(f"{path / 'config.json'}: {error}") from None
    _fill(model, tensors, path / WEIGHTS)
    model = model.to(device).eval().requires_grad_(False)
    return Bundle(called(path), path, config, metrics, found, tokenizer, frozen, model, device)


def _fill(module: torch.nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    wanted = module.state_dict()
    spare = [name for name in tensors if name not in wanted]
    if missing := [name for name in wanted if name not in tensors]:
        near = get_close_matches(missing[0], spare or tensors, 1, 0.0)
        said = f"; the nearest there is {near[0]!r}" if near else ", and no other either"
        raise CheckpointError(f"{path}: no tensor {missing[0]!r}, which config.json asks for{said}")
    if spare:
        raise CheckpointError(f"{path}: tensor {min(spare)!r} does not belong to the model of config.json")
    for name, one in wanted.items():
        if tensors[name].shape != one.shape:
            expected, got = tuple(one.shape), tuple(tensors[name].shape)
            raise CheckpointError(f"{path}: tensor {name!r} is {got}, config.json asks for {expected}")
    module.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})


def save(path: Path, config: AnyConfig, model: torch.nn.Module) -> AnyConfig:
    """Writes weights and config.json; returns the config with its digest."""
    path.mkdir(parents=True, exist_ok=True)
    config = config.model_copy(update={"digest": write_tensors(path / WEIGHTS, model.state_dict())})
    (path / "config.json").write_text(config.model_dump_json(indent=2, exclude_none=True) + "\n", "utf-8")
    return config


def together(bundles: Sequence[Bundle]) -> None:
    """Raises ConfigError where bundles cannot share what an encoder reads: they must agree in encoder and task."""
    first = bundles[0]
    for other in bundles[1:]:
        told = [what for what in ("device", "task") if getattr(other, what) != getattr(first, what)]
        told += [what for what in ("max_tokens", "cells", "labels") if _differ(first.config, other.config, what)]
        told += ["vectors"] * _differ(first.config.model, other.config.model, "vectors")
        if first.encoder is not other.encoder and first.encoder != other.encoder:
            same = first.encoder.digest == other.encoder.digest
            told = told if told and same else ["encoder", *told]
        if told:
            ask = "ask them apart"
            if not {"device", "task", "labels"} & set(told):
                ask += " (`triattn cases` takes both, and tells whether they differ)"
            raise ConfigError(f"{first.name} and {other.name} differ in their {' and '.join(told)}: {ask}")


def _differ(first: object, other: object, what: str) -> bool:
    return getattr(first, what, ()) != getattr(other, what, ())


def alike(lengths: Sequence[int], size: int, most: float = 1.25) -> Iterator[list[int]]:
    """Places that go together, short ones first: at most `size`, none longer than `most` times another and four.

    A cube is padded along three axes: one long row in a batch of short ones would cost more than all of them.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == size or lengths[place] > 4 + most * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def probabilities(bundles: Sequence[Bundle], examples: Sequence, size: int = 64) -> list[list[list[float]]]:
    """The probabilities that each bundle gives each example: [bundles][examples][answers].

    Rows of like length, whichever example they belong to, go in batches of at most `size`, and the encoder reads each
    once for all bundles.  Raises ConfigError where they do not share it.
    """
    together(bundles)
    first = bundles[0]
    grouped = first.task.roles(examples, first.tokenizer, first.config.limits)
    counts, roles = [len(one) for one in grouped], [row for one in grouped for row in one]
    scores = torch.zeros(len(bundles), len(roles), first.outputs)
    for places, found in outputs(bundles, roles, size):
        scores[:, places] = torch.stack(found)
    return [answers.probabilities(one, counts) for one in scores]


def outputs(bundles: Sequence[Bundle], rows: Sequence, size: int) -> Iterator[tuple[list[int], list[Tensor]]]:
    """Batches of rows of like length: their places in `rows`, and what each bundle's model gives, on the CPU."""
    first = bundles[0]
    for places in alike([one.length for one in rows], size):
        with torch.inference_mode():
            encoded = first.encoder(collate([rows[i] for i in places], first.tokenizer).to(first.device))
            yield places, [bundle.model(encoded).float().cpu() for bundle in bundles]
