"""Training of a sentence model on frozen word vectors; the best epoch on dev becomes the checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from accelerate import Accelerator
from torch import nn

from triattn_core.configs.sentence import SentenceCheckpoint
from triattn_core.kinds import kind_of
from triattn_core.models.encoder_layers import EncoderLayers
from triattn_core.models.encoders import load_encoder
from triattn_core.models.word_vectors import WordVectors
from triattn_core.tasks import TASKS
from triattn_core.text.rows import rows_file
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training.loop import Event, one_at_a_time
from triattn_core.training.sentence.features import TextFeatures, encode_texts
from triattn_core.training.sentence.splits import splits
from triattn_core.training.tan.trainer import WINDOW, fit_best
from triattn_core.training.tokenize_rows import tokenize_rows


def train_sentence(
    config: SentenceCheckpoint, folder: Path, data: Path, runs: Path, resume: bool, accelerator: Accelerator
) -> Iterator[Event]:
    """Train the checkpoint of `config`, for its fold; yields events; writes weights and config.json to `folder`."""
    encoder, tokenizer = load_encoder(config.encoder, str(accelerator.device))
    words = cast(WordVectors, kind_of(config).frozen(config, encoder))
    config = config.model_copy(update={"encoder_digest": words.digest})
    parts = splits(config, data)
    names = dict.fromkeys((*parts.train, parts.dev[0]))
    with one_at_a_time(accelerator, runs):
        sets = {name: _features(name, parts.sets[name], config, words, tokenizer, data, runs) for name in names}
    split_features: dict[str | None, TextFeatures] = {name: sets[name].part(rows) for name, rows in parts.train.items()}
    split_features[config.data.dev] = sets[parts.dev[0]].part(parts.dev[1])

    def start(model: nn.Module) -> None:
        if model.encoder_layers is not None:
            cast(EncoderLayers, model.encoder_layers).copy_from(encoder.joint, words.layer)

    yield from fit_best(config, words.hidden, split_features, folder, runs / folder.name, resume, accelerator, start)


def _features(
    name: str,
    examples: Sequence,
    config: SentenceCheckpoint,
    words: WordVectors,
    tokenizer: Tokenizer,
    data: Path,
    runs: Path,
) -> TextFeatures:
    task, file = TASKS[config.task], rows_file(data, name)
    rows = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    where = config.data.where if name in config.data.train else {}
    key = [name.replace("/", "-"), rows, words.source.replace(":", ""), config.max_tokens]
    key += [] if words.standardised else ["unstandardised"]
    parts = [*key, *map("-".join, where.items())]
    windows = (examples[start : start + WINDOW] for start in range(0, len(examples), WINDOW))
    texts = [
        texts_ for window in windows for (texts_,) in tokenize_rows(task, window, tokenizer, config.limits, file, where)
    ]
    folder = runs / "features" / words.digest[:12] / "-".join(map(str, parts))
    return encode_texts(folder, words, tokenizer, texts, [texts_.label for texts_ in examples])
