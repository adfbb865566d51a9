"""`python -m tests.bench.first_map`: seconds to the first map of a BERT-base-sized model after its weights are read.

A folder with random weights is made and opened as the pages open one; what is timed is the first text of a process: all
layers and heads recorded, proved, and the picture of them described.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import transformers

from tests.support.tiny_transformers import word_pieces

TEXT = "Which browsers can play movies?", "unhappy cats sat on mats"


def measure(layers: int, hidden: int) -> tuple[float, float, float]:
    """Seconds to read the model, to trace its first text, and to draw all of its maps."""
    from triattn_core.scenes import heads
    from triattn_core.sources import find_entries
    from triattn_core.sources.models import Models
    from triattn_core.tasks.pairs import Example

    with tempfile.TemporaryDirectory() as name:
        folder, tokenizer = Path(name), word_pieces()
        sizes = {"hidden_size": hidden, "intermediate_size": 4 * hidden, "num_hidden_layers": layers}
        config = transformers.BertConfig(num_attention_heads=12, num_labels=2, vocab_size=len(tokenizer), **sizes)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        start = time.perf_counter()
        models, entry = Models("cpu"), find_entries([str(folder)])[0]
        models.load(entry)
        read = time.perf_counter()
        explanation = models.explain(entry, Example(*TEXT))
        traced = time.perf_counter()
        heads.build([explanation], heads.Settings())
        return read - start, traced - read, time.perf_counter() - traced


def main() -> None:
    """Print the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=768)
    options = parser.parse_args()
    read, traced, drawn = measure(options.layers, options.hidden)
    print(
        f"read {read:.2f} s; then first trace {traced:.2f} s, drawn {drawn:.2f} s: {traced + drawn:.2f} s to its maps"
    )


if __name__ == "__main__":
    main()
