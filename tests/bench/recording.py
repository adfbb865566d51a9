"""`python -m tests.bench.recording`: memory and time of one recorded layer of a 12-layer decoder over 2,048 tokens.

Peak memory above the plain pass, of the recorder under SDPA and of `output_attentions` under eager, each in a process
of its own, as the peak of a process only grows.  Time as the ratio of each pass to the plain one beside it: the median
over pairs in one process, which holds on a machine that has other things to do.
"""

from __future__ import annotations

import argparse
import resource
import time
from contextlib import nullcontext
from multiprocessing import get_context
from statistics import median

import torch
import transformers

from triattn_core.recording.tape import record

LAYERS, HEADS, PAIRS = 12, 8, 7


def measure(way: str, tokens: int) -> dict[str, float]:
    """Seconds and peak MiB of a pass: `plain`, `recorded` (one layer), `unselected` (none) or `eager`; of `paired`, how
    many times the plain pass the others take."""
    sizes = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
    config = transformers.LlamaConfig(vocab_size=1000, max_position_embeddings=tokens, **sizes)
    model = transformers.LlamaModel(config).eval()
    if way == "eager":
        model.set_attn_implementation("eager")
    inputs = torch.randint(0, 1000, (1, tokens))
    blocks = {"recorded": lambda: record(model, 5), "unselected": lambda: record(model, [])}

    def seconds(block: str) -> float:
        start = time.process_time()
        with blocks.get(block, nullcontext)():
            model(inputs, output_attentions=block == "eager")
        return time.process_time() - start

    with torch.no_grad():
        model(inputs[:, :64])
        if way == "paired":
            pairs = [(seconds("plain"), seconds("unselected"), seconds("recorded")) for _ in range(PAIRS)]
            ratios = {"unselected": [b / a for a, b, _ in pairs], "recorded": [c / a for a, _, c in pairs]}
            return {name: median(values) for name, values in ratios.items()}
        fastest = min(seconds(way) for _ in range(3))
    return {"seconds": fastest, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def apart(way: str, tokens: int) -> dict[str, float]:
    """`measure` in a process of its own, forked from this one, which has imported all and computed nothing."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(measure, (way, tokens))


def main() -> None:
    """Print seconds and memory of each way, and what the recorder adds as a share of what eager adds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2048)
    tokens = parser.parse_args().tokens
    _ = transformers.LlamaModel  # imports it
    results = {}
    for way in ("plain", "unselected", "recorded", "eager"):
        results[way] = apart(way, tokens)
        print(f"{way:12} {results[way]['seconds']:8.3f} s {results[way]['mib']:9.0f} MiB", flush=True)
    plain = results["plain"]
    share = (results["recorded"]["mib"] - plain["mib"]) / (results["eager"]["mib"] - plain["mib"])
    print(f"memory above the plain pass: {share:.3f} of eager's")
    ratios = apart("paired", tokens)
    for way, target in (("unselected", 1.02), ("recorded", 1.3)):
        print(f"time, {way}: {ratios[way]:.3f} times the plain pass (target {target})")


if __name__ == "__main__":
    main()
