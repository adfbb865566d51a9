"""COINs: context-aware interaction networks for pairs, which need no pretrained encoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triattn_core.kinds.kind import Frozen
from triattn_core.kinds.text_kind import TextKind


class CoinKind(TextKind):
    """Two sentences; word vectors are learnt, or are an encoder's frozen table."""

    reads_word_table = True

    def pages(self, mechanism: str) -> tuple[str, ...]:
        return ("coin",)

    def section(self) -> type[Any]:
        from triattn_core.configs.coin import CoinCheckpoint

        return CoinCheckpoint

    def frozen(self, config: Any, encoder: Any) -> Frozen:
        from triattn_core.models.coin import PairWords

        return PairWords(encoder.hidden, encoder.digest, encoder)

    def load_frozen(self, config: Any, folder: Path, device: str) -> tuple[Frozen, Any]:
        from triattn_core.models.coin import load_words

        if config.encoder is None:
            return load_words(folder, config.encoder_digest)
        return super().load_frozen(config, folder, device)

    def model(self, config: Any, hidden: int) -> Any:
        from triattn_core.models.coin import Coin

        return Coin(config.model, hidden, self.outputs(config), frozen=config.encoder is not None)

    def train(self, config: Any, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Any) -> Iterator[Any]:
        from triattn_core.training.coin.trainer import train_coin

        return train_coin(config, folder, data, runs, resume, accelerator)

    def measured_alike(self, config: Any) -> tuple:
        return (*super().measured_alike(config), config.vocabulary)

    def card(self, folder: Path) -> str:
        from triattn_core.training.coin.model_card import coin_card

        return coin_card(folder)


KIND = CoinKind()
