"""A small classifier in Hugging Face's own format: MiniLM, most of it frozen.

    python -m docs.specimens.pair_classifier ROWS.jsonl.gz FOLDER [--labels negative positive] [--rows 3000]

Rows are `{"text", "label"}`, or `{"text_a", "text_b", "label"}`.  The folder then opens as any other that
`save_pretrained` wrote: `triattn app --checkpoints FOLDER`.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file

from triattn_core.analysis.mining.sources import file_source
from triattn_core.checkpoint.registry import find_encoder
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow, read_texts

ENCODER = "minilm-en"


def build(labels: list[str], trained_layers: int) -> transformers.BertForSequenceClassification:
    """MiniLM with a new head; only the last layers and the head learn."""
    folder = find_encoder(ENCODER)
    assert folder, f"no encoder {ENCODER}"
    names = dict(enumerate(labels))
    config = transformers.BertConfig.from_pretrained(folder, id2label=names, label2id={b: a for a, b in names.items()})
    model = transformers.BertForSequenceClassification(config)
    weights = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
    missing = model.bert.load_state_dict(weights, strict=False).missing_keys
    assert all(name.startswith("pooler") for name in missing), missing
    for parameter in model.bert.parameters():
        parameter.requires_grad = False
    learns = [*model.bert.encoder.layer[len(model.bert.encoder.layer) - trained_layers :], model.bert.pooler]
    for part in learns:
        for parameter in part.parameters():
            parameter.requires_grad = True
    return model


def train(
    model: transformers.BertForSequenceClassification, tokenizer: transformers.PreTrainedTokenizerFast, rows: list
) -> None:
    """One epoch; prints the running accuracy."""
    draw = torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4, weight_decay=0.01)
    right = seen = 0
    model.train()
    order = torch.randperm(len(rows), generator=draw).tolist()
    for start in range(0, len(order), 32):
        batch = [rows[i] for i in order[start : start + 32]]
        columns = [list(column) for column in zip(*(row.texts for row in batch))]
        inputs = tokenizer(*columns, truncation=True, max_length=64, padding=True, return_tensors="pt")
        labels = torch.tensor([int(row.label) for row in batch])
        outputs = model(**inputs, labels=labels)
        optimizer.zero_grad()
        outputs.loss.backward()
        optimizer.step()
        right, seen = right + int((outputs.logits.argmax(-1) == labels).sum()), seen + len(batch)
        if start // 32 % 20 == 0:
            print(f"{seen} rows, {100 * right / seen:.1f} % right", flush=True)
    model.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
    encoder = find_encoder(ENCODER)
    tokenizer = transformers.BertTokenizerFast(tokenizer_file=str(encoder / "tokenizer.json"), model_max_length=512)
    model = build(options.labels, options.layers)
    train(model, tokenizer, rows)
    model.save_pretrained(options.folder)
    tokenizer.save_pretrained(options.folder)
    print(f"saved {options.folder}")


if __name__ == "__main__":
    main()
