"""Training of a COIN, including its word vectors; the best epoch on dev becomes the checkpoint."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from accelerate import Accelerator

from triattn_core.configs.coin import CoinCheckpoint
from triattn_core.models.coin import TOKENIZER
from triattn_core.training.coin.pair_words import pair_rows
from triattn_core.training.loop import Event, one_at_a_time
from triattn_core.training.tan.trainer import fit_best


def train_coin(
    config: CoinCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`; yields events; writes weights, config.json and tokenizer.json to `folder`."""
    with one_at_a_time(accelerator, runs):
        sets, words, vocabulary = pair_rows(config, data, runs, str(accelerator.device))
    config = config.model_copy(update={"encoder_digest": words.digest})
    yield from fit_best(config, words.hidden, sets, folder, runs / folder.name, resume, accelerator)
    if vocabulary is not None and accelerator.is_main_process:
        shutil.copyfile(vocabulary / TOKENIZER, folder / TOKENIZER)
