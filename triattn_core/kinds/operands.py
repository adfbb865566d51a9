"""Models of *which two numbers make this one?*: the answer is where the attention looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind
from triattn_core.tasks.laboratory import Vocabulary
from triattn_core.tasks.operands import operand_pairs


class OperandsKind(TextKind):
    """A number, and the numbers of a problem; nothing is pretrained."""

    keeps_last = True
    records = ""

    def section(self) -> type[Any]:
        from triattn_core.models.operands import OperandsCheckpoint

        return OperandsCheckpoint

    def task(self, config: Any) -> Any:
        return operand_pairs

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        from triattn_core.models.operands import NumberTokens

        return NumberTokens(), Vocabulary.of(())

    def collate(self, rows: Sequence[Any], tokenizer: Any) -> Any:
        """The numbers themselves."""
        from triattn_core.inference.number_batch import number_batch

        return number_batch(rows)

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.operands import OperandsModel

        return OperandsModel(config.model)

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The probability of each pair of the numbers that there are."""
        (roles,), (logits,) = rows, outputs
        return logits.softmax(-1)[: len(operand_pairs.pairs(len(roles.key)))].tolist()

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.operands.trainer import train_operands

        return train_operands(config, folder, data, runs, resume, accelerator)

    def splits(self, config: Any, data: Path) -> Any:
        from triattn_core.training.operands.splits import operands_splits

        return operands_splits(config, data)

    def measured_alike(self, config: Any) -> tuple:
        return config.task, repr(config.data.model_dump())

    def card(self, folder: Path) -> str:
        from triattn_core.training.operands.model_card import operands_card

        return operands_card(folder)


KIND = OperandsKind()
