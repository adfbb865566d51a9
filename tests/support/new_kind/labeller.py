"""A kind as somebody adds it: a tag for each token."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind


class LabellerKind(TextKind):
    """A sentence, and a tag for each of its tokens."""

    has_heads = True

    def pages(self, mechanism: str) -> tuple[str, ...]:
        return ("mtsa",)

    def section(self) -> type[Any]:
        from triattn_core.models.word_tagger import LabellerCheckpoint

        return LabellerCheckpoint

    def frozen(self, config: Any, encoder: Any) -> Frozen:
        from triattn_core.models.word_vectors import word_vectors

        return word_vectors(encoder, config.model.vectors, config.max_tokens)

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.word_tagger import Labeller

        return Labeller(config.model, hidden, self.outputs(config))

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> tuple:
        """The likeliest tag of each token."""
        from triattn_core.inference.predictions import Tag

        ((text,), (scores,)) = rows, outputs
        best = scores[: len(text.roles["text"].spans)].softmax(-1).max(-1)
        places = zip(text.roles["text"].spans, best.indices.tolist(), best.values.tolist())
        return tuple(Tag(start, end, bundle.task.TAGS[i], share) for (start, end), i, share in places)

    def best_row(self, answer: Any) -> int:
        return 0

    def prediction(self, bundle: Any, example: Any, answer: Sequence[Any], parts: int, **fields: Any) -> Any:
        from triattn_core.inference.predictions import Tagging

        return Tagging.of(example.text, answer, **fields)

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.labeller_training import train_labeller

        return train_labeller(config, folder, data, runs, resume, accelerator)

    def card(self, folder: Path) -> str:
        metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
        return f"# {folder.name}\n\nA tagger of {metrics['parameters']:,} parameters.\n"


KIND = LabellerKind()
