"""Ray on a cluster of two nodes, simulated here: the rows of one process, each once, whoever is killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pandas as pd
import psutil
import pyarrow.parquet as pq
import pytest
from safetensors.torch import load_file

from tests.support import guide, stand_in
from tests.support.small_training import command_line, make_small
from triattn_core.__main__ import main
from triattn_core.analysis import measures
from triattn_core.analysis.mining import sources
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.errors import DataError
from triattn_core.scale import on_ray
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import Cluster
from triattn_core.scale.row_files import write_rows
from triattn_core.scale.worker import Work, result_schema

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
# Killed workers are given up late; the signal fails a test, where a thread would end its process.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("only_ray"),
    pytest.mark.timeout(600, method="signal", func_only=True),
]
ROWS = 6000
NAMES = ["quora-bi-living", "quora-cbi-living"]


# The first of this file, never beside the tests below: `ray stop` ends every cluster of this machine.
@pytest.mark.skipif(not {*NAMES} <= {entry.name for entry in list_checkpoints()}, reason="not trained")
def test_the_guides_commands_run_as_they_are_written(tmp_path):
    environment = guide.environment(tmp_path)
    guide.run_commands(guide.commands("On the cores of this machine"), tmp_path, environment)
    rows = (tmp_path / "rows.jsonl").read_bytes().count(b"\n")
    assert pq.read_metadata(tmp_path / "cases.parquet").num_rows == rows == 48
    assert pq.read_metadata(tmp_path / "context.parquet").num_rows >= rows
    (tmp_path / "cases.parquet").unlink()
    *begin, stop = guide.commands("Two nodes, here or anywhere")
    assert sum(command.startswith("ray start") for command in begin) == 2 and stop == "ray stop"
    try:
        guide.run_commands(begin, tmp_path, environment)
    finally:
        subprocess.run(stop, shell=True, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert pq.read_metadata(tmp_path / "cases.parquet").num_rows == rows
    guide.run_commands(guide.commands("Training"), tmp_path, environment)
    assert json.loads((tmp_path / "my-pairs" / "metrics.json").read_text())["dev"]["n"] > 0
    assert len(list((tmp_path / "own" / "results").glob("*.jsonl"))) == 1


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    file = tmp_path_factory.mktemp("data") / "rows.jsonl"
    rows = (json.dumps({"id": f"r{i}", "text_a": f"row {i}", "text_b": "b", "label": i % 2}) for i in range(ROWS))
    file.write_text("\n".join(rows) + "\nnot json\n")
    return sources.file_source(file)


def job(source, folder, address, seconds=0.0):
    work = Work(partial(stand_in.slow_measure, seconds=seconds), (), None, "pairs")
    return RayJob(work, (), source, Cluster(address, 2), folder=folder)


def here(source) -> pd.DataFrame:
    (part,) = stand_in.slow_measure(())(sources.read_examples("pairs", source))
    return part.table


def test_two_nodes_give_the_rows_of_one_process_although_a_worker_is_killed(source, tmp_path, address):
    begun = job(source, tmp_path, address, 0.006)  # long enough for another worker to begin
    killer = threading.Thread(target=kill_a_worker, args=(tmp_path,))
    killer.start()
    living: list[int] = []
    begun.run(lambda done, rows, alive: living.append(alive))
    killer.join()
    assert begun.restarts >= 1 and max(living) == 2
    pd.testing.assert_frame_equal(begun.frame(), here(source))
    assert len(begun.errors()) == 1 and "not JSON" in begun.errors()[0]
    begun.clear()
    assert not tmp_path.exists()


def kill_a_worker(folder):
    """One that has begun."""
    end = time.monotonic() + 120
    while not (notes := list((folder / "workers").glob("*.json"))) and time.monotonic() < end:
        time.sleep(0.05)
    os.kill(json.loads(notes[0].read_text())["process"], signal.SIGKILL)


DRIVER = """
import sys
from pathlib import Path
from functools import partial
import ray
from tests.support import guide, stand_in
from tests.unit.test_scale_on_ray import job
from triattn_core.analysis.mining import sources
ray.cloudpickle.register_pickle_by_value(stand_in)
job(sources.file_source(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3], 0.002).run()
"""


def test_a_job_whose_driver_was_killed_goes_on(source, tmp_path, address):
    arguments = [sys.executable, "-c", DRIVER, str(source.place), str(tmp_path), address]
    driver = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 200
    while len(list((tmp_path / "parts").glob("*.parquet"))) < 2 and driver.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.1)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    done = len(list((tmp_path / "parts").glob("*.parquet")))
    resumed, reports = job(source, tmp_path, address, 0.002), []
    resumed.run(lambda done, rows, alive: reports.append(done))
    assert done >= 2 and reports[0] > 0  # the rows of the killed driver come first
    pd.testing.assert_frame_equal(resumed.frame(), here(source))


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A world with a config that trains in seconds."""
    world = make_small(tmp_path / "world")
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(world / "checkpoints"))
    return world


def test_two_workers_end_with_the_weights_of_one_process_although_one_is_killed(small, address, capfd):
    here, there = command_line(small, "train", "here"), command_line(small, "train", "there")
    assert main(here) == 0
    killer = threading.Thread(target=kill_a_trainer, args=(small / "there" / "runs" / "small-bi",))
    killer.start()
    assert main([*there, "--engine", "ray", "--address", address]) == 0
    killer.join()
    assert "workers started again 1" in capfd.readouterr().out
    one, two = (load_file(small / folder / "small-bi" / "model.safetensors") for folder in ("here", "there"))
    assert max((one[name] - two[name]).abs().max().item() for name in one) < 2e-3
    scores = [json.loads((small / folder / "small-bi" / "metrics.json").read_text()) for folder in ("here", "there")]
    assert scores[0]["dev"] == scores[1]["dev"]
    assert [path.name for path in (small / "there" / "runs").glob("ray-*")] == []


def kill_a_trainer(run: Path) -> None:
    """One of the workers, once a state is stored."""
    end = time.monotonic() + 300
    while not list(run.glob("state-*[0-9]")) and time.monotonic() < end:
        time.sleep(0.05)
    workers = [
        process
        for process in psutil.process_iter(["cmdline"])
        if "RayTrainWorker" in " ".join(process.info["cmdline"] or ())
    ]
    workers[0].kill()


def test_a_wrong_config_ends_the_training_in_one_line(small, address, capsys):
    (small / "data" / "small" / "train.jsonl").write_text('{"text_a": "who", "text_b": "what"}\n')
    assert main([*command_line(small, "train", "there"), "--engine", "ray", "--address", address]) == 1
    assert "nothing to train on" in capsys.readouterr().err.splitlines()[-1]


def test_workers_that_cannot_begin_end_the_job_in_one_line(source, tmp_path, address):
    """As on a node that has not the checkpoint."""
    work = Work(measures.cases, (str(tmp_path / "none"),), None, "pairs")
    schema = result_schema(Work(stand_in.slow_measure, (), None, "pairs"), stand_in.slow_measure(()))
    (tmp_path / "job").mkdir()
    rows, _ = write_rows(source, "pairs", tmp_path / "job" / "rows", 3)
    on_ray.connect(Cluster(address, 1))
    with pytest.raises(DataError, match=r"^the workers ended: .*none") as raised:
        on_ray.map_rows(rows, tmp_path / "job", work, schema, Cluster(address, 1), lambda done, alive: None)
    assert "\n" not in str(raised.value)
