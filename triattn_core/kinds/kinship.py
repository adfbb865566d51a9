"""Models of *how are two people of a story related?*: small networks, of which nothing is pretrained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind
from triattn_core.tasks.kinship import family_stories
from triattn_core.tasks.laboratory import Vocabulary


class KinshipKind(TextKind):
    """Two people of a story and the links between its names."""

    keeps_last = True
    records = ""

    def section(self) -> type[Any]:
        from triattn_core.configs.kinship import KinshipCheckpoint

        return KinshipCheckpoint

    def task(self, config: Any) -> Any:
        return family_stories

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        from triattn_core.models.kinship import WORD
        from triattn_core.models.nothing_frozen import NothingFrozen

        return NothingFrozen(WORD), Vocabulary.of(())

    def collate(self, rows: Sequence[Any], tokenizer: Any) -> Any:
        """The links themselves."""
        from triattn_core.inference.story_batch import story_batch

        return story_batch(rows)

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.kinship import KinshipModel

        return KinshipModel(config.model)

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.kinship.trainer import train_kinship

        return train_kinship(config, folder, data, runs, resume, accelerator)

    def splits(self, config: Any, data: Path) -> Any:
        from triattn_core.training.kinship.trainer import kinship_splits

        return kinship_splits(config, data)

    def measured_alike(self, config: Any) -> tuple:
        return config.task, repr(config.data.model_dump())

    def card(self, folder: Path) -> str:
        from triattn_core.training.kinship.model_card import kinship_card

        return kinship_card(folder)


KIND = KinshipKind()
