"""A small run of post-training: start weights, sets of pairs, and a recipe of two stages."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import torch
import transformers
from accelerate import Accelerator

from tests.support.tiny import WORDS, make_encoder
from triattn_core.text.tokenizer import Tokenizer
from triattn_core.training import loop
from triattn_core.training.encoder import pair_batches as encoder_rows
from triattn_core.training.encoder import post_training, schedule

MASK, RATE = 0.2, 1e-2


def make_start(folder: Path, heads: bool = True) -> dict:
    """A BERT with or without the heads of its own training, and the words far enough apart to be mined."""
    make_encoder(folder)
    config = transformers.BertConfig.from_pretrained(folder, architectures=None, initializer_range=0.2)
    torch.manual_seed(7)
    bert = transformers.BertForPreTraining(config)
    with torch.no_grad():
        bert.bert.embeddings.word_embeddings.weight.mul_(3)
    (bert if heads else bert.bert).save_pretrained(folder)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    sources = [{"name": "nothing", "what": "random weights"}]
    return {"path": str(folder), "sha256": digest, "name": "tiny", "had_seen": sources}


def sentence(draw: random.Random, *first: str) -> str:
    words = [word for word in WORDS[:-3] if word != "red"]
    return " ".join([*first, *draw.choices(words, k=draw.randint(2, 5))])


def write(path: Path, rows: list[tuple[str, str, int | None]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(dict(zip(("text_a", "text_b", "label"), row))) + "\n" for row in rows]
    path.write_text("".join(lines), "utf-8")


def make_sets(folder: Path) -> None:
    """`train`, `dev`: B begins with "red" in rows of label 1.  `positives`: chains of three, joined by `train`."""
    draw = random.Random(4)
    rows = [(sentence(draw), sentence(draw, *["red"] * (n % 2)), n % 2) for n in range(68)]
    chains = [[sentence(draw), sentence(draw, "red"), sentence(draw, "red")] for _ in range(14)]
    rows[1:15:2] = [(chain[0], other[2], 1) for chain, other in zip(chains[::2], chains[1::2])]
    write(folder / "train.jsonl", rows[:48])
    write(folder / "dev.jsonl", rows[48:])
    write(folder / "positives.jsonl", [(*pair, 1) for chain in chains for pair in zip(chain, chain[1:])])


def make_recipe(start: dict) -> dict:
    """Two stages: with mined negatives and cut short in its second epoch; then three whole epochs."""
    first = {"data": ["small/train"], "mine": "small/positives", "epochs": 2, "mask": MASK, "rate": RATE}
    second = {"data": ["small/train"], "epochs": 3, "mask": 0.0, "rate": RATE}
    return {
        "kind": "encoder",
        "start": start,
        "stages": [{**first, "stop_after": 19}, second],
        "dev": "small/dev",
        "word_weight": 0.2,
        "batch": 8,
        "max_tokens": 16,
        "precision": "no",
        "seed": 1,
        "save_every": 5,
    }


def recipe(world: Path) -> dict:
    return json.loads((world / "recipe.json").read_text("utf-8"))


def train(recipe: dict, world: Path, run: Path, until: int | None = None, resume: bool = False) -> list[loop.Event]:
    """The events of a run; with `until`, of one that is left when that step is saved."""
    events = []
    for event in post_training.post_train(recipe, world / "data", run, resume, Accelerator(cpu=True)):
        events.append(event)
        if (event.kind, event.step) == ("saved", until):
            break
    return events


def weights(run: Path) -> dict[str, torch.Tensor]:
    return loop.last_weights(run)


def make_world(root: Path) -> Path:
    """The folder with `data/small`, `start` and `recipe.json`."""
    make_sets(root / "data" / "small")
    (root / "recipe.json").write_text(json.dumps(make_recipe(make_start(root / "start"))), "utf-8")
    return root


def read(world: Path, name: str, tokenizer: Tokenizer) -> list[encoder_rows.Pair]:
    return encoder_rows.read_pairs([world / "data" / "small" / f"{name}.jsonl"], tokenizer, 16)


def mined_pairs(world: Path, tokenizer: Tokenizer, seed: int = 1) -> list[encoder_rows.Pair]:
    """The negatives that the first stage mines."""
    bert = transformers.BertForPreTraining.from_pretrained(world / "start").bert
    rows, other_rows = (read(world, name, tokenizer) for name in ("positives", "train"))
    return schedule.mine_negatives(rows, other_rows, bert, tokenizer, seed)
