"""Classifiers of others over the rows of a task, beside checkpoints of ours: the same columns of a case table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError
from triattn_core.inference.device import memory_guard
from triattn_core.kinds import Kind, listed_kind
from triattn_core.recording.own_module import OwnModule
from triattn_core.sources.own_text import OwnText, names_of_labels
from triattn_core.tasks import TASKS, InputForm
from triattn_core.trace.axes import OTHER


@dataclass(frozen=True)
class OtherModel:
    """A loaded classifier as case mining takes it, with the task and the language of the rows.

    config, kind: what a bundle of ours has that mining asks for.
    """

    transformer: Any
    name: str
    digest: str
    task: Any
    language: str

    @property
    def device(self) -> str:
        return self.transformer.device

    @property
    def config(self) -> Any:
        model = SimpleNamespace(mechanism=OTHER)
        return SimpleNamespace(task=self.task.NAME, language=self.language, labels=(), model=model)

    @property
    def kind(self) -> Kind:
        return listed_kind({})

    def check(self) -> None:
        """Raises ConfigError where its labels are not as many as the task's, or it predicts none."""
        labels = names_of_labels(self.transformer)
        if len(labels) != self.task.OUTPUTS or self.task.FORM is not InputForm.PAIR:
            raise ConfigError(
                f"{self.name} predicts {len(labels) or 'no'} labels, {self.task.LABEL.lower()} have {self.task.OUTPUTS}"
                f" ({', '.join(self.task.LABELS)}), so its answers cannot be compared with these"
            )

    def tokens(self, example: Any) -> int:
        """How many tokens it reads of an example."""
        text, pair = example.text_a, example.text_b
        if isinstance(self.transformer, OwnModule):
            return len(OwnText.of(self.transformer, example).tokens or ())
        return len(self.transformer.tokenizer(text, pair, verbose=False)["input_ids"])

    def probabilities(self, examples: Sequence[Any]) -> list[list[float]]:
        """The probability of each label, by its number, of each example: one at a time where the model refuses rows of
        several lengths, else together."""
        transformer, found = self.transformer, []
        if isinstance(transformer, OwnModule):
            return [OwnText.of(transformer, example).answers().probabilities[0].tolist() for example in examples]
        together = transformer.model.config.pad_token_id is not None and transformer.tokenizer.pad_token_id is not None
        size = len(examples) if together else 1
        for start in range(0, len(examples), max(1, size)):
            batch = examples[start : start + size]
            texts = [[example.text_a for example in batch], [example.text_b for example in batch]]
            options = {"truncation": True, "max_length": transformer.longest, "return_tensors": "pt"}
            inputs = transformer.tokenizer(*texts, padding=together, **options).to(transformer.model.device)
            with torch.inference_mode(), memory_guard("these rows"):
                logits = transformer.model(**inputs).logits.double().cpu()
            found += logits.softmax(-1).tolist()
        return found


def load_row_models(names: Sequence[str], device: str | None = None) -> list[Any]:
    """Loads models by name or folder as mining takes them; see `as_row_models`."""
    from triattn_core.sources import find_entries, open_source

    entries = find_entries(names)
    return as_row_models([open_source(entry, device).load() for entry in entries], entries)


def as_row_models(models: Sequence[Any], entries: Sequence[Entry]) -> list[Any]:
    """Returns loaded models as mining takes them: checkpoints of ours as they are, models of others as `OtherModel`,
    with the task and language of the first checkpoint of ours, else English pairs.

    Raises ConfigError for one whose labels do not fit the task.
    """
    if not any("source" in entry.config for entry in entries):
        return list(models)  # of any task, the laboratory's too
    own = next((entry for entry in entries if "source" not in entry.config), entries[0])
    task, language, found = TASKS[own.config["task"]], metadata.language(own) or "en", []
    for model, entry in zip(models, entries, strict=True):
        if "source" in entry.config:
            model = OtherModel(model, entry.name, entry.digest, task, language)
            model.check()
        found.append(model)
    return found


def answer_columns(other: OtherModel, examples: Sequence[Any]) -> dict[str, list]:
    """The columns of a table of cases of one model: answer, confidence, and whether it is right."""
    shares = other.probabilities(examples)
    best = [int(np.argmax(row)) for row in shares]
    right = [example.label is not None and example.label == answer for example, answer in zip(examples, best)]
    confidence = [min(round(row[answer], 4), 0.9999) for row, answer in zip(shares, best)]
    return {f"{other.name} answer": best, f"{other.name} confidence": confidence, f"{other.name} right": right}
