"""COIN beside a BERT-base of the same lengths, on a batch of 8 pairs: parameters and time, in turns, in this run.

The paper's Table 5: sentences of 32 words, 64 for BERT, which reads both at once, with a linear layer on its first
token.  Weights are random: they change no time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import mean, median, stdev

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from triattn_core.configs.coin import CoinConfig
from triattn_core.inference.device import describe_device, keep_freed_memory
from triattn_core.models.coin import Coin, Sentences
from triattn_core.results import run_records
from triattn_core.training.metrics_writer import machine

PAIRS, TOKENS, WORDS = 8, 32, 30_522  # as many words as BERT has word pieces
COST = "coin-cost"
Call = Callable[[], Tensor]
ENGLISH = CoinConfig(embedding=300, hidden=225, layers=3)


def coin(config: CoinConfig, device: str) -> tuple[Call, int, int]:
    """A call on the batch; parameters, and how many of them are the words' vectors."""
    model = Coin(config, WORDS).to(device).eval()
    keep = torch.ones(PAIRS, TOKENS, dtype=torch.bool, device=device)
    a, b = (Sentences(torch.randint(5, WORDS, (PAIRS, TOKENS), device=device), keep) for _ in range(2))
    return lambda: model((a, b)), sum(p.numel() for p in model.parameters()), model.embed.weight.numel()


def bert(device: str) -> tuple[Call, int, int]:
    """The same of BERT-base with a linear layer on the state of its first token."""
    torch.manual_seed(1)
    config = BertConfig(vocab_size=WORDS, attn_implementation="sdpa")  # its defaults are BERT-base
    model, predict = BertModel(config, add_pooling_layer=False).to(device).eval(), nn.Linear(768, 2).to(device)
    ids = torch.randint(5, WORDS, (PAIRS, 2 * TOKENS), device=device)
    mask = torch.ones_like(ids)
    size = sum(p.numel() for part in (model, predict) for p in part.parameters())
    words = model.embeddings.word_embeddings.weight.numel()
    return lambda: predict(model(ids, attention_mask=mask).last_hidden_state[:, 0]), size, words


def main() -> None:
    """Prints the table as Markdown."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.coin", description=__doc__)
    options.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options.add_argument("--batches", type=int, default=1000, help="as the paper (default: 1000)")
    options.add_argument("--threads", type=int, default=0, help="by default torch's own choice")
    options.add_argument("--record", action="store_true", help=f"keep it in {COST}.jsonl among the records")
    chosen = options.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    keep_freed_memory()
    forms = {
        "COIN, English, 3 blocks": coin(ENGLISH, chosen.device),
        "COIN, Chinese, 2 blocks": coin(CoinConfig(), chosen.device),
        "BERT-base": bert(chosen.device),
    }
    times: dict[str, list[float]] = {name: [] for name in forms}
    with torch.inference_mode():
        for turn in range(3 + chosen.batches):
            for name, (call, *_) in forms.items():
                if chosen.device == "cuda":
                    torch.cuda.synchronize()
                start = time.perf_counter()
                call()
                if chosen.device == "cuda":
                    torch.cuda.synchronize()
                if turn >= 3:
                    times[name].append(time.perf_counter() - start)
    machine = describe_device(chosen.device)
    print(f"{machine.title}, threads: {torch.get_num_threads()}; {chosen.batches} batches of {PAIRS} x 2 x {TOKENS}\n")
    print("| model | parameters | without words' vectors | s/batch, mean ± sd | median | BERT-base is slower by |")
    print("|---|---:|---:|---:|---:|---:|")
    slow = median(times["BERT-base"])
    for name, (_, size, words) in forms.items():
        spent = times[name]
        numbers = [f"{size / 1e6:.1f}M", f"{(size - words) / 1e6:.1f}M"]
        numbers += [f"{mean(spent):.4f} ± {stdev(spent):.4f}", f"{median(spent):.4f}"]
        numbers.append(f"{slow / median(spent):.1f} times")
        print("|", " | ".join([name, *numbers]), "|")
    if chosen.record:
        _, size, words = forms["COIN, English, 3 blocks"]
        keep(ENGLISH.about, size - words, times["COIN, English, 3 blocks"])
        keep({"mechanism": "bert"}, forms["BERT-base"][1], times["BERT-base"])


def keep(model: dict, parameters: int, times: list[float]) -> None:
    """A line as `results.run_records` reads it; a run has one number, its mean over batches."""
    spent = {"seed": 0, "seconds_per_batch": mean(times), "spread": stdev(times), "batches": len(times)}
    command = f"python -m tests.bench.coin --batches {len(times)} --record"
    record = {"name": f"{model['mechanism']}, {len(times)} batches", "date": run_records.today(), "machine": machine()}
    record |= {"command": command, "parameters": parameters, "config": {"model": model}}
    run_records.append_record(
        run_records.records_folder() / f"{COST}.jsonl", record | {"digest": model["mechanism"], "each_seed": [spent]}
    )


if __name__ == "__main__":
    main()
