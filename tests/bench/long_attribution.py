"""What interpolation saves over two sentences of 56 words: `python -m tests.bench.long_attribution`.

Seconds of the processor with the cube (as before, and as when somebody records) and without, in turn in one run: of a
pass, of a gradient, and of one layer's attention on its own, with the tanh per cell that each takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch

from tests.bench.measure import in_turn
from triattn_core.analysis.attribution.methods import attribute
from triattn_core.analysis.intervention.batched_variants import Query, gradients_enabled, run_query
from triattn_core.attention import interpolated
from triattn_core.attention.tri import TriAttention
from triattn_core.checkpoint.bundle import load
from triattn_core.tasks import pairs

A = (
    "the quick brown fox that lives in the old forest behind our small village often jumps over the lazy dog of my "
    "neighbour who sleeps in the warm sun every afternoon while children play with a red ball near the river and sing "
    "songs about the summer that they remember from years ago when all was"
)
B = (
    "a lazy dog that belongs to the man next door sleeps in the sun after lunch and a brown fox from the forest jumps "
    "over it again and again while some girls and boys are playing near the water with their ball and singing an old "
    "song about summers which nobody here can forget or wants"
)
SPREADS = (0.01, 0.03, 0.08, 0.25)  # standard deviations of a random context's features


@contextmanager
def cubes(interpolate: bool = False) -> Iterator[None]:
    """Within the block, nothing is interpolated, or everything is."""
    with patch.object(interpolated, "is_worth_it", lambda *terms: interpolate):
        yield


def seconds(call: Callable[[], object], calls: int = 3) -> float:
    """Of the processor, the least of `calls`."""
    spent = []
    for _ in range(calls):
        begun = time.process_time()
        call()
        spent.append(time.process_time() - begun)
    return min(spent)


def attention_gradient(attention: TriAttention, given: tuple[torch.Tensor, ...]) -> None:
    """One attention and its gradient for all inputs but the parameters."""
    with gradients_enabled():
        inputs = [tensor.clone().requires_grad_() if tensor.is_floating_point() else tensor for tensor in given[:7]]
        attention.attend(*inputs, None, "layer").sum().backward()


def captured(query: Query) -> list[tuple[TriAttention, tuple[torch.Tensor, ...]]]:
    """What each layer's attention is given in a pass over the example."""
    calls, attend = [], TriAttention.attend
    spied = lambda self, *given: calls.append((self, given)) or attend(self, *given)  # noqa: E731
    with patch.object(TriAttention, "attend", spied), cubes():
        run_query(query.bundle, query.example)
    return calls


def beside_compiled_code(times_called: int) -> None:
    """Two rows, for which the cube's code is compiled, by how much the context varies."""
    torch.manual_seed(1)
    rows, heads, features, tokens, context_tokens = 2, 12, 32, 58, 118
    attention = TriAttention(heads * features, heads, "additive").requires_grad_(False)
    query, key, value = (0.5 * torch.randn(rows, heads, tokens, features) for _ in range(3))
    context = torch.randn(rows, heads, context_tokens, features)
    keeps = [torch.ones(rows, n, dtype=torch.bool) for n in (tokens, tokens, context_tokens)]
    for spread in SPREADS:
        given = query, key, value, spread * context, *keeps
        _, _, beside, p = attention.similarity.terms(query, key, spread * context, None)
        half = interpolated._range(beside.flatten(0, 1))[1].view(rows, heads, -1)
        nodes = float(interpolated._counts(half, p).mean())
        for name, call in {
            "gradient": lambda given=given: attention_gradient(attention, (*given, None)),
            "pass": lambda given=given: attention.attend(*given, None, "layer"),
        }.items():
            with cubes():
                compiled = seconds(call, times_called)
            with cubes(interpolate=True):
                took = seconds(call, times_called)
            times = f"compiled {compiled:.3f} s, interpolated {took:.3f} s"
            print(f"{context_tokens / nodes:.0f} tokens a node, {name}: {times}")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.bench.long_attribution", description=__doc__)
    options.add_argument("--words", type=int, default=56, help="of each sentence (default: all 56)")
    options.add_argument("--calls", type=int, default=3, help="the least time of so many counts (default: 3)")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    a, b = (" ".join(text.split()[: chosen.words]) for text in (A, B))
    query = run_query(load("quora-tri-published"), pairs.Example(a, b))
    print(f"{len(a.split())} and {len(b.split())} words, {len(query.roles.context)} context tokens, one thread")
    calls = {"a pass": lambda: run_query(query.bundle, query.example)}
    calls["a gradient"] = lambda: attribute(query, ["gradient × input"])
    calls["integrated gradients, 8 steps"] = lambda: attribute(query, ["integrated gradients"], steps=8)
    for number, (attention, given) in enumerate(captured(query)):
        if number % 2 == 0:
            calls[f"attention of layer {number // 2}, gradient"] = lambda a=attention, g=given: attention_gradient(a, g)
    for name, call in calls.items():
        with cubes():
            before = seconds(call, chosen.calls)
        after = seconds(call, chosen.calls)
        print(f"{name}: {before:.3f} → {after:.3f} s, {before / after:.2f} times as fast", flush=True)
    beside_compiled_code(chosen.calls)
    heads, (n, i, j), d = 12, (len(query.roles.query), len(query.roles.key), len(query.roles.context)), 32
    cells = heads * n * i * j * d
    tanh = in_turn({"": torch.randn(1 << 18).tanh_}, "cpu")[""].seconds / (1 << 18) * cells
    print(f"floor of a tanh per cell and feature: {cells:,} in one attention, {tanh:.3f} s; twice that with a gradient")


if __name__ == "__main__":
    main()
