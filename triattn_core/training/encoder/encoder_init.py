"""Initialisation of post-training: from an installed package, a local folder, an encoder of the project, or random."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import transformers

from triattn_core.checkpoint import provenance
from triattn_core.checkpoint.encoder_folders import encoder_folder
from triattn_core.errors import ConfigError
from triattn_core.models.encoders import encoder_tensors
from triattn_core.models.tensors import digest, read_tensors
from triattn_core.tasks import pairs as pairs_task
from triattn_core.text.characters import character_tokenizer
from triattn_core.text.rows import read_json, rows_file

RELATION = "relation.safetensors"  # next to an encoder: the pair head it was trained with, not part of its digest


def start_folder(start: dict, folder: Path, data: Path) -> Path:
    """The folder with the start's config, tokenizer and, if any, weights.

    For an installed package or a local folder, the SHA-256 of the weights is checked; for an encoder of this project,
    its digest.  A random start writes its config and its vocabulary of characters to `folder`.  Raises ConfigError.
    """
    if "vocabulary" in start:
        return _empty_start(start, folder, data)
    if "encoder" in start:
        return _project_encoder(start)
    if "package" in start:
        spec = importlib.util.find_spec(start["package"])
        if spec is None or spec.origin is None:
            raise ConfigError(f"package {start['package']} is not installed: pip install -r requirements-train.txt")
        source = Path(spec.origin).parent / start.get("path", "")
    else:
        source = Path(start["path"])
    actual = hashlib.sha256((source / "model.safetensors").read_bytes()).hexdigest()
    if actual != start["sha256"]:
        raise ConfigError(f"{source}/model.safetensors: expected SHA-256 {start['sha256']}, got {actual}")
    return source


def _project_encoder(start: dict) -> Path:
    source = encoder_folder(start["encoder"])
    actual = digest(encoder_tensors(source))
    if actual != start["digest"]:
        raise ConfigError(f"{source}: expected tensor digest {start['digest']}, got {actual}")
    return source


def describe_start(start: dict) -> tuple[str, list[dict]]:
    """The name of the start, and its pre-training data; for an encoder of ours, also its training data."""
    if "encoder" not in start:
        return start["name"], start["had_seen"]
    folder = encoder_folder(start["encoder"])
    metrics, recipe = (read_json(folder / f"{name}.json") for name in ("metrics", "recipe"))
    sets = provenance.recipe_datasets(recipe)
    source = {"name": ", ".join(sets), "what": f"what {folder.name} was trained on", "set": " ".join(_folders(sets))}
    return f"{folder.name}, of this project", [*metrics["start_had_seen"], source]


def _folders(sets: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.partition("/")[0] for name in sets))


def start_model(start: dict, folder: Path, attention_dropout: float | None = None) -> transformers.BertForPreTraining:
    """BERT with its two pretraining heads: the start's weights, and random ones for missing parts."""
    config = transformers.BertConfig.from_pretrained(folder, attn_implementation="sdpa")
    if attention_dropout is not None:
        config.attention_probs_dropout_prob = attention_dropout
    if "vocabulary" not in start and "encoder" not in start:
        return transformers.BertForPreTraining.from_pretrained(folder, config=config)
    model = transformers.BertForPreTraining(config)
    if "encoder" in start:
        model.bert.load_state_dict({name: tensor.float() for name, tensor in encoder_tensors(folder).items()})
        if (folder / RELATION).is_file():
            head = {name: tensor.float() for name, tensor in read_tensors(folder / RELATION).items()}
            model.cls.seq_relationship.load_state_dict(head)
    return model


def _empty_start(start: dict, folder: Path, data: Path) -> Path:
    vocabulary = start["vocabulary"]
    tokenizer = character_tokenizer(texts([rows_file(data, name) for name in vocabulary["data"]]), vocabulary["least"])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(), pad_token_id=tokenizer.token_to_id("[PAD]"), **start["config"]
    )
    config.architectures = ["BertModel"]
    config.save_pretrained(folder)
    return folder


def texts(files: Sequence[Path]) -> list[str]:
    """Both texts of all training pairs."""
    examples = (example for file in files for example in pairs_task.read(file, training=True))
    return [text for example in examples for text in (example.text_a, example.text_b)]
