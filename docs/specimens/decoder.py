"""A small decoder with a class of its own, in one file: it learns which word comes next in short texts.

    python docs/specimens/decoder.py ROWS.jsonl.gz FOLDER [--epochs 2] [--rows N]

Rows are `{"text"}` or `{"text_a", "text_b"}`, of which each text is one.  FOLDER then holds this file and its weights:

    triattn app --model FOLDER/decoder.py:build
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, LAYERS, LONGEST, WORDS = 128, 4, 2, 32, 5000
START, END, UNKNOWN = "<start>", "<end>", "<unknown>"
WEIGHTS, NAMES = "decoder.safetensors", "decoder.words.json"


class Layer(nn.Module):
    """Causal attention of four heads, then two linear maps; both are added to what comes in."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, states: Tensor) -> Tensor:
        normed = self.first(states)
        parts = (part(normed).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.query, self.key, self.value))
        attended = functional.scaled_dot_product_attention(*parts, is_causal=True)
        states = states + self.out(attended.transpose(1, 2).flatten(2))
        return states + self.narrow(functional.gelu(self.wide(self.second(states))))


class Decoder(nn.Module):
    """Scores [B, n, words] of the word after each of the ids [B, n]."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.table, self.places = nn.Embedding(words, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers, self.last = nn.ModuleList(Layer() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
        for table in (self.table, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        states = self.table(ids) + self.places.weight[: ids.shape[1]]
        for layer in self.layers:
            states = layer(states)
        return self.last(states) @ self.table.weight.T


def split(text: str) -> list[str]:
    """The words and marks of a text, in small letters."""
    return re.findall(r"\w+(?:'\w+)?|[^\w\s]", text.lower())


def build():
    """What `triattn` asks for: the module, a function that makes ids and tokens of a text, and the words it knows."""
    folder = Path(__file__).parent
    words = json.loads((folder / NAMES).read_text("utf-8"))
    ids = {word: i for i, word in enumerate(words)}
    decoder = Decoder(len(words))
    decoder.load_state_dict(load_file(folder / WEIGHTS))

    def encode(text: str) -> tuple[Tensor, list[str]]:
        tokens = [START, *split(text)][:LONGEST]
        return torch.tensor([[ids.get(token, ids[UNKNOWN]) for token in tokens]]), tokens

    return decoder, encode, words


def read(file: Path) -> Iterator[list[str]]:
    """The words of each text of a file, each text once."""
    seen = set()
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            for text in (row[name] for name in ("text", "text_a", "text_b") if name in row):
                if text not in seen:
                    seen.add(text)
                    yield split(text)[: LONGEST - 1]


def batches(texts: list[list[int]], draw: torch.Generator) -> Iterator[Tensor]:
    """Texts of like lengths, 64 at a time and in a drawn order; padding is -1."""
    order = sorted(torch.randperm(len(texts), generator=draw).tolist(), key=lambda i: len(texts[i]))
    starts = torch.randperm(math.ceil(len(order) / 64), generator=draw).tolist()
    for start in starts:
        some = [torch.tensor(texts[i]) for i in order[64 * start : 64 * start + 64]]
        yield nn.utils.rnn.pad_sequence(some, True, -1)


def measure(decoder: Decoder, texts: list[list[int]]) -> tuple[float, float]:
    """Over all words of held-out texts: the share that was guessed, in per cent, and the perplexity."""
    right, loss, count = 0, 0.0, 0
    with torch.no_grad():
        for batch in batches(texts, torch.Generator().manual_seed(0)):
            scores, words = decoder(batch[:, :-1].clamp_min(0)), batch[:, 1:]
            right += int((scores.argmax(-1) == words).sum())
            count += int((words >= 0).sum())
            losses = functional.cross_entropy(scores.mT, words, ignore_index=-1, reduction="sum")
            loss += float(losses)
    return 100 * right / count, math.exp(loss / count)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rows", type=int, help="use so many texts (default: all)")
    options = parser.parse_args()
    torch.manual_seed(1)
    texts = list(read(options.file))[: options.rows]
    common = Counter(word for text in texts for word in text).most_common(WORDS - 3)
    words = [START, END, UNKNOWN, *(word for word, _ in common)]
    ids = {word: i for i, word in enumerate(words)}
    rows = [[0, *(ids.get(word, 2) for word in text), 1][: LONGEST + 1] for text in texts]
    held, rows = rows[::50], [row for i, row in enumerate(rows) if i % 50]
    decoder, draw = Decoder(len(words)), torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(decoder.parameters(), lr=1e-3, weight_decay=0.01)
    steps = options.epochs * math.ceil(len(rows) / 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps, pct_start=0.1)
    for epoch in range(options.epochs):
        for batch in batches(rows, draw):
            scores = decoder(batch[:, :-1].clamp_min(0))
            loss = functional.cross_entropy(scores.mT, batch[:, 1:], ignore_index=-1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        share, perplexity = measure(decoder, held)
        print(f"epoch {epoch + 1}: {share:.1f} % of held-out words, perplexity {perplexity:.0f}", flush=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    save_file(decoder.state_dict(), options.folder / WEIGHTS)
    (options.folder / NAMES).write_text(json.dumps(words, ensure_ascii=False), "utf-8")
    shutil.copy(__file__, options.folder / "decoder.py")
    print(f"saved {options.folder}")


if __name__ == "__main__":
    main()
