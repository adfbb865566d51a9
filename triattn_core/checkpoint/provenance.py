"""Where a checkpoint comes from: its encoder, what that has read, its model card and its files.

Reads JSON and Markdown alone, so that the first page need not wait for torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from triattn_core.checkpoint import registry
from triattn_core.checkpoint.metadata import data_folder
from triattn_core.checkpoint.registry import Entry


@dataclass(frozen=True)
class Source:
    """A source of the encoder's pre-training data; `of_test`: whether the test set was drawn from it."""

    name: str
    what: str
    of_test: bool


def encoder_folder(entry: Entry) -> Path | None:
    """The folder of the checkpoint's shared encoder, or None if it is not one of this project."""
    name = entry.config.get("encoder")
    return registry.find_encoder(str(name)) if name else None


def pretraining_sources(entry: Entry) -> tuple[Source, ...] | None:
    """Pre-training data of the encoder as its metrics.json records them; None if it does not.

    Empty means that the encoder started from random weights.  `set` of a record names the folders of the data sets
    drawn from the same source.
    """
    folder, own_set = encoder_folder(entry), data_folder(entry)
    if "vocabulary" in entry.config:  # it learnt its own word vectors
        return ()
    if folder is None:
        return None
    try:
        sources = _read_object(folder / "metrics.json")["start_had_seen"]
        sets = [source.get("set", "").replace(",", " ").split() for source in sources]
        return tuple(
            Source(source["name"], source.get("what", ""), own_set in data_sets)
            for source, data_sets in zip(sources, sets)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _read_object(file: Path) -> dict:
    if not file.is_file():  # reading a named pipe would block
        raise FileNotFoundError(file)
    return json.loads(file.read_text("utf-8"))


def encoder_datasets(entry: Entry) -> list[str]:
    """The data sets of the encoder's own training, each once; empty if it has no recipe."""
    folder = encoder_folder(entry)
    try:
        return recipe_datasets(_read_object(folder / "recipe.json")) if folder else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def recipe_datasets(recipe: Mapping) -> list[str]:
    """The data sets that the stages of an encoder's recipe name, each once."""
    names = (name for stage in recipe["stages"] for name in (*stage["data"], stage.get("mine")))
    return list(dict.fromkeys(filter(None, names)))


def model_card(entry: Entry) -> str:
    """The model card as Markdown without its front matter; empty if there is none."""
    file = entry.path / "README.md"
    try:
        text = file.read_text("utf-8") if file.is_file() else ""  # a named pipe would be waited for
    except (OSError, ValueError):
        return ""
    return text.partition("\n---\n")[2] if text.startswith("---\n") else text


def model_card_summary(entry: Entry) -> str:
    """The first paragraph of the model card."""
    parts = (part.strip() for part in model_card(entry).split("\n\n"))
    return next((" ".join(part.split()) for part in parts if part and not part.startswith(("#", "!", "|", "["))), "")


def files(folder: Path) -> dict[str, int]:
    """Files of a folder and their bytes, without hidden ones."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return {path.name: path.stat().st_size for path in paths}
