"""The folder of a job on Ray: whose results it may hold, and who may work in it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from filelock import FileLock, Timeout

from tests.support import stand_in
from triattn_core.analysis.mining import sources
from triattn_core.commands import engine, set_aside
from triattn_core.errors import DataError
from triattn_core.scale import job as jobs
from triattn_core.scale import job_identity, on_ray
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import Cluster
from triattn_core.scale.worker import Work

WORK = Work(stand_in.slow_measure, (), "cpu", "pairs")


@pytest.fixture
def begin(tmp_path, monkeypatch):
    """Makes the job of the working folder, on workers that do nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"text_a": "a", "text_b": "b", "label": 1}\n')
    monkeypatch.setattr(on_ray, "connect", lambda cluster: cluster)
    monkeypatch.setattr(on_ray, "require_room", lambda cluster, cores: None)
    monkeypatch.setattr(on_ray, "map_rows", lambda *given: None)
    source = sources.file_source(tmp_path / "rows.jsonl")
    return lambda work=WORK, folder=None: RayJob(work, (), source, Cluster(), folder=folder)


def test_the_same_job_goes_on_in_its_folder(begin):
    first, again = begin(), begin()
    assert first.folder == again.folder and first.earlier == again.earlier == ""


def test_a_job_of_another_version_begins_anew_and_says_so(begin, monkeypatch):
    monkeypatch.setattr(job_identity, "code_version", lambda: "0.0.9, code 12345678")
    old = begin().folder
    monkeypatch.undo()
    monkeypatch.chdir(old.parents[2])
    job = begin()
    assert job.folder != old and old.is_dir()
    assert job.earlier.startswith("runs/ray/") and "results made with triattn 0.0.9, code 12345678 (now " in job.earlier
    assert job.earlier.endswith(f"; this job begins anew in runs/ray/{job.folder.name}")


def test_results_of_two_devices_or_with_other_columns_are_not_mixed(begin, monkeypatch):
    first = begin().folder
    other = begin(replace(WORK, device="cuda"))
    assert other.folder != first and "device cpu (now cuda)" in other.earlier
    begin(folder=first)
    schema = jobs.result_schema
    monkeypatch.setattr(jobs, "result_schema", lambda work, over: with_column(schema(work, over)))
    assert "other columns" in begin().earlier
    with pytest.raises(DataError, match="contains results made with other columns; choose another folder"):
        begin(folder=first)


def with_column(schema):
    record = schema.field("records").type.value_type
    wider = pa.struct([*record, pa.field("more", pa.int64())])
    return pa.schema([schema.field("row"), schema.field("error"), ("records", pa.list_(wider))])


def test_two_commands_do_not_work_on_one_job(begin):
    first, second = begin(), begin()
    first.run()
    with pytest.raises(DataError, match="another command is at work on this job; wait for it, or name another folder"):
        second.run()
    first.clear()
    assert not first.folder.exists()
    second.run()  # its folder is made again
    third = begin()
    second.clear()
    third.run()
    third.clear()


def test_a_job_that_failed_can_be_begun_again(begin, monkeypatch):
    def fail(*given):
        raise KeyboardInterrupt

    first, second = begin(), begin()
    with monkeypatch.context() as patch:
        patch.setattr(on_ray, "map_rows", fail)
        with pytest.raises(KeyboardInterrupt):
            first.run()
    second.run()


def test_a_finished_folder_is_removed_though_an_open_file_in_it_cannot_be(begin, monkeypatch):
    """As on NFS, where a file that is open stays in its folder under another name."""
    job, rmtree = begin(), shutil.rmtree
    job.run()

    def remove(path, ignore_errors=False, **options):
        try:
            FileLock(Path(path, ".lock"), timeout=0).acquire().lock.release()
        except Timeout:  # the file is open
            if not ignore_errors:
                raise OSError(39, "Directory not empty") from None
            return
        rmtree(path, ignore_errors, **options)

    monkeypatch.setattr(shutil, "rmtree", remove)
    assert job.clear() == "" and list(job.folder.parent.iterdir()) == []


def test_a_folder_that_cannot_be_removed_costs_no_numbers_and_is_named(begin, monkeypatch, capsys):
    job = begin()
    job.run()

    def refuse(*given):
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(Path, "rename", refuse)
    set_aside.clear(job, 0)
    assert f"kept: {job.folder}; it cannot be removed (Device or resource busy)" in capsys.readouterr().err
    begin().run()  # the lock is free


KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from tests.support import stand_in
from tests.unit.test_scale_job import WORK
from triattn_core.analysis.mining import sources
from triattn_core.scale import on_ray
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import Cluster
on_ray.connect, on_ray.require_room, on_ray.map_rows = lambda cluster: cluster, lambda *_: None, lambda *_: None
job = RayJob(WORK, (), sources.file_source(Path("rows.jsonl")), Cluster())
job.run()
def remove(path, *given, **options):
    os.unlink(Path(path, "rows", "000000.parquet"))
    os.kill(os.getpid(), signal.SIGKILL)
shutil.rmtree = remove
job.clear()
"""


def test_a_job_that_is_killed_while_its_folder_is_removed_leaves_nothing_to_go_on_with(begin):
    root = str(Path(__file__).parents[2])
    killed = subprocess.run([sys.executable, "-c", KILLED], env=os.environ | {"PYTHONPATH": root})
    assert killed.returncode == -signal.SIGKILL
    runs = Path("runs", "ray")
    (leftover,) = runs.iterdir()
    assert leftover.name.startswith(".")
    job = begin()
    job.run()
    assert list(runs.resolve().iterdir()) == [job.folder]


def test_rows_that_no_run_computes_again_need_another_folder(begin, monkeypatch):
    """Ray's account of the rows stands, their parts are gone."""
    job = begin()
    for counts, remedy in {(0, 5): "done; run the same", (5, 5): "done; delete this folder and run the same"}.items():
        report = iter(counts)
        monkeypatch.setattr(on_ray, "map_rows", lambda *given, report=report: [given[-1](n, 1) for n in report])
        job.run()
        with pytest.raises(DataError, match=f"0 of 1 rows are {remedy} command again"):
            list(job.tables())
        job.release()


def test_the_line_says_why_no_worker_lives_yet():
    assert [engine.alive_text(*case) for case in ((0, 5.0), (2, 60.0))] == ["0", "2"]
    assert engine.alive_text(0, 31.0) == "0 (loading, or waiting for free cores)"
