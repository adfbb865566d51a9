"""Models of *which two numbers make this one?*: the answer is where the attention looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind
from triattn_core.tasks.laboratory import Vocabulary
from triattn_core.tasks.operands import operand_pairs


class OperandsKind(TextKind):
    """A number, and the numbers of a problem; nothing is pretrained, but where a frozen encoder reads the words."""

    keeps_last = True
    keeps_curve = True
    records = ""

    def section(self) -> type[Any]:
        from triattn_core.configs.operands import OperandsCheckpoint

        return OperandsCheckpoint

    def task(self, config: Any) -> Any:
        return operand_pairs

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        from triattn_core.models.nothing_frozen import NothingFrozen
        from triattn_core.models.number_vectors import FEATURES
        from triattn_core.models.word_states import load_word_states

        if config.encoder is not None:
            return load_word_states(config.encoder, device, config.encoder_digest)
        return NothingFrozen(FEATURES), Vocabulary.of(())

    def collate(self, rows: Sequence[Any], tokenizer: Any) -> Any:
        """The numbers themselves, and the words around them as the model reads them."""
        from triattn_core.inference.number_batch import number_batch

        return number_batch(rows, None if isinstance(tokenizer, Vocabulary) else tokenizer)

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.operands import OperandsModel

        return OperandsModel(config.model, hidden if config.encoder else 0)

    def decode(self, bundle: Any, rows: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """The probability of each pair of the numbers that there are; then of each operation, if the model reads it."""
        (roles,), (logits,) = rows, outputs
        pairs, operations = logits[: operand_pairs.OUTPUTS], logits[operand_pairs.OUTPUTS :]
        count = len(operand_pairs.pairs(len(roles.key)))
        return [*pairs.softmax(-1)[:count].tolist(), *operations.softmax(-1).tolist()]

    def prediction(self, bundle: Any, example: Any, answer: Sequence[float], parts: int, **fields: Any) -> Any:
        """The pairs alone."""
        pairs = answer[: len(operand_pairs.pairs(len(example.numbers)))]
        return super().prediction(bundle, example, pairs, parts, **fields)

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.operands.trainer import train_operands

        return train_operands(config, folder, data, runs, resume, accelerator)

    def splits(self, config: Any, data: Path) -> Any:
        from triattn_core.training.operands.splits import operands_splits

        return operands_splits(config, data)

    def held_out(self, config: Any, examples: Sequence[Any]) -> list[Any]:
        from triattn_core.training.operands.splits import is_dev

        return [example for example, held in zip(examples, is_dev(config, examples)) if held]

    def attention_report(
        self, bundle: Any, examples: Sequence[Any], progress: Callable[[int], object] = lambda count: None
    ) -> Mapping[str, Any]:
        """What the scores read, by functional ANOVA."""
        from triattn_core.analysis.maps.operand_shares import measure_shares

        return measure_shares(bundle, examples, progress)

    def measured_alike(self, config: Any) -> tuple:
        return config.task, config.encoder, repr(config.data.model_dump())

    def card(self, folder: Path) -> str:
        from triattn_core.training.operands.model_card import operands_card

        return operands_card(folder)


KIND = OperandsKind()
