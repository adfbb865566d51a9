"""Kinds of checkpoints: the frozen, shared encoder and the trained model of each.  To add one: a line in each table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from torch import nn

from triattn_core.checkpoint.config import AnyConfig, Config, SentenceCheckpoint
from triattn_core.errors import ConfigError
from triattn_core.models.coin import Coin, PairWords, load_words
from triattn_core.models.encoder import Encoder
from triattn_core.models.encoders import load_encoder
from triattn_core.models.laboratory import LaboratoryModel, LaboratoryTokens
from triattn_core.models.reader import Reader
from triattn_core.models.sentence import SentenceModel
from triattn_core.models.separate_encoder import ApartEncoder
from triattn_core.models.systems import SYSTEMS
from triattn_core.models.tan import Tan
from triattn_core.models.word_vectors import WordVectors, word_vectors
from triattn_core.tasks import ENCODED, TASKS, InputForm, form
from triattn_core.tasks.laboratory import LABORATORY, Vocabulary
from triattn_core.text.tokenizer import Tokenizer


@runtime_checkable
class Frozen(Protocol):
    """A frozen encoder: turns a batch of its kind into the inputs of a trained model."""

    @property
    def hidden(self) -> int:
        """Width of a state or vector, or the number of words without an encoder."""

    @property
    def digest(self) -> str:
        """Digest of the tensors, or of the vocabulary."""

    def __call__(self, batch: Any) -> Any:
        """The inputs of the trained model."""


def load_frozen_encoder(config: AnyConfig, folder: Path, device: str) -> tuple[Frozen, Tokenizer | Vocabulary]:
    """The frozen encoder on `device`, and its tokenizer, or the one in the checkpoint folder.

    Raises ConfigError as `reader`, and CheckpointError if either has another digest than the config records.
    """
    if config.kind == "laboratory":
        vocabulary = task_of(config).vocabulary
        return LaboratoryTokens(len(vocabulary.words)), vocabulary
    if config.encoder is None:
        return load_words(folder, config.encoder_digest)
    encoder, tokenizer = load_encoder(config.encoder, device, config.encoder_digest)
    return reader(config, encoder), tokenizer


def reader(config: AnyConfig, encoder: Encoder) -> Frozen:
    """The frozen part of a model, which turns a batch into the inputs of the trained part.

    Raises ConfigError if the encoder does not support the config.
    """
    return READERS[config.kind](config, encoder)


def build(config: AnyConfig, hidden: int) -> nn.Module:
    """A new trainable model; `hidden`: the width of the encoder's states, or the number of words without an encoder."""
    return MODELS[config.kind](config, hidden)


def outputs(config: AnyConfig) -> int:
    """The number of outputs of a model per row: one score per class, or a single one if each option is a row."""
    return len(getattr(config, "labels", ())) or task_of(config).OUTPUTS


def task_of(config: AnyConfig):
    """The task of a config: its Example, roles, labels and metrics."""
    if config.kind == "laboratory":
        return LABORATORY[config.task].at_size(config.data.size)
    return TASKS[config.task]


def _tan_encoder(config: Config, encoder: Encoder) -> Encoder | ApartEncoder:
    positions = encoder.joint.config.max_position_embeddings
    max_tokens = (
        (positions - 3) // 2 if form(config.task) is InputForm.PAIR else positions
    )  # of a sentence, of the whole
    if config.max_tokens > max_tokens:
        raise ConfigError(
            f"max_tokens {config.max_tokens}: the encoder {config.encoder} reads at most {max_tokens} here"
        )
    if config.model.states is None:  # context is joint
        return encoder
    layers = encoder.joint.config.num_hidden_layers
    if max(config.model.states) > layers:
        raise ConfigError(f"states {config.model.states}: the encoder {config.encoder} has {layers} layers")
    return ApartEncoder(encoder, config.model.states, config.model.attend_special)


def _sentence_vectors(config: SentenceCheckpoint, encoder: Encoder) -> WordVectors:
    model, network = config.model, encoder.joint.config
    words = word_vectors(encoder, model.vectors, config.max_tokens, standardised=model.fine_tuned is None)
    if model.fine_tuned is None:
        return words
    layers, sizes = network.num_hidden_layers - words.layer, (network.num_attention_heads, network.intermediate_size)
    if model.fine_tuned.layers != layers:
        raise ConfigError(f"model.fine_tuned.layers: the encoder has {layers} layers after {model.vectors}")
    if (model.fine_tuned.heads, model.fine_tuned.feed_forward) != sizes:
        raise ConfigError("model.fine_tuned: the encoder has {} heads and feed_forward {}".format(*sizes))
    return words


# Each takes the config of its kind.
READERS: dict[str, Callable[[Any, Encoder], Frozen]] = {
    "tan": _tan_encoder,
    "sentence": _sentence_vectors,
    "coin": lambda config, encoder: PairWords(encoder.hidden, encoder.digest, encoder),
    "reader": lambda config, encoder: word_vectors(encoder, config.model.vectors, config.max_tokens),
}
MODELS: dict[str, Callable[[Any, int], nn.Module]] = {
    "tan": lambda config, hidden: Tan(config.model, hidden, outputs(config)),
    "sentence": lambda config, hidden: SentenceModel(
        config.model, hidden, outputs(config), tuple(ENCODED[config.task].TEXTS)
    ),
    "coin": lambda config, hidden: Coin(config.model, hidden, outputs(config), frozen=config.encoder is not None),
    "laboratory": lambda config, hidden: LaboratoryModel(config.model, task_of(config)),
    "reader": lambda config, hidden: ({"baseline": Reader} | SYSTEMS)[config.model.mechanism](config.model, hidden),
}
