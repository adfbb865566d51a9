"""What COIN's blocks and gates have learnt: states, relevances, gates and gradients of each block.

    python -m tests.bench.coin_blocks quora-coin DATA/quora/dev.jsonl.gz [--rows 1000]

A line a block, first of the network before training (the start weights of its seed), then of the trained one:

- length: of the vectors that enter the block, median.
- spread: the standard deviation over keys of the cross-attention's relevance, median of the queries.
- entropy: of its weights as a share of the largest, mean of the queries; 1 is even.
- gate: mean and standard deviation over all features of all tokens; 1 keeps the old vector.
- gradient: of the loss in the block's weights, over the length of the weights, in thousandths; of the networks W_c and
  F of the alignments, and of fusion and gate.
- Accuracy that the model loses, in points (p of McNemar's test over the rows), if this block alone attends evenly, has
  its gate at one half, or passes its input on.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from statistics import mean, median

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from triattn_core.analysis.significance import mcnemar
from triattn_core.attention.tap import recording
from triattn_core.attention.weight_override import even_scores
from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.inference.batch import collate
from triattn_core.inference.predict import batch_by_length
from triattn_core.text.rows import read_examples

Batch = tuple[tuple, Tensor, list[int]]  # the model's inputs, labels and numbers of its rows
HEADS = ("length", "spread", "entropy", "gate", "sd", "gradient W_c", "F", "fusion", "even", "gate ½", "left out")


def batches(bundle: Bundle, examples: list) -> Iterator[Batch]:
    """Batches of similar length."""
    rows = [row for group in bundle.task.roles(examples, bundle.tokenizer, bundle.config.limits) for row in group]
    for indices in batch_by_length([row.length for row in rows], 64):
        with torch.no_grad():
            inputs = bundle.encoder(collate([rows[i] for i in indices], bundle.tokenizer).to(bundle.device))
        yield inputs, torch.tensor([examples[i].label for i in indices], device=bundle.device), indices


def measures(model: nn.Module, data: list[Batch]) -> list[list[float]]:
    """Of each block: length, spread, entropy, mean and deviation of the gate, three gradients."""
    found: dict[tuple[int, str], list[float]] = defaultdict(list)
    model.requires_grad_(True).zero_grad()
    for (a, b), labels, _ in data:
        keep = torch.cat([a.keep.flatten(), b.keep.flatten()])
        with recording() as record, inputs_of(model.layers) as entered:
            loss = cross_entropy(model((a, b)), labels, reduction="sum")
        loss.backward()
        for i, rows in enumerate(entered):
            found[i, "length"] += rows[keep].norm(dim=-1).tolist()
            for name, queries, keys in (("a_over_b", a.keep, b.keep), ("b_over_a", b.keep, a.keep)):
                add_maps(found, i, record.sites, f"layer.{i}/{name}", queries, keys)
    total = sum(len(rows) for *_, rows in data)
    lines = []
    for i, layer in enumerate(model.layers):
        gate = torch.tensor(found[i, "gate"])
        parts = [layer.context, layer.align, layer.fusion]
        lines.append(
            [median(found[i, "length"]), median(found[i, "spread"]), mean(found[i, "entropy"])]
            + [gate.mean().item(), gate.std().item(), *(gradient(part) / total * 1000 for part in parts)]
        )
    model.requires_grad_(False)
    return lines


@contextmanager
def inputs_of(layers: nn.ModuleList) -> Iterator[list[Tensor]]:
    """Collect the vectors that enter each block."""
    entered: list[Tensor] = []
    hooks = [layer.register_forward_pre_hook(lambda _, args: entered.append(args[0].rows)) for layer in layers]
    try:
        yield entered
    finally:
        for hook in hooks:
            hook.remove()


def add_maps(found: dict, i: int, sites: dict, site: str, queries: Tensor, keys: Tensor) -> None:
    """Spread and entropy of the queries with at least two keys, and all values of the gate."""
    relevance, weight = (sites[f"{site}/{name}"].tensor.float() for name in ("relevance", "weight"))
    for row in range(len(keys)):
        count = int(keys[row].sum())
        if count < 2:
            continue
        mine = queries[row]
        found[i, "spread"] += relevance[row][mine][:, keys[row]].std(-1).tolist()
        entropy = -torch.special.xlogy(weight[row][mine], weight[row][mine]).sum(-1) / torch.tensor(float(count)).log()
        found[i, "entropy"] += entropy.tolist()
    found[i, "gate"] += sites[f"{site}/gate"].tensor[queries].flatten()[::7].tolist()


def gradient(part: nn.Module) -> float:
    """The length of the gradient over that of the weights, without biases."""
    weights = [p for p in part.parameters() if p.ndim > 1]
    return (sum(p.grad.square().sum() for p in weights) / sum(p.square().sum() for p in weights)).sqrt().item()


@contextmanager
def even_block(layer: nn.Module) -> Iterator[None]:
    """One block attends evenly."""
    inner = layer.forward

    def forward(*args):
        with even_scores():
            return inner(*args)

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward


@contextmanager
def half_gate(layer: nn.Module) -> Iterator[None]:
    """One block's gate is one half: its networks give zero."""
    parts = [layer.fusion.gate_own, layer.fusion.gate_new]
    hooks = [part.register_forward_hook(lambda _, args, out: torch.zeros_like(out)) for part in parts]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def right(model: nn.Module, data: list[Batch], ablated: tuple[str, ...] = ()) -> list[bool]:
    """Which rows are answered rightly, in the order of `data`."""
    with torch.inference_mode():
        return [ok for inputs, labels, _ in data for ok in (model(inputs, ablated).argmax(-1) == labels).tolist()]


def losses(model: nn.Module, data: list[Batch]) -> list[list[str]]:
    """Of each block: what the model loses without its attention, its gate, the block."""
    whole = right(model, data)
    print(f"accuracy {100 * mean(whole):.2f} on {len(whole)} rows")

    def cost(change: Callable[[nn.Module], AbstractContextManager], layer: nn.Module) -> str:
        with change(layer):
            return difference(whole, right(model, data))

    return [
        [cost(even_block, layer), cost(half_gate, layer), difference(whole, right(model, data, (f"layer.{i}",)))]
        for i, layer in enumerate(model.layers)
    ]


def difference(whole: list[bool], changed: list[bool]) -> str:
    """Points lost, and p."""
    (test,) = mcnemar(["changed", "whole"], [changed, whole])
    return f"{100 * (mean(whole) - mean(changed)):.1f} ({test.p:.1g})"


def main() -> None:
    """Prints the table as Markdown."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.coin_blocks", description=__doc__)
    options.add_argument("checkpoint")
    options.add_argument("data", type=Path)
    options.add_argument("--rows", type=int, default=1000, help="default: 1000")
    chosen = options.parse_args()
    trained = load(chosen.checkpoint)
    examples = list(islice(read_examples(chosen.data, trained.task.Example.from_row), chosen.rows))
    data = list(batches(trained, examples))
    lost = losses(trained.model, data)
    print("| block |", " | ".join(HEADS), "|")
    print("|---|", "---:|" * len(HEADS), sep="")
    for name, model in (("before training", trained.untrained().model), ("trained", trained.model)):
        for i, numbers in enumerate(measures(model, data)):
            costs = lost[i] if name == "trained" else [""] * 3
            print(f"| {i + 1}, {name} |", " | ".join([*(f"{x:.3g}" for x in numbers), *costs]), "|")


if __name__ == "__main__":
    main()
