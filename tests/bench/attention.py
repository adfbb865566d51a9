"""Three-way attention against its plain broadcast form and against building the cube: time and peak memory.

Every line is measured in this run, relevance, joint softmax and contextual values together, with masks.  `broadcast`
is each equation as it stands over [N, I, J, D]; `cube` builds [N, I, J] (by matrix products where the relevance is
one), as it does when somebody records; `ours` is what a model runs when nobody does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from unittest.mock import patch

import torch
from torch import Tensor

from tests.bench.measure import Measured, free, in_turn, measure
from triattn_core.attention.softmax import joint_softmax
from triattn_core.attention.tap import recording
from triattn_core.attention.tri import TriAttention
from triattn_core.attention.tri_similarity import exponential
from triattn_core.inference.device import describe_device, keep_freed_memory
from triattn_core.trace.site import Site

NAMES = {"additive": "T-additive", "dot": "T-dot", "scaled_dot": "T-scaled-dot", "bilinear": "Trilinear"}
Call = Callable[[], Tensor]
Size = tuple[int, int, int, int]  # batch, heads, tokens, features of a head


def broadcast(module: TriAttention, q: Tensor, k: Tensor, v: Tensor, c: Tensor, *keeps: Tensor) -> Tensor:
    """The equations over [N, I, J, D], nothing rearranged."""
    similarity = module.similarity
    if hasattr(similarity, "p"):
        parts = ((q @ similarity.W.mT)[..., :, None, None, :], (k @ similarity.U.mT)[..., None, :, None, :])
        summed = torch.tanh(parts[0] + parts[1] + (c @ similarity.H.mT)[..., None, None, :, :])
        relevance = (summed * similarity.p[:, None, None, None, :]).sum(-1)
        values = v[..., :, None, :] + c[..., None, :, :]
    else:
        a, b, d = similarity.factors(q, k, c)
        relevance = (a[..., :, None, None, :] * b[..., None, :, None, :] * d[..., None, None, :, :]).sum(-1)
        v, c = module.mix.factors(v, c)
        values = v[..., :, None, :] * c[..., None, :, :]
    weights = joint_softmax(relevance, *(keep[:, None] for keep in keeps))
    return (weights[..., None] * values[..., None, :, :, :]).sum((-3, -2))


def forms(name: str, inputs: list[Tensor], real: Tensor, compiled: bool) -> Iterator[tuple[str, Call]]:
    """(form, call) for each way to the same output.  real: [batch, tokens] bool, of query, key and context alike."""
    torch.manual_seed(1)
    _, heads, _, features = inputs[0].shape
    module = TriAttention(heads * features, heads, name).to(inputs[0])

    def attend(record_all: bool, compiler: bool = False) -> Tensor:
        with recording(lambda site: record_all), patch.object(exponential, "worth_compiling", lambda *_: compiler):
            return module.attend(*inputs, real, real, real, None, Site(role="bench"))

    yield "broadcast", lambda: broadcast(module, *inputs, real, real)
    if name != "additive":
        yield "cube", lambda: attend(True)
        yield "ours", lambda: attend(False)
    else:
        yield "ours", lambda: attend(False)
        if compiled:
            yield "ours, compiled", lambda: attend(False, compiler=True)


def with_backward(call: Call, inputs: list[Tensor]) -> Call:
    """The call and the gradients of its sum of squares."""

    def both() -> Tensor:
        return torch.autograd.grad(call().float().square().sum(), inputs)[0]

    return both


def rows(name: str, size: Size, device: str, dtype: torch.dtype) -> Iterator[tuple[str, str, Measured]]:
    """(pass, form, measured); a broadcast form that would not fit into half of the free memory is left out."""
    torch.manual_seed(0)
    batch, heads, tokens, features = size
    inputs = [torch.randn(*size, device=device, dtype=dtype) / 2 for _ in range(4)]
    real = torch.arange(tokens, device=device).expand(batch, -1) < tokens - 2
    for backward in (False, True):
        for tensor in inputs:
            tensor.requires_grad_(backward)
        calls = dict(forms(name, inputs, real, exponential.has_compiler()))
        if batch * heads * tokens**3 * features * inputs[0].element_size() * (6 if backward else 3) > free(device) / 2:
            calls.pop("broadcast")
        with torch.set_grad_enabled(backward):
            outputs = [call().detach().float() for call in calls.values()]
            timed = {form: with_backward(call, inputs) if backward else call for form, call in calls.items()}
            for form, timing in in_turn(timed, device).items():
                yield "forward + backward" if backward else "forward", form, timing
        for other in outputs[1:]:
            torch.testing.assert_close(other, outputs[0], rtol=0, atol=1e-4 if dtype == torch.float32 else 5e-2)


def matrix_rate(side: int, device: str, dtype: torch.dtype) -> float:
    """Multiply-adds a second, times two, of the product of two matrices of `side` rows and columns."""
    left, right = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
    return 2 * side**3 / measure(lambda: left @ right, device).seconds


def main() -> None:
    """Prints the table as Markdown."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.attention", description=__doc__)
    options.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    options.add_argument("--tokens", type=int, nargs="+", default=[16, 32, 64, 128])
    options.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    text = "number of heads, and features of each (default: 12 of 32)"
    options.add_argument("--heads", type=int, nargs=2, default=[12, 32], metavar=("HEADS", "FEATURES"), help=text)
    options.add_argument("--only", nargs="+", default=list(NAMES), choices=NAMES)
    options.add_argument("--matrix", type=int, default=4096, help="side of the matrices whose product gives the rate")
    chosen = options.parse_args()
    dtype = getattr(torch, chosen.dtype)
    keep_freed_memory()  # as `train` and `evaluate` do
    rate = matrix_rate(chosen.matrix, chosen.device, dtype)
    machine = describe_device(chosen.device)
    heads, features = chosen.heads
    print(f"{machine.title}, {machine.cores} cores, {torch.get_num_threads()} threads, {chosen.dtype}")
    print(f"{heads} heads of {features}; a matrix product: {rate / 1e9:,.0f} GFLOP/s\n")
    print("| relevance | batch | tokens | pass | form | ms | MB | × broadcast | × cube | of the matrix rate |")
    print("|---|---:|---:|---|---|---:|---:|---:|---:|---:|")
    for name in chosen.only:
        for batch in chosen.batch:
            for tokens in chosen.tokens:
                table(name, (batch, heads, tokens, features), chosen.device, dtype, rate)


def table(name: str, size: Size, device: str, dtype: torch.dtype, rate: float) -> None:
    """The lines of one relevance at one size."""
    batch, heads, tokens, features = size
    base: dict[str, Measured] = {}
    for passed, form, timing in rows(name, size, device, dtype):
        base[f"{passed} {form}"] = timing
        ratios = [
            f"{base[key].seconds / timing.seconds:.1f}" if (key := f"{passed} {other}") in base else "-"
            for other in ("broadcast", "cube")
        ]
        operations = 4 * batch * heads * tokens**3 * features * (3.5 if "backward" in passed else 1)
        share = "-" if name == "additive" else f"{operations / timing.seconds / rate:.0%}"
        numbers = [f"{1000 * timing.seconds:.2f}", f"{timing.peak / 1e6:,.1f}", *ratios, share]
        print("|", " | ".join([NAMES[name], str(batch), str(tokens), passed, form, *numbers]), "|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
