"""The commands of the guide to Ray, run as they are written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "scale.md"


def commands(heading: str) -> list[str]:
    """The commands of the first block under a heading of the guide, without their comments."""
    (block,) = re.findall(
        r"```sh\n(.*?)```", GUIDE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0], re.S
    )
    return [line.partition("  #")[0].strip() for line in block.replace("\\\n", "").splitlines()]


def environment(home: Path) -> dict[str, str]:
    """Of a user without a token of an earlier run, whose sweeps leave their record in `home`/own."""
    (home / "own").mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    checkpoints = f"{home / 'own'}:{ROOT / 'checkpoints'}"
    own = {"PATH": path, "HOME": str(home), "TRIATTN_CHECKPOINTS": checkpoints, "HF_HUB_OFFLINE": "1"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | own


def run_commands(script: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Runs commands of the guide in a folder."""
    run = ["bash", "-c", "set -e\n" + "\n".join(script).replace("cp triattn_core/", f"cp {ROOT}/triattn_core/")]
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
