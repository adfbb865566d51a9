"""No memory, a failed device or a failed disk is no fault of a row: nothing is set aside for it."""

from __future__ import annotations

import json
import os
import signal
from functools import partial
from importlib.metadata import version

import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from tests.support import stand_in
from tests.support.analysis_checkpoints import use_checkpoints_and_rows
from triattn_core.__main__ import main
from triattn_core.analysis import measures
from triattn_core.analysis.mining import miner, sources
from triattn_core.analysis.mining.failing_rows import isolate_failures
from triattn_core.errors import ConfigError, DataError
from triattn_core.scale import attempts
from triattn_core.scale.attempts import count_attempt
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import Cluster
from triattn_core.scale.row_files import write_rows
from triattn_core.scale.worker import Work, Worker, result_schema

FAILURES = {
    "memory": MemoryError("no room"),
    "disk": OSError(5, "Input/output error"),
    "memory of the GPU": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nmore"),
    "GPU": getattr(torch, "AcceleratorError", RuntimeError)("CUDA error: an illegal memory access"),
    "GPU, of an older torch": RuntimeError("CUDA error: device-side assert triggered"),
    "a package": ImportError("libcudart.so.12: cannot open shared object file"),
    "a package of another version": AttributeError("module 'torch' has no attribute 'new'", name="new", obj=torch),
    "memory of the CPU": RuntimeError("DefaultCPUAllocator: can't allocate memory"),
}
each_failure = pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_checkpoints_and_rows(tmp_path_factory.mktemp("world")) as root:
        yield root


def fail(failure, *_):
    raise failure


@each_failure
def test_no_row_is_set_aside_for_it(failure):
    with pytest.raises(type(failure)) as raised:
        isolate_failures(partial(fail, failure), [(line, "") for line in range(4)])
    assert raised.value is failure


