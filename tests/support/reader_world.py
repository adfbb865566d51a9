"""Small readers, and the rows that they are trained on."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.support.tiny import WORDS, make_encoder
from triattn_core.__main__ import main

READER = {"format": 1, "kind": "reader", "task": "questions", "language": "en", "encoder": "tiny"}
CONFIG = {
    **READER,
    "max_tokens": 17,
    "model": {"similarity": "trilinear", "width": 11, "hidden": 10, "longest": 3},
    "data": {"train": ["asked/train", "other/train"], "dev_share": 0.2, "test": "asked/dev"},
    "training": {"epochs": 2, "rate": 1.0, "batch": 7, "seed": 1},
}


THINGS = [word for word in WORDS if len(word) > 3 and word.isascii()]


def make_rows(path: Path, passages: int, seed: int) -> None:
    """Passages with three questions each: which word stands after this one?"""
    path.parent.mkdir(parents=True, exist_ok=True)
    draw, lines = random.Random(seed), []
    for number in range(passages):
        words = draw.sample(THINGS, draw.randint(5, 9)) + ["the"] * draw.choice((0, 0, 30))
        passage = " ".join(words)
        for i, word in enumerate(words[:3]):
            answer = {"text": words[i + 1], "answer_start": passage.index(words[i + 1])}
            row = {"id": f"{seed}.{number}.{i}", "context": passage, "question": f"what {word} ?"}
            lines.append(json.dumps(row | {"answers": [answer, answer]}))
    path.write_text("\n".join(lines), "utf-8")


def make_world(root: Path) -> Path:
    """An encoder and two sets of questions, below a folder."""
    make_encoder(root / "checkpoints" / "encoders" / "tiny")
    metrics = {"start": "nothing", "start_had_seen": []}
    (root / "checkpoints" / "encoders" / "tiny" / "metrics.json").write_text(json.dumps(metrics), "utf-8")
    for name, passages, seed in (("asked/train", 17, 1), ("other/train", 5, 2), ("asked/dev", 7, 3)):
        make_rows(root / "data" / f"{name}.jsonl", passages, seed)
    with open(root / "data" / "other" / "train.jsonl", "a", encoding="utf-8") as file:  # a passage of dev
        file.write("\n" + (root / "data" / "asked" / "dev.jsonl").read_text("utf-8").splitlines()[0])
    return root


def make(world: Path, name: str, **model) -> Path:
    folder = world / "checkpoints" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | {"model": CONFIG["model"] | model}), "utf-8")
    return folder


def write_set(world: Path, name: str, *rows: tuple[str, str, str | None], **fields) -> Path:
    """Writes a set: passage, question, and its answer (None: none is known)."""
    file = world / "data" / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    questions = [{"context": passage, "question": question} | fields for passage, question, _ in rows]
    for row, (passage, _, text) in zip(questions, rows):
        row |= {"answers": [{"text": text, "answer_start": passage.index(text)}]} if text else {}
    file.write_text("\n".join(map(json.dumps, questions)) + "\n", "utf-8")
    return file


def train(world: Path, *folders: Path, arguments: tuple[str, ...] = ()) -> int:
    configs = [str(folder / "config.json") for folder in folders]
    return main(["train", *configs, "--data", str(world / "data"), "--runs", str(world / "runs"), *arguments])
