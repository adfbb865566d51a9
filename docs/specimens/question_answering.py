"""A small model of extractive question answering in Hugging Face's own format: MiniLM, its first layers frozen.

    python -m docs.specimens.question_answering ROWS.jsonl.gz FOLDER [--rows 8000] [--layers 4]

Rows are SQuAD's: `{"question", "context", "answers": [{"text", "answer_start"}]}`.  The folder then opens as any other
that `save_pretrained` wrote: `triattn app --checkpoints FOLDER`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

import torch
import transformers

from docs.specimens.minilm import load, load_tokenizer, train
from triattn_core.analysis.mining.sources import file_source
from triattn_core.errors import DataError

BATCH = 16


def span(answer: Mapping, encoded: transformers.BatchEncoding) -> tuple[int, int] | None:
    """The first and last token of an answer, None where it was cut off."""
    start = answer["answer_start"]
    places = [encoded.char_to_token(at, sequence_index=1) for at in (start, start + len(answer["text"]) - 1)]
    return None if None in places else (places[0], places[1])


def batches(rows: Iterable[Mapping], tokenizer: transformers.BertTokenizerFast, longest: int) -> list[dict]:
    """Rows of like lengths together, in a drawn order; rows without an answer in sight are left out."""
    found = []
    for row in rows:
        encoded = tokenizer(row["question"], row["context"], truncation="only_second", max_length=longest)
        place = span(row["answers"][0], encoded) if row["answers"] else None
        if place:
            found.append((encoded, place))
    if not found:
        raise DataError("no rows whose answer stands in the passage")
    found.sort(key=lambda pair: len(pair[0]["input_ids"]))
    together = [found[start : start + BATCH] for start in range(0, len(found), BATCH)]
    draw = torch.randperm(len(together), generator=torch.Generator().manual_seed(1))
    return [_inputs(together[i], tokenizer) for i in draw.tolist()]


def _inputs(some: list, tokenizer: transformers.BertTokenizerFast) -> dict:
    padded = tokenizer.pad([dict(encoded) for encoded, _ in some], return_tensors="pt")
    starts, ends = torch.tensor([place for _, place in some]).T
    return {**padded, "start_positions": starts, "end_positions": ends}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", dest="count", type=int, default=8000)
    parser.add_argument("--layers", type=int, default=4, help="how many layers learn, from the last")
    parser.add_argument("--longest", type=int, default=256, help="tokens of a question and its passage")
    options = parser.parse_args()
    torch.manual_seed(1)
    tokenizer = load_tokenizer()
    model = load(transformers.BertForQuestionAnswering, options.layers)
    rows = (row for _, _, row in file_source(options.file).rows("questions") if not isinstance(row, DataError))
    train(model, batches(islice(rows, options.count), tokenizer, options.longest), 2e-4)
    model.save_pretrained(options.folder)
    tokenizer.save_pretrained(options.folder)
    print(f"saved {options.folder}")


if __name__ == "__main__":
    main()
