"""Folders of Hugging Face models, as `save_pretrained` writes them: what is known of one without loading it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from triattn_core.errors import CheckpointError

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
BLOCK = 1 << 20
POINTER = b"version https://git-lfs"
ADAPTER = "adapter_config.json"  # of peft
UNMERGED = (
    f"{ADAPTER}: an adapter, which is not applied here: merge it with merge_and_unload of peft, then save the model "
    "and its tokenizer with save_pretrained"
)
# What the families of models call the number of layers and of heads.
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers")
# What a head predicts, by what the name of the class that was saved holds.
PREDICTS = {
    "ForSequenceClassification": "labels",
    "ForCausalLM": "next word",
    "LMHeadModel": "next word",
    "ForMaskedLM": "masked word",
    "ForQuestionAnswering": "answer span",
    "ForConditionalGeneration": "first word",  # of a decoder that reads an encoder
    "MarianMTModel": "first word",
}
WRITERS = ("next word", "first word")  # what models predict that write on
# What a model reads, by what it predicts; a pair of texts, of which the second may be blank, where nothing is said.
READS = {"next word": "text", "masked word": "text", "first word": "source", "answer span": "passage"}
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads")


def is_transformer(config: Any) -> bool:
    """Whether a config is Hugging Face's: it names the type of its model, and no kind of checkpoint."""
    return isinstance(config, dict) and isinstance(config.get("model_type"), str) and "kind" not in config


def checkpoint_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The same as the config of a checkpoint has it: a reader of two texts, as sentence pairs are.

    `source`: who runs it; `predicts`: one of the values of PREDICTS, empty where it has no head; `reads`: a `text`, a
    `source` of which it writes another text, a question and a `passage`, a `pair`, or a `picture` and no text.
    """
    layers, heads = (
        next((count for name in names if type(count := config.get(name)) is int and count > 0), 1)
        for names in (LAYERS, HEADS)
    )
    saved = " ".join(map(str, config.get("architectures") or ()))
    predicts = next((answer for name, answer in PREDICTS.items() if name in saved), "")
    predicts = "" if predicts == "first word" and not config.get("is_encoder_decoder") else predicts
    model = {"mechanism": "multi_head", "layers": layers, "heads": heads, "predicts": predicts}
    sees = "num_channels" in config and not {"vocab_size", "text_config"} & config.keys()
    model["reads"] = "picture" if sees else READS.get(predicts, "pair")
    return {"source": "hugging_face", "task": "pairs", "model": model | {"model_type": config["model_type"]}}


def facts(folder: Path, config: Mapping[str, Any]) -> tuple[dict, dict, str, int, str | None]:
    """Config, metrics, digest, bytes of weights and problem of a model, in the order of `registry.Entry`."""
    files = weight_files(folder)
    problem = None if files else f"{folder}: no weights (*.safetensors) there: save the model with save_pretrained"
    problem = f"{folder}: {UNMERGED}" if (folder / ADAPTER).is_file() else problem
    return checkpoint_config(config), {}, digest(folder), sum(path.stat().st_size for path in files), problem


def weight_files(folder: Path) -> list[Path]:
    """The files of its weights."""
    return sorted(path for pattern in WEIGHTS for path in folder.glob(pattern) if path.is_file())


def refuse_pointers(name: str, folder: Path) -> None:
    """Raises CheckpointError for a file of Git LFS in place of its content, as a clone without it has them."""
    for path in filter(Path.is_file, sorted(folder.glob("*"))):
        with path.open("rb") as file:
            if file.read(len(POINTER)) == POINTER:
                raise CheckpointError(f"{name}: {path.name} is a pointer of Git LFS, not the file: run git lfs pull")


def digest(folder: Path) -> str:
    """SHA-256 of the files of its weights, read again only when one of them was written."""
    return _digest(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in weight_files(folder)))


@lru_cache(64)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    sha = sha256()
    for path, *_ in files:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                sha.update(block)
    return sha.hexdigest()
