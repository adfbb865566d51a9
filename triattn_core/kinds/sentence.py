"""Sentence models: MTSA and the blocks that it is compared with, on frozen word vectors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind
from triattn_core.tasks import ENCODED


class SentenceKind(TextKind):
    """One or two sentences, each encoded on its own."""

    has_heads = True
    has_controls = True

    def pages(self, mechanism: str) -> tuple[str, ...]:
        return ("mtsa",) * (mechanism == "mtsa")

    def section(self) -> type[Any]:
        from triattn_core.configs.sentence import SentenceCheckpoint

        return SentenceCheckpoint

    def frozen(self, config: Any, encoder: Any) -> Frozen:
        """Word vectors; ConfigError if the layers to fine-tune are not those that the encoder has after them."""
        from triattn_core.errors import ConfigError
        from triattn_core.models.word_vectors import word_vectors

        model, network = config.model, encoder.joint.config
        words = word_vectors(encoder, model.vectors, config.max_tokens, standardised=model.fine_tuned is None)
        if model.fine_tuned is None:
            return words
        layers = network.num_hidden_layers - words.layer
        sizes = network.num_attention_heads, network.intermediate_size
        if model.fine_tuned.layers != layers:
            raise ConfigError(f"model.fine_tuned.layers: the encoder has {layers} layers after {model.vectors}")
        if (model.fine_tuned.heads, model.fine_tuned.feed_forward) != sizes:
            raise ConfigError("model.fine_tuned: the encoder has {} heads and feed_forward {}".format(*sizes))
        return words

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.sentence import SentenceModel

        return SentenceModel(config.model, hidden, self.outputs(config), tuple(ENCODED[config.task].TEXTS))

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.sentence.trainer import train_sentence

        return train_sentence(config, folder, data, runs, resume, accelerator)

    def folds(self, config: Any, folder: Path, runs: Path) -> dict[Path, Any]:
        configs = {folder: config}
        for fold in range(1, config.data.folds + 1):
            if fold != config.data.fold:
                data = config.data.model_copy(update={"fold": fold})
                configs[runs / f"{folder.name}-fold-{fold}"] = config.model_copy(update={"data": data})
        return configs

    def splits(self, config: Any, data: Path) -> Any:
        from triattn_core.training.sentence.splits import splits

        return splits(config, data)

    def card(self, folder: Path) -> str:
        from triattn_core.training.sentence.model_card import sentence_card

        return sentence_card(folder)


KIND = SentenceKind()
