"""The commands of the guide, as they are written."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from tests.support import guide
from triattn_core.__main__ import main
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.scale import on_ray
from triattn_core.scale.on_ray import Cluster

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
NAMES = {"quora-bi-living", "quora-cbi-living", "quora-tri-living"}


@pytest.mark.skipif(not {entry.name for entry in list_checkpoints()} >= NAMES, reason="not trained")
def test_the_guides_commands_run_as_they_are_written(tmp_path, address, monkeypatch):
    environment = guide.environment(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", environment["TRIATTN_CHECKPOINTS"])
    on_ray.connect(Cluster(address))  # commands in this process that name no cluster begin on this one
    run_here(guide.commands("On the cores of this machine"))
    rows = (tmp_path / "rows.jsonl").read_bytes().count(b"\n")
    assert pq.read_metadata(tmp_path / "cases.parquet").num_rows == rows == 48
    assert pq.read_metadata(tmp_path / "context.parquet").num_rows >= rows
    (tmp_path / "cases.parquet").unlink()
    *begin, stop = guide.commands("Two nodes, here or anywhere")
    assert sum(command.startswith("ray start") for command in begin) == 2 and stop == "ray stop"
    try:
        guide.run_commands(begin, tmp_path, environment)
    finally:
        end_processes(tmp_path)  # `ray stop` ends every cluster of this machine
    assert pq.read_metadata(tmp_path / "cases.parquet").num_rows == rows
    run_here(guide.commands("Training"))
    assert json.loads((tmp_path / "my-pairs" / "metrics.json").read_text())["dev"]["n"] > 0
    assert len(list((tmp_path / "own" / "results").glob("*.jsonl"))) == 1


def run_here(commands: list[str]) -> None:
    for program, *arguments in map(shlex.split, commands):
        if program == "cp":
            shutil.copy(guide.ROOT / arguments[0], arguments[1])
        else:
            assert program == "triattn" and main(arguments) == 0, arguments


def end_processes(home: Path) -> None:
    """Those of the user whose home it is."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == str(home) and process.pid != os.getpid():
                process.kill()
        except psutil.Error:
            continue
