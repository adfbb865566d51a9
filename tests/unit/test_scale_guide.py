"""The commands of docs/scale.md for two nodes, as they are written there, from top to bottom."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from triattn_core.analysis.mining import sources
from triattn_core.checkpoint.registry import list_checkpoints

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
NAMES = {"quora-bi-living", "quora-cbi-living"}
GUIDE = Path(__file__).parents[2] / "docs" / "scale.md"


def commands(heading: str) -> list[str]:
    """The commands of the first block under a heading, without their comments."""
    (block,) = re.findall(
        r"```sh\n(.*?)```", GUIDE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0], re.S
    )
    return [line.partition("  #")[0].strip() for line in block.replace("\\\n", "").splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not {card.name for card in list_checkpoints()} >= NAMES, reason="not trained")
def test_the_commands_for_two_nodes_run_as_they_are_written(tmp_path):
    *begin, stop = commands("Two nodes, here or anywhere")
    assert sum(command.startswith("ray start") for command in begin) == 2 and stop == "ray stop"
    script = "set -e\n" + "\n".join(begin).replace("/shared/", f"{tmp_path}/")  # the one folder that is not here
    source = sources.example_source("pairs", "en").place.read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(source)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HF_HUB_OFFLINE": "1"}
    environment["PYTHONPATH"] = str(GUIDE.parents[1])
    try:
        run = ["bash", "-c", script]
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    finally:
        subprocess.run(stop, shell=True, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert pq.read_metadata(tmp_path / "cases.parquet").num_rows == source.count(b"\n")
