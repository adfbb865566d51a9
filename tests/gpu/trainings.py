"""Training on a card: a reader of the paper's sizes and a COIN, some minutes each, on rows that are made here."""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from math import isfinite
from pathlib import Path
from unittest.mock import patch

import torch

from triattn_core.checkpoint.registry import find_encoder, root
from triattn_core.errors import TriattnError
from triattn_core.training.command import train
from triattn_core.training.loop import Event

CONFIGS = {
    "reader, full size": "full-size/squad-t-trilinear",
    "COIN": "quora/quora-coin",
}
PASSAGE, SENTENCE = 120, 12  # words
ENDS = 3  # step events at each end, of which the mean loss is compared


def vocabulary() -> list[str]:
    """Whole words of the English encoder."""
    folder = find_encoder("minilm-en")
    if folder is None:
        raise TriattnError("the encoder minilm-en is not here")
    words = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return sorted(word for word in words if len(word) > 3 and word.isascii() and word.isalpha())[:4000]


def question_rows(words: list[str], count: int, draw: random.Random) -> Iterator[dict]:
    """Passages of drawn words, and of each: which word stands after this one?"""
    for number in range(count):
        chosen = draw.sample(words, PASSAGE)
        at = draw.randrange(PASSAGE - 1)
        passage, word, answer = " ".join(chosen), chosen[at], chosen[at + 1]
        start = len(" ".join(chosen[: at + 1])) + 1
        row = {"id": str(number), "context": passage, "question": f"which word is after {word} ?"}
        yield row | {"answers": [{"text": answer, "answer_start": start}]}


def pair_rows(words: list[str], count: int, draw: random.Random) -> Iterator[dict]:
    """Pairs of drawn words: the second is the first in another order, or of other words."""
    for number in range(count):
        first = draw.sample(words[:500], SENTENCE)
        second = draw.sample(first if number % 2 else words[:500], SENTENCE)
        yield {"id": str(number), "text_a": " ".join(first), "text_b": " ".join(second), "label": number % 2}


ROWS: dict[str, Callable[..., Iterator[dict]]] = {"reader": question_rows, "coin": pair_rows}


def set_up(name: str, folder: Path, count: int, **model: int) -> Path:
    """The shipped config, of made rows; returns its path.  model: settings of the model that differ."""
    config = json.loads((root() / CONFIGS[name] / "config.json").read_text("utf-8"))
    words, make = vocabulary(), ROWS[config["kind"]]
    for number, split in enumerate(("train", "dev")):
        rows = make(words, count if split == "train" else 64, random.Random(number))
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    config["data"] = {"train": ["train"], "dev": "dev"}
    config["model"] |= model
    config["training"] |= {"epochs": 1000, "schedule": "constant"}
    config = {key: value for key, value in config.items() if key not in ("digest", "encoder_digest")}
    path = folder / "model" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(config), "utf-8")
    return path


def check_training(
    name: str, device: str, seconds: float, count: int = 20_000, most: int | None = None, **model: int
) -> dict:
    """Trains for `seconds` after the first step, or until its loss was reported `most` times: steps and rows a second,
    memory, and whether the loss falls."""
    row = {"check": "training", "name": name}
    with tempfile.TemporaryDirectory() as temporary, patch.dict(os.environ, TRIATTN_DEVICE=device):
        folder = Path(temporary)
        try:
            config = set_up(name, folder, count, **model)
            events = train([config], folder, folder / "runs", False, "make gpu")
            steps = list(islice(_steps(events, seconds), most))
        except (TriattnError, RuntimeError) as error:
            return row | {"passed": False, "reason": str(error).splitlines()[0][:200]}
        batch = json.loads(config.read_text("utf-8"))["training"]["batch"]
    losses = [event.values["loss"] for event in steps]
    if len(losses) < 2 * ENDS:
        return row | {"skipped": f"{len(losses)} reports of its loss in {seconds:.0f} s: too few to compare"}
    first, last = sum(losses[:ENDS]) / ENDS, sum(losses[-ENDS:]) / ENDS
    memory = torch.cuda.max_memory_allocated() if device.startswith("cuda") else None
    rates = {"steps": steps[-1].step, "rows/s": round(batch * steps[-1].values["steps/s"], 1), "peak memory": memory}
    return row | rates | {"loss": [first, last], "passed": all(map(isfinite, losses)) and last < first}


def _steps(events: Iterator[Event], seconds: float) -> Iterator[Event]:
    """The step events until `seconds` after the first; then training is left where it is."""
    until = None
    for event in events:
        if event.kind == "step":
            until = until or time.monotonic() + seconds
            yield event
        if until is not None and time.monotonic() > until:
            return
