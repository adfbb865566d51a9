"""`make gpu`: everything that only a card can show, in one command, with nothing downloaded; a report as JSON.

Without a card it says why it is skipped, and ends well.  `--device cpu` runs the same checks on the CPU.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import torch

from tests.gpu import checks, trainings
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.inference.device import describe_device, package_versions
from triattn_core.results.gpu import FILE
from triattn_core.results.run_records import records_folder

LENGTHS = (256, 512, 1024)


def skip_reason() -> str:
    """Why nothing can be checked here; empty where a card is there."""
    if torch.version.cuda is None:
        return f"PyTorch {torch.__version__} is built without CUDA: install a build for your card"
    return "" if torch.cuda.is_available() else "PyTorch finds no CUDA device: is the driver there?"


def rows(device: str, names: tuple[str, ...], lengths: tuple[int, ...], until: float) -> Iterator[dict]:
    """Each check's row; what time does not suffice for is skipped with that as its reason."""
    yield checks.check_memory(device)
    for dtype in (torch.float32, torch.bfloat16):
        for name in checks.PRODUCTS:
            for padded in (False, True):
                yield checks.check_product_path(name, device, dtype, padded)
    for entry in list_checkpoints():
        if entry.problem or names and entry.name not in names:
            continue
        for precision in checks.TOLERANCES:
            if time.monotonic() > until:
                yield {"check": "recorded", "name": entry.name, "precision": precision, "skipped": "no time left"}
            else:
                yield checks.check_checkpoint(entry, device, precision)
    for dtype in (torch.float32, torch.bfloat16) if lengths else ():
        best = checks.matrix_rate(device, dtype, 4096 if device.startswith("cuda") else 512)
        yield {"check": "rate", "name": "matrix product", "precision": str(dtype)[6:], "tflops": best, "passed": True}
        yield from checks.attention_rates(device, dtype, lengths, best)
        yield from checks.multi_head_rates(device, dtype, lengths)


def report(
    device: str,
    names: tuple[str, ...] = (),
    lengths: tuple[int, ...] = LENGTHS,
    seconds: float = 240,
    training_seconds: float = 150,
) -> dict:
    """The report of all checks on a device; none are trained for 0 seconds."""
    begun = time.monotonic()
    results = list(rows(device, names, lengths, begun + seconds))
    results += [
        trainings.check_training(name, device, training_seconds) for name in trainings.CONFIGS if training_seconds
    ]
    failed = [row for row in results if row.get("passed") is False]
    machine = {"format": 1, "date": date.today().isoformat(), "device": describe_device(device).title}
    machine["versions"] = dict(package_versions())
    return {**machine, "seconds": round(time.monotonic() - begun), "failed": len(failed), "rows": results}


def line(row: dict) -> str:
    """One check in a line."""
    verdict = "skipped" if "skipped" in row else "ok" if row["passed"] else "FAILED"
    what = " ".join(f"{row[name]}" for name in ("check", "name", "precision", "tokens") if name in row)
    numbers = ("furthest", "ms", "tflops", "of_matrix_rate", "rows/s")
    details = [f"{name} {row[name]:.3g}" for name in numbers if name in row]
    details += [str(row[name]) for name in ("reason", "skipped") if name in row] + ["padded"] * bool(row.get("padded"))
    return f"{verdict:8} {what}  {', '.join(details)}".rstrip()


def main(arguments: list[str] | None = None) -> int:
    """Prints each check and stores the report where asked; 1 where one fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--names", nargs="*", default=[], help="checkpoints; by default all")
    parser.add_argument("--lengths", nargs="*", type=int, default=list(LENGTHS), help="tokens a role of the rates")
    parser.add_argument("--seconds", type=float, default=240, help="after which no further checkpoint is begun")
    parser.add_argument("--training-seconds", type=float, default=150, help="of each training; 0: none")
    parser.add_argument("--out", type=Path, help=f"by default {FILE} among the records, which the page Results shows")
    options = parser.parse_args(arguments)
    if options.device.startswith("cuda") and (reason := skip_reason()):
        print(f"skipped: {reason}")
        return 0
    limits = options.seconds, options.training_seconds
    result = report(options.device, tuple(options.names), tuple(options.lengths), *limits)
    print("\n".join(map(line, result["rows"])))
    print(f"{result['failed']} of {len(result['rows'])} checks failed, {result['seconds']} s on {result['device']}")
    out = options.out or records_folder() / FILE
    out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
