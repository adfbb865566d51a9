"""Readers: question answering by spans of a passage, on frozen word vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind


class ReaderKind(TextKind):
    """A passage, in windows, and a question; the answer is a span, see `inference.span_decoding`."""

    finds_spans = True

    def section(self) -> type[Any]:
        from triattn_core.configs.reader import ReaderCheckpoint

        return ReaderCheckpoint

    def frozen(self, config: Any, encoder: Any) -> Frozen:
        from triattn_core.models.word_vectors import word_vectors

        return word_vectors(encoder, config.model.vectors, config.max_tokens)

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.reader import Reader
        from triattn_core.models.systems import SYSTEMS

        return ({"baseline": Reader} | SYSTEMS)[config.model.mechanism](config.model, hidden)

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> tuple:
        """The best spans of the passage, the best first."""
        from triattn_core.inference.span_decoding import locate_spans, longest_answer

        return locate_spans(rows, outputs, longest_answer(bundle))

    def best_row(self, answer: Sequence[Any]) -> int:
        """The window with the best span."""
        return answer[0].window

    def prediction(self, bundle: Any, example: Any, answer: Sequence[Any], parts: int, **fields: Any) -> Any:
        from triattn_core.inference.predictions import Answer

        labels = tuple(example.passage[span.start : span.end] for span in answer)
        probabilities = tuple(span.probability for span in answer)
        return Answer(labels, probabilities, best=0, spans=tuple(answer), parts=parts, **fields)

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.reader.trainer import train_reader

        return train_reader(config, folder, data, runs, resume, accelerator)

    def splits(self, config: Any, data: Path) -> Any:
        from triattn_core.training.reader.data import reader_splits

        return reader_splits(config, data)

    def card(self, folder: Path) -> str:
        from triattn_core.training.reader.model_card import reader_card

        return reader_card(folder)


KIND = ReaderKind()