@each_failure
@pytest.mark.parametrize("command", ["cases", "context", "evaluate"])
def test_it_ends_a_command_in_one_line(failure, command, world, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(miner, "run_models", partial(fail, failure))
    monkeypatch.setattr(measures, "verdict_table", partial(fail, failure))
    monkeypatch.setattr("triattn_core.analysis.maps.context_shares.example_shares", partial(fail, failure))
    names = ["pairs-bi", "pairs-tri"] if command == "cases" else ["pairs-tri"]
    out = [] if command == "evaluate" else ["--out", str(tmp_path / "table.parquet")]
    assert main([command, *names, str(world / "rows.jsonl"), *out]) == 1
    *_, line = capsys.readouterr().err.splitlines()
    assert line.startswith("triattn: ") and str(failure).splitlines()[0].rpartition("] ")[2] in line
    assert list(tmp_path.iterdir()) == []


def rows_file(folder, good: int, bad: int):
    lines = [json.dumps({"id": str(i), "text_a": "who", "text_b": "what", "label": i % 2}) for i in range(good)]
    (folder / "many.jsonl").write_text("\n".join([*lines, *["not json"] * bad]) + "\n", "utf-8")
    return folder / "many.jsonl"


@pytest.mark.parametrize(("good", "bad", "status"), [(9, 11, 1), (10, 10, 0), (5, 14, 0)])
@pytest.mark.parametrize("command", ["cases", "context", "evaluate"])
def test_a_command_fails_that_sets_most_rows_aside(command, good, bad, status, world, tmp_path, capsys):
    names = ["pairs-bi", "pairs-tri"] if command == "cases" else ["pairs-tri"]
    out = [] if command == "evaluate" else ["--out", str(tmp_path / "table.parquet")]
    assert main([command, *names, str(rows_file(tmp_path, good, bad)), *out]) == status
    printed = capsys.readouterr().err
    assert (f"WARNING: {bad} of {good + bad} rows were set aside, more than half" in printed) == bool(status)
    if out:
        assert pd.read_parquet(tmp_path / "table.parquet")["row"].nunique() == good


def job(folder, measure):
    source = sources.file_source(rows_file(folder, 300, 0))
    return RayJob(Work(measure, (), None, "pairs"), (), source, Cluster(), folder=folder / "job")


def test_what_a_job_has_kept_stays_if_most_rows_were_set_aside(tmp_path, capsys):
    from triattn_core.commands import set_aside

    kept = job(tmp_path, stand_in.slow_measure)
    kept.rows = 300
    set_aside.clear(kept, 151)
    assert kept.folder.is_dir() and f"kept: {kept.folder}" in capsys.readouterr().err
    set_aside.clear(kept, 150)
    assert not kept.folder.exists() and capsys.readouterr().err == ""


def test_a_worker_without_ray_raises_it_in_one_line_and_tries_anew(tmp_path):
    source = sources.file_source(rows_file(tmp_path, 4, 0))
    work = Work(partial(stand_in.sick_measure, counter=tmp_path / "count", times=1), (), None, "pairs")
    schema = result_schema(work, work.measure(()))
    write_rows(source, "pairs", tmp_path / "rows")
    worker, batch = Worker(work, schema, tmp_path), pq.read_table(tmp_path / "rows" / "000000.parquet")
    with pytest.raises(DataError, match=r"^a worker failed once at lines 1 to 4: MemoryError: no room$"):
        worker(batch)
    assert worker(batch)["row"].to_pylist() == [1, 2, 3, 4] and not list(tmp_path.glob("failed-*"))


def work_in_a_process(folder, measure):
    """A function of a run that measures the rows in a new process; returns the result or the signal it died of."""
    work = Work(measure, (), None, "pairs")
    schema = result_schema(work, work.measure(()))
    write_rows(sources.file_source(rows_file(folder, 4, 0)), "pairs", folder / "rows")
    batch = pq.read_table(folder / "rows" / "000000.parquet")

    def call(run):
        if (process := os.fork()) == 0:
            attempts.is_in_actor = lambda: True  # Ray starts it again
            try:
                result = str(len(Worker(work, schema, folder, run)(batch)))
            except DataError as error:
                result = str(error)
            (folder / "result").write_text(result)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        return (folder / "result").read_text() if code == 0 else code

    return call


def test_the_third_worker_whose_machine_fails_at_the_same_rows_ends_the_job(tmp_path):
    call = work_in_a_process(tmp_path, partial(stand_in.sick_measure, counter=tmp_path / "count", times=4))
    assert call("earlier") == 1 and [call("run") for _ in range(2)] == [1, 1]
    assert call("run") == "a worker failed 3 times at lines 1 to 4: MemoryError: no room"
    assert call("run") == "4" and not list(tmp_path.glob("failed-run-*"))


def test_the_third_worker_that_the_system_kills_at_the_same_rows_ends_the_job(tmp_path):
    call = work_in_a_process(tmp_path, partial(stand_in.deadly_measure, counter=tmp_path / "count", times=5))
    assert call("earlier") == call("earlier") == -signal.SIGKILL  # no attempts of the run that goes on
    assert [call("run") for _ in range(3)] == [-signal.SIGKILL] * 3
    assert call("run").startswith("a worker failed 3 times at lines 1 to 4: its process was killed")
    assert call("run") == "4" and not list(tmp_path.glob("failed-run-*"))


def test_a_worker_that_was_killed_once_leaves_no_count(tmp_path):
    call = work_in_a_process(tmp_path, partial(stand_in.deadly_measure, counter=tmp_path / "count", times=1))
    assert call("run") == -signal.SIGKILL and len(list(tmp_path.glob("failed-*"))) == 1
    assert call("run") == "4" and not list(tmp_path.glob("failed-*"))


def test_a_row_that_breaks_a_job_is_no_death_of_a_worker(tmp_path):
    with pytest.raises(ConfigError), count_attempt(tmp_path / "failed", "1 to 4"):
        raise ConfigError("of another task")
    assert not list(tmp_path.iterdir())


def test_a_missing_attribute_of_a_row_is_its_own_fault():
    _, failures = isolate_failures(lambda rows: rows[0][1].text, [(1, None)])
    assert list(failures) == [1]


def test_a_node_with_another_version_ends_the_job_in_one_line(tmp_path, monkeypatch):
    work = Work(stand_in.slow_measure, (), None, "pairs")
    schema = result_schema(work, work.measure(()))
    monkeypatch.setattr("triattn_core.scale.worker.code_version", lambda: "0.0.9, code 12345678")
    with pytest.raises(ConfigError, match=r"has triattn 0.0.9, code 12345678, and the command .*; install one version"):
        Worker(work, schema, tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr("triattn_core.scale.worker.version", lambda _: version("torch").partition("+")[0] + "+other")
    Worker(work, schema, tmp_path)
