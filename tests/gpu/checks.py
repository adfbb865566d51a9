"""What is checked on a card: recorded numbers, the paths without a cube, memory, and rates, as rows of a report.

All take a device, so that their logic is tested on the CPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from unittest.mock import patch

import torch
from torch import Tensor, nn

from triattn_core.attention import tri
from triattn_core.attention.mtsa import Mtsa
from triattn_core.attention.tap import recording
from triattn_core.attention.tri import TriAttention
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import Entry
from triattn_core.checkpoint.verify import example_record
from triattn_core.errors import TriattnError
from triattn_core.inference.device import describe_device
from triattn_core.trace.site import Site

TOLERANCES = {"float32": 1e-3, "bfloat16": 0.05}  # of a probability, against the CPU's recorded ones
PRODUCTS = {"dot": "T-dot", "scaled_dot": "T-scaled-dot", "bilinear": "Trilinear"}
HEADS, FEATURES = 12, 32
HERE = Site(role="check")
LEAST = 0.2  # seconds over which a call is measured
ALL = 4096  # tokens of all texts together, of the rates of a layer
PAD = 5  # masked positions at the end of key and context


def check_checkpoint(entry: Entry, device: str, precision: str) -> dict:
    """The recorded example of a checkpoint, run in this precision, against its recorded probabilities."""
    row = {"check": "recorded", "name": entry.name, "precision": precision}
    recorded = entry.metrics.get("example")
    if not recorded:
        return row | {"skipped": "no example is recorded"}
    try:
        bundle = load(entry.path, device)
        half = torch.autocast(device.partition(":")[0], torch.bfloat16) if precision == "bfloat16" else nullcontext()
        with half:
            record = example_record(bundle, bundle.task.Example.from_row(recorded["row"]))
    except (TriattnError, RuntimeError) as error:
        return row | {"passed": False, "reason": str(error).splitlines()[0][:200]}
    pairs = list(zip(record["probabilities"], recorded["probabilities"]))
    furthest = max(abs(a - b) for a, b in pairs)
    same = len(record["probabilities"]) == len(recorded["probabilities"])
    return row | {"furthest": furthest, "passed": same and furthest <= TOLERANCES[precision]}


def attention_inputs(tokens: int, device: str, dtype: torch.dtype, padded: bool) -> tuple[list[Tensor], list[Tensor]]:
    """q, k, v, c [1, heads, tokens, features] and the keeps of query, key and context."""
    draw = torch.Generator().manual_seed(tokens)
    inputs = [torch.randn(1, HEADS, tokens, FEATURES, generator=draw).to(device, dtype) for _ in range(4)]
    keeps = [torch.ones(1, tokens, dtype=torch.bool, device=device) for _ in range(3)]
    if padded:
        for keep in keeps[1:]:
            keep[:, -PAD:] = False
    return inputs, keeps


def check_product_path(name: str, device: str, dtype: torch.dtype, padded: bool, tokens: int = 37) -> dict:
    """The path without a cube against the one that records it."""
    torch.manual_seed(1)
    module = TriAttention(HEADS * FEATURES, HEADS, name).to(device, dtype)
    inputs, keeps = attention_inputs(tokens, device, dtype, padded)
    with torch.inference_mode(), patch.object(tri, "WORTH", 0):
        with recording(lambda site: True):
            whole = module.attend(*inputs, *keeps, None, HERE)
        product = module.attend(*inputs, *keeps, None, HERE)
    furthest = float((whole.float() - product.float()).abs().max() / whole.float().abs().max())
    passed = bool(torch.isfinite(product).all()) and furthest < (0.05 if dtype == torch.bfloat16 else 1e-4)
    row = {"check": "product path", "name": PRODUCTS[name], "precision": str(dtype).removeprefix("torch.")}
    return row | {"padded": padded, "furthest": furthest, "passed": passed}


def check_memory(device: str) -> dict:
    """What the page says of the device's memory."""
    machine = describe_device(device)
    passed = 0 < machine.free <= machine.total
    return {"check": "memory", "name": machine.title, "free": machine.free, "total": machine.total, "passed": passed}


def seconds_of(call: Callable[[], object], device: str) -> float:
    """Seconds of a call, the mean over LEAST seconds after one to warm up."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    call()
    wait()
    begun, count = time.perf_counter(), 0
    while not count or time.perf_counter() - begun < LEAST:
        call()
        wait()
        count += 1
    return (time.perf_counter() - begun) / count


def matrix_rate(device: str, dtype: torch.dtype, size: int = 4096) -> float:
    """TFLOP/s of a square matrix product: what the card gives at best."""
    a = torch.randn(size, size, device=device, dtype=dtype)
    return 2 * size**3 / seconds_of(lambda: a @ a, device) / 1e12


def attention_rates(device: str, dtype: torch.dtype, lengths: Iterable[int], best: float) -> Iterable[dict]:
    """TFLOP/s of a forward pass, against the matrix rate.  A product of N × IJ over the features is counted twice: once
    for the scores, once for the values."""
    for tokens in lengths:
        inputs, keeps = attention_inputs(tokens, device, dtype, False)
        for name in (*PRODUCTS, "additive"):
            title = PRODUCTS.get(name, "T-additive")
            row = {"check": "rate", "name": title, "tokens": tokens, "precision": str(dtype).removeprefix("torch.")}
            module = TriAttention(HEADS * FEATURES, HEADS, name).to(device, dtype)
            try:
                with torch.inference_mode():
                    took = seconds_of(
                        lambda one=module, given=(*inputs, *keeps): one.attend(*given, None, HERE), device
                    )
            except RuntimeError as error:  # no memory
                yield row | {"skipped": str(error).splitlines()[0][:120]}
                continue
            rate = 4 * HEADS * tokens**3 * FEATURES / took / 1e12
            yield row | {"ms": 1000 * took, "tflops": rate, "of_matrix_rate": rate / best, "passed": True}


def multi_head_rates(device: str, dtype: torch.dtype, lengths: Iterable[int], width: int = 512) -> Iterable[dict]:
    """Milliseconds of MTSA, of `nn.MultiheadAttention` and of the fused softmax attention alone."""
    for tokens in lengths:
        x = torch.randn(ALL // tokens, tokens, width, device=device, dtype=dtype)
        keep = torch.ones(x.shape[:2], dtype=torch.bool, device=device)
        plain = nn.MultiheadAttention(width, 8, batch_first=True).to(x).eval()
        layer = Mtsa(width, 8, width // 8).to(x).eval()
        q = x.view(*x.shape[:2], 8, -1).transpose(1, 2)
        calls = {
            "MTSA": lambda one=layer, x=x, keep=keep: one(x, keep),
            "nn.MultiheadAttention": lambda one=plain, x=x: one(x, x, x, need_weights=False)[0],
            "fused attention": lambda q=q: nn.functional.scaled_dot_product_attention(q, q, q),
        }
        with torch.inference_mode():
            for name, call in calls.items():
                row = {"check": "layer", "name": name, "tokens": tokens, "precision": str(dtype).removeprefix("torch.")}
                yield row | {"ms": 1000 * seconds_of(call, device), "passed": True}
