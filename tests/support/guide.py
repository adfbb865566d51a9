"""The commands of the guide to Ray, run as they are written."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "scale.md"


def commands(heading: str) -> list[str]:
    """The commands of the first block under a heading of the guide, without their comments."""
    (block,) = re.findall(
        r"```sh\n(.*?)```", GUIDE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0], re.S
    )
    return [line.partition("  #")[0].strip() for line in block.replace("\\\n", "").splitlines()]


def run_commands(script: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Runs commands of the guide in a folder."""
    run = ["bash", "-c", "set -e\n" + "\n".join(script).replace("cp triattn_core/", f"cp {ROOT}/triattn_core/")]
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
