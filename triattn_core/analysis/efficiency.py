"""Time and peak memory of context-fusion blocks by the length of the text (Figure 1 of "Tensorized Self-Attention").

A block alone on random vectors, as the paper's synthetic data: inference is its forward pass, training that and the
gradients of input and weights.  Blocks take turns at each length, so that a machine that slows down slows all of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log
from statistics import median

import torch
from torch import Tensor
from torch.autograd.profiler import profile

from triattn_core.configs.fusion import FusionSettings
from triattn_core.errors import ConfigError, TriattnError, choices
from triattn_core.inference.device import describe_device, memory_guard
from triattn_core.models.fusion import FUSIONS, PAPER
from triattn_core.results.efficiency import PASSES, Measurement, Point
from triattn_core.results.run_records import today

LEAST, FEWEST = 0.3, 3  # a pass is repeated until it took so many seconds, and so many times
SHARE = 0.8  # of the free memory that a pass may be expected to need
PEAK = {
    "cpu": "peak of the bytes allocated for tensors, by torch's profiler, beyond input and weights",
    "cuda": "peak of the bytes allocated for tensors, by torch's CUDA allocator, beyond input and weights",
    "mps": "not told by this device",
}


@dataclass(frozen=True)
class Plan:
    """A benchmark plan; `limit`: seconds, a block is skipped if one pass is expected to take longer."""

    lengths: Sequence[int] = (16, 32, 64, 128, 256, 512)
    batch: int = 64
    width: int = 300
    blocks: Sequence[str] = tuple(FUSIONS)
    limit: float = 10.0

    def __post_init__(self) -> None:
        if not self.lengths or min(*self.lengths, self.batch, self.width) < 1 or not self.limit > 0:  # of nan too
            raise ConfigError("lengths, batch, width and limit: expected numbers above 0")
        if unknown := [name for name in self.blocks if name not in FUSIONS]:
            raise ConfigError(f"unknown block {unknown[0]!r}; {choices(unknown[0], FUSIONS)}")


@dataclass
class Run:
    """A running benchmark, one step a block and length.  Raises ConfigError if there is no such device."""

    plan: Plan
    device: str
    command: str
    points: list[Point] = field(default_factory=list)
    load: float | None = None
    threads: int = 0

    def __post_init__(self) -> None:
        lengths = sorted(set(self.plan.lengths))
        self.steps = [(tokens, block) for tokens in lengths for block in dict.fromkeys(self.plan.blocks)]
        self.about, self.threads = describe_device(self.device), torch.get_num_threads()
        self.load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None

    @property
    def done(self) -> int:
        """The number of completed steps."""
        return len(self.points) // len(PASSES)

    def step(self) -> bool:
        """Measures the next block and length; whether there are more."""
        if self.done < len(self.steps):
            tokens, block = self.steps[self.done]
            self.points += [self._point(block, tokens, pass_name) for pass_name in PASSES]
        return self.done < len(self.steps)

    def measurement(self) -> Measurement:
        """The measurements so far."""
        versions = dict(self.about.versions)
        return Measurement(
            format=1, date=today(), load=self.load, threads=self.threads, command=self.command,
            machine=f"{self.about.title}, {self.about.cores} cores, torch {versions['torch']}",
            memory=PEAK[self.device.partition(":")[0]], batch=self.plan.batch, width=self.plan.width,
            out=FusionSettings().out, points=tuple(self.points),
        )  # fmt: skip

    def _point(self, block: str, tokens: int, pass_name: str) -> Point:
        reason = self._too_much(block, tokens, pass_name)
        if not reason:
            try:
                with memory_guard(f"{block} on {tokens} tokens"):
                    return self.measure(block, tokens, pass_name)
            except TriattnError as error:
                reason = str(error)
        return Point(block=block, tokens=tokens, passed=pass_name, reason=reason)

    def measure(self, block: str, tokens: int, pass_name: str) -> Point:
        """Seconds and peak memory of a pass (of PASSES) through a new block over so many tokens."""
        torch.manual_seed(1)
        settings = FusionSettings().model_copy(update=PAPER.get(block, {}))
        module = FUSIONS[block](self.plan.width, settings).to(self.device)
        x = torch.randn(self.plan.batch, tokens, self.plan.width, device=self.device)
        keep = torch.ones(x.shape[:2], dtype=torch.bool, device=self.device)
        weights = list(module.parameters())

        def inference() -> Tensor:
            with torch.inference_mode():
                return module(x, keep)

        def training() -> tuple[Tensor, ...]:
            with torch.enable_grad():
                leaf = x.detach().requires_grad_()
                return torch.autograd.grad(module(leaf, keep).sum(), [leaf, *weights], allow_unused=True)

        call = {"training": training, "inference": inference}[pass_name]
        memory, (seconds, repeats) = peak(call, self.device), time_call(call, self.device, self.plan.limit)
        costs = {"seconds": float(f"{seconds:.4g}"), "memory": memory, "repeats": repeats}
        return Point(block=block, tokens=tokens, passed=pass_name, **costs)

    def _too_much(self, block: str, tokens: int, pass_name: str) -> str:
        """Why a pass is skipped, judged from shorter lengths; empty if it is not."""
        measured = [point for point in self.points if (point.block, point.passed) == (block, pass_name)]
        if measured and measured[-1].reason:
            return measured[-1].reason
        seconds = extrapolate_cost(
            [(point.tokens, point.seconds) for point in measured if point.seconds is not None], tokens
        )
        memory = extrapolate_cost(
            [(point.tokens, point.memory) for point in measured if point.memory is not None], tokens
        )
        free = describe_device(self.device).free
        if seconds > self.plan.limit:
            return f"{pass_name} left out from {tokens} tokens: a pass would take some {duration(seconds)}"
        if memory > SHARE * free:
            memory_text = f"some {memory / 1e9:.1f} of {free / 1e9:.1f} GB free"
            return f"{pass_name} left out from {tokens} tokens: it would need {memory_text}"
        return ""


def extrapolate_cost(points: Sequence[tuple[int, float | int]], tokens: int) -> float:
    """A cost extrapolated from shorter lengths by its last growth, between linear and quadratic; 0 without two of
    them."""
    if not points:
        return 0.0
    (last, cost), power = points[-1], 2.0
    if len(points) > 1 and points[-2][1] > 0 and cost > 0:
        power = min(2.0, max(1.0, log(cost / points[-2][1]) / log(last / points[-2][0])))
    return cost * (tokens / last) ** power


def duration(seconds: float) -> str:
    """`31 s`, `3.1 s`, `310 ms`."""
    if seconds < 1:
        return f"{float(f'{1000 * seconds:.2g}'):g} ms"
    return f"{seconds:.{0 if seconds >= 10 else 1}f} s"


def time_call(call: Callable[[], object], device: str, limit: float) -> tuple[float, int]:
    """The median seconds of a call and the number of repeats; one if it takes longer than the limit."""
    spent: list[float] = []
    began = time.perf_counter()
    while (passed := time.perf_counter() - began) < limit and (passed < LEAST or len(spent) < FEWEST) or not spent:
        _synchronize(device)
        start = time.perf_counter()
        call()
        _synchronize(device)
        spent.append(time.perf_counter() - start)
    return median(spent), len(spent)


def peak(call: Callable[[], object], device: str) -> int | None:
    """The peak bytes of tensors during a call, beyond those held before it; None on an Apple GPU."""
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        call()
        return torch.cuda.max_memory_allocated(device) - before
    if device.startswith("mps"):
        call()
        return None
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # the profiler says on stderr when it starts and ends
    with profile(profile_memory=True) as profiler:
        call()
    events = [event for event in profiler.kineto_results.events() if event.name() == "[memory]"]
    current = highest = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        current += event.nbytes()
        highest = max(highest, current)
    return highest


def _synchronize(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    elif device.startswith("mps"):
        torch.mps.synchronize()
