"""`python -m tests.bench.heads_off`: each head of a BERT-base-sized classifier switched off, against the passes alone.

The passes alone are as many rows through the same model in batches of the same size, nothing recorded or replaced.
144 heads of each text; random weights, for time does not depend on them.
"""

from __future__ import annotations

import argparse
import time

import torch

TOKENS = 30


def measure(rows: int, layers: int = 12, hidden: int = 768, heads: int = 12) -> tuple[float, float]:
    """Seconds of the passes alone, and of all heads switched off in turn, over so many texts."""
    import transformers

    from triattn_core.sources.transformer import Transformer
    from triattn_core.sources.transformer_heads import BATCH, read_without
    from triattn_core.trace.site import Site

    sizes = {"hidden_size": hidden, "intermediate_size": 4 * hidden, "num_hidden_layers": layers}
    config = transformers.BertConfig(num_attention_heads=heads, num_labels=2, **sizes)
    model = transformers.BertForSequenceClassification(config).eval()
    transformer = Transformer("random", model, None, "labels")
    every = [(Site(layer=layer, role="attention", quantity="weight"), head) for layer in range(layers)
             for head in range(heads)]  # fmt: skip
    texts = torch.randint(0, config.vocab_size, (rows, 1, TOKENS))
    with torch.inference_mode():
        model(texts[0].expand(BATCH, -1))
        alone, off = 0.0, 0.0
        for text in texts:  # in turn, so that what else the machine does falls on both
            start = time.perf_counter()
            for first in range(0, len(every), BATCH):
                model(text.expand(min(BATCH, len(every) - first), -1))
            between = time.perf_counter()
            read_without(transformer, {"input_ids": text}, every, lambda outputs: outputs.logits)
            alone, off = alone + between - start, off + time.perf_counter() - between
    return alone, off


def main() -> None:
    """Print both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=768)
    options = parser.parse_args()
    alone, off = measure(options.rows, options.layers, options.hidden)
    heads = 12 * options.layers
    print(f"{options.rows} texts of {TOKENS} tokens, {heads} heads: passes alone {alone:.1f} s, heads off {off:.1f} s")
    print(f"ratio {off / alone:.3f}")


if __name__ == "__main__":
    main()
