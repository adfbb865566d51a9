"""A small classifier in Hugging Face's own format: MiniLM, most of it frozen.

    python -m docs.specimens.pair_classifier ROWS.jsonl.gz FOLDER [--labels negative positive] [--rows 3000]

Rows are `{"text", "label"}`, or `{"text_a", "text_b", "label"}`.  The folder then opens as any other that
`save_pretrained` wrote: `triattn app --checkpoints FOLDER`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import torch
import transformers

from docs.specimens.minilm import load, load_tokenizer, train
from triattn_core.analysis.mining.sources import file_source
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow, read_texts

BATCH = 32


def batches(rows: Sequence[TextRow], tokenizer: transformers.BertTokenizerFast) -> list[dict]:
    """Rows in a drawn order, a batch at a time, with their labels."""
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(1)).tolist()
    found = []
    for start in range(0, len(order), BATCH):
        some = [rows[i] for i in order[start : start + BATCH]]
        columns = [list(column) for column in zip(*(row.texts for row in some))]
        inputs = tokenizer(*columns, truncation=True, max_length=64, padding=True, return_tensors="pt")
        found.append({**inputs, "labels": torch.tensor([int(row.label) for row in some])})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--labels", nargs="+", default=["no", "yes"])
    parser.add_argument("--rows", dest="count", type=int, default=3000)
    parser.add_argument("--layers", type=int, default=2, help="how many layers learn, from the last")
    options = parser.parse_args()
    torch.manual_seed(1)
    read = (row for _, row in read_texts(file_source(options.file)))
    rows = list(islice((row for row in read if isinstance(row, TextRow) and row.label is not None), options.count))
    if not rows:
        raise DataError(f"{options.file}: no labelled rows")
    tokenizer, names = load_tokenizer(), dict(enumerate(options.labels))
    labels = {"id2label": names, "label2id": {name: number for number, name in names.items()}}
    model = load(transformers.BertForSequenceClassification, options.layers, **labels)
    train(model, batches(rows, tokenizer), 2e-4)
    model.save_pretrained(options.folder)
    tokenizer.save_pretrained(options.folder)
    print(f"saved {options.folder}")


if __name__ == "__main__":
    main()
