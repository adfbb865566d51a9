"""Rows on a cluster of two nodes: those of one process, each once, whatever is killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import psutil
import pytest

from tests.support import stand_in
from triattn_core.analysis import measures
from triattn_core.analysis.measures import measure_batch
from triattn_core.analysis.mining import sources
from triattn_core.errors import DataError
from triattn_core.scale import on_ray
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import Cluster
from triattn_core.scale.row_files import write_rows
from triattn_core.scale.worker import Work, result_schema

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
ROWS = 6000


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return make_source(tmp_path_factory.mktemp("data"), ROWS)


def make_source(folder: Path, count: int):
    """So many rows, and a line that cannot be read."""
    rows = (json.dumps({"id": f"r{i}", "text_a": f"row {i}", "text_b": "b", "label": i % 2}) for i in range(count))
    (folder / "rows.jsonl").write_text("\n".join(rows) + "\nnot json\n")
    return sources.file_source(folder / "rows.jsonl")


def job(source, folder, address, measure=stand_in.slow_measure, workers=2):
    return RayJob(Work(measure, (), None, "pairs"), (), source, Cluster(address, workers), folder=folder)


def slow_job(source, folder, address):
    """In `folder`/job, long enough to be killed; a worker is killed at its first rows if the counter is empty."""
    measure = partial(stand_in.deadly_measure, counter=folder / "count", times=1, seconds=0.003)
    return job(source, folder / "job", address, measure)


def here(source) -> pd.DataFrame:
    return measure_batch(stand_in.slow_measure(()), list(sources.read_examples("pairs", source)))[0]


DRIVER = """
import sys
from pathlib import Path
import ray
from tests.on_ray.test_rows import slow_job
from tests.support import stand_in
from triattn_core.analysis.mining import sources
ray.cloudpickle.register_pickle_by_value(stand_in)
slow_job(sources.file_source(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]).run()
"""


def test_two_nodes_give_the_rows_of_one_process_although_the_driver_and_a_worker_are_killed(source, tmp_path, address):
    (tmp_path / "count").write_bytes(b"xx")
    arguments = [sys.executable, "-c", DRIVER, str(source.place), str(tmp_path), address]
    driver = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 200
    while len(list((tmp_path / "job" / "parts").glob("*.parquet"))) < 2 and driver.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.1)
    os.killpg(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    (tmp_path / "count").unlink()
    begun, done = slow_job(source, tmp_path, address), []
    begun.run(lambda rows, *_: done.append(rows))
    assert begun.restarts == 1  # of two workers
    assert 0 < done[0] < ROWS  # the rows of the killed driver come first
    pd.testing.assert_frame_equal(begun.frame(), here(source))
    assert len(begun.errors()) == 1 and "not JSON" in begun.errors()[0]
    begun.clear()
    assert not (tmp_path / "job").exists()


def test_a_worker_whose_machine_fails_is_started_again(tmp_path, address):
    measure = partial(stand_in.sick_measure, counter=tmp_path / "count", times=1)
    begun = job(make_source(tmp_path, 300), tmp_path / "job", address, measure, 1)
    alive, readers = [], []

    def report(done: int, rows: int, living: int) -> None:
        alive.append(living)
        lines = ("".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
        readers.append(sum("FooterReader" in line for line in lines))

    begun.run(report)
    assert alive[0] == 0 and max(alive) == 1
    assert max(readers) == 0  # Ray starts 32 processes to read the files of rows, seconds of work each, unless told
    assert begun.restarts == 1 and not list(begun.folder.glob("workers/failed-*"))
    assert len(begun.frame()) == 300 and len(begun.errors()) == 1  # the line that cannot be read


def test_a_worker_that_the_system_kills_at_the_same_rows_ends_a_job_which_then_goes_on(tmp_path, address):
    counter = tmp_path / "count"
    measure = partial(stand_in.deadly_measure, counter=counter, times=1000)
    begun = job(make_source(tmp_path, 300), tmp_path / "job", address, measure, 1)
    with pytest.raises(DataError, match=r"a worker failed 3 times at lines .*: its process was killed") as raised:
        begun.run()
    assert "\n" not in str(raised.value) and os.path.getsize(counter) == 4
    counter.write_bytes(b"x" * 1001)
    begun.run()
    assert begun.restarts == 0 and len(begun.frame()) == 300 and not list(begun.folder.glob("workers/failed-*"))


def test_workers_that_cannot_begin_end_the_job_in_one_line(tmp_path, address):
    """As on a node that has not the checkpoint."""
    work = Work(measures.cases, (str(tmp_path / "none"),), None, "pairs")
    schema = result_schema(Work(stand_in.slow_measure, (), None, "pairs"), stand_in.slow_measure(()))
    (tmp_path / "job").mkdir()
    rows, _ = write_rows(make_source(tmp_path, 3), "pairs", tmp_path / "job" / "rows", 3)
    on_ray.connect(Cluster(address, 1))
    with pytest.raises(DataError, match=r"^the workers ended: .*none") as raised:
        on_ray.map_rows(rows, tmp_path / "job", work, schema, Cluster(address, 1), lambda done, alive: None)
    assert "\n" not in str(raised.value)
