"""Laboratory models: small networks for generated tasks whose true attention is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind
from triattn_core.tasks.laboratory import LABORATORY


class LaboratoryKind(TextKind):
    """Words of a task's own vocabulary, of which nothing is pretrained."""

    has_heads = True
    generates_rows = True
    keeps_last = True
    records = ""

    def section(self) -> type[Any]:
        from triattn_core.configs.laboratory import LaboratoryCheckpoint

        return LaboratoryCheckpoint

    def task(self, config: Any) -> Any:
        return LABORATORY[config.task].at_size(config.data.size)

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        from triattn_core.models.nothing_frozen import NothingFrozen

        vocabulary = self.task(config).vocabulary
        return NothingFrozen(len(vocabulary.words)), vocabulary

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.laboratory import LaboratoryModel

        return LaboratoryModel(config.model, self.task(config))

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.laboratory.trainer import train_laboratory

        return train_laboratory(config, folder, data, runs, resume, accelerator)

    def measured_alike(self, config: Any) -> tuple:
        return config.task, repr(config.data.model_dump())

    def measure(
        self, bundles: Sequence[Any], config: Any, data: Path, runs: Path, resume: bool, splits: Sequence[str]
    ) -> list[dict]:
        """Accuracy, and measures of the attention against the truth, on rows generated from the seeds of the config."""
        from triattn_core.training.laboratory.records import measure_laboratory

        return [measure_laboratory(bundle, splits) for bundle in bundles]

    def card(self, folder: Path) -> str:
        from triattn_core.training.laboratory.model_card import laboratory_card

        return laboratory_card(folder)


KIND = LaboratoryKind()
