"""What is waited for before anything runs: commands without a model, and the collecting of the tests.

`python -m tests.bench.commands [--only NAME …]`: seconds of the processor and the most memory of each in a fresh
interpreter, the least of `--repeat`, beside the import of torch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    "torch": ("-c", "import torch"),
    "help": ("-m", "triattn_core", "--help"),
    "list": ("-m", "triattn_core", "list"),
    "collecting": ("-m", "pytest", "--collect-only", "-q", "--no-header"),
}
# Runs the command of its arguments and says what it took: of that process alone, so that one is not hidden by another.
PROBE = """
import resource, subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
took = resource.getrusage(resource.RUSAGE_CHILDREN)
print(took.ru_utime + took.ru_stime, took.ru_maxrss)
"""


def cost(arguments: tuple[str, ...]) -> tuple[float, float]:
    """Seconds of the processor and MB at most of an interpreter with these arguments, and of what it starts."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, kilobytes = map(float, done.stdout.split())
    return seconds, kilobytes * 1024 / 1e6


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.commands", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    for name in options.only:
        seconds, megabytes = map(min, zip(*(cost(COMMANDS[name]) for _ in range(options.repeat))))
        print(f"{name:22} {seconds:7.2f} s of the processor  {megabytes:6.0f} MB", flush=True)


if __name__ == "__main__":
    main()
