"""What post-training starts from: an installed package, a local folder, or nothing but characters."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from transformers import BertConfig, BertForPreTraining

from triattn_core.errors import ConfigError
from triattn_core.tasks import pairs as pairs_task
from triattn_core.text.characters import character_tokenizer
from triattn_core.text.rows import rows_file


def start_folder(start: dict, folder: Path, data: Path) -> Path:
    """The folder of the start's config, tokenizer and, where it has any, weights.

    From an installed package or a local folder, with the SHA-256 of the weights checked; a start from nothing writes
    its config and its vocabulary of characters to `folder`. Raises ConfigError.
    """
    if "vocabulary" in start:
        return _nothing(start, folder, data)
    if "package" in start:
        spec = importlib.util.find_spec(start["package"])
        if spec is None or spec.origin is None:
            raise ConfigError(f"package {start['package']} is not installed: pip install -r requirements-train.txt")
        found = Path(spec.origin).parent / start.get("path", "")
    else:
        found = Path(start["path"])
    digest = hashlib.sha256((found / "model.safetensors").read_bytes()).hexdigest()
    if digest != start["sha256"]:
        raise ConfigError(f"{found}/model.safetensors: expected SHA-256 {start['sha256']}, got {digest}")
    return found


def start_model(start: dict, folder: Path) -> BertForPreTraining:
    """BERT with its two pretraining heads: the start's weights, and what these lack drawn at random."""
    if "vocabulary" not in start:
        return BertForPreTraining.from_pretrained(folder, attn_implementation="sdpa")
    return BertForPreTraining(BertConfig.from_pretrained(folder, attn_implementation="sdpa"))


def _nothing(start: dict, folder: Path, data: Path) -> Path:
    words = start["vocabulary"]
    tokenizer = character_tokenizer(texts([rows_file(data, name) for name in words["data"]]), words["least"])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), pad_token_id=tokenizer.token_to_id("[PAD]"), **start["config"]
    )
    config.architectures = ["BertModel"]
    config.save_pretrained(folder)
    return folder


def texts(files: Sequence[Path]) -> list[str]:
    """Both texts of all pairs that may be trained on."""
    examples = (example for file in files for example in pairs_task.read(file, training=True))
    return [text for example in examples for text in (example.text_a, example.text_b)]
