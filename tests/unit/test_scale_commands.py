"""Commands on Ray, on a simulated cluster of two nodes: what one process gives, with bad rows and after a kill."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pandas as pd
import pytest

from tests.support.evaluate_world import use_world
from tests.support.small_training import command_line, make_small
from triattn_core.__main__ import main
from triattn_core.analysis.mining import sources
from triattn_core.checkpoint.registry import list_checkpoints

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
# Waiting for the tests of the other file with Ray does not count.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("only_ray"),
    pytest.mark.timeout(600, method="signal", func_only=True),
]
NAMES = ["quora-bi-living", "quora-cbi-living"]


@pytest.fixture
def world(tmp_path):
    with use_world(tmp_path) as root:
        yield root


def test_evaluate_gives_what_one_process_gives_and_names_the_same_bad_rows(world, address, capsys):
    rows = (world / "rows.jsonl").read_text("utf-8").splitlines()
    unreadable = json.dumps({"text_a": "\u200b", "text_b": "who", "label": 1})
    bad = ["not json", unreadable, '{"text_a": "who", "label": 1}', '{"text_a": "who", "text_b": "what"}']
    (world / "rows.jsonl").write_text("\n".join([*rows[:40], *bad, *rows[40:]]), "utf-8")
    begin = ["evaluate", "bi", "tri", "cbi", str(world / "rows.jsonl"), "--vote", "--json"]
    printed = []
    for engine in ([], ["--engine", "ray", "--address", address, "--work", str(world / "work")]):
        assert main([*begin, *engine]) == 0
        printed.append(capsys.readouterr())
    here, there = (json.loads(one.out) for one in printed)
    assert here == there and here["aside"] == 3 and [one["n"] for one in here["checkpoints"]] == [75] * 4
    aside = [[line for line in one.err.splitlines() if "aside" in line or "label" in line] for one in printed]
    assert aside[0] == aside[1] and len(aside[0]) == 5 and "line 42: " in aside[0][1]
    assert not (world / "work").exists()


def test_a_file_without_a_row_is_one_line_on_ray_too(world, address, capsys):
    (world / "bad.jsonl").write_text("not json\n" * 3)
    for engine in ([], ["--engine", "ray", "--address", address, "--work", str(world / "work")]):
        assert main(["evaluate", "bi", str(world / "bad.jsonl"), *engine]) == 1
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.splitlines()[-1].startswith("triattn: ")
        assert "bad.jsonl:1: not JSON" in printed.err.splitlines()[-1]


def test_without_an_address_a_cluster_is_started_although_another_runs(address):
    code = "import ray; from triattn_core.scale.on_ray import *; connect(Cluster()); print(len(ray.nodes()))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert other.stdout.split()[-1:] == ["1"], other.stderr  # `address` has two


def test_an_address_at_which_no_cluster_answers_is_one_line_at_once(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with use_world(tmp_path) as root:
        command = [sys.executable, "-m", "triattn_core", "evaluate", "bi", str(root / "rows.jsonl"), "--engine", "ray"]
        command += ["--work", str(root / "work"), "--address", f"127.0.0.1:{port}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)  # Ray waits 100 s and is ended
    assert done.returncode == 1 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"triattn: --address 127.0.0.1:{port}: no Ray cluster there")


@pytest.mark.skipif(not {*NAMES} <= {entry.name for entry in list_checkpoints()}, reason="not trained")
def test_the_command_gives_the_table_of_one_process(tmp_path, address, capsys):
    from triattn_core.analysis.mining.case_table import load

    (tmp_path / "rows.jsonl").write_bytes(sources.example_source("pairs", "en").place.read_bytes()
                                          + b'not json\n{"text_a": 3}\n')  # fmt: skip
    begin = ["cases", *NAMES, str(tmp_path / "rows.jsonl"), "--out"]
    assert main([*begin, str(tmp_path / "here.parquet")]) == 0
    on_ray = ["--engine", "ray", "--address", address, "--work", str(tmp_path / "work")]
    assert main([*begin, str(tmp_path / "ray"), *on_ray]) == 0
    ours, theirs = load(tmp_path / "here.parquet"), load(tmp_path / "ray" / "part-00000.parquet")
    assert json.loads((tmp_path / "ray" / "_manifest.json").read_text())["rows"] == len(theirs.table)
    pd.testing.assert_frame_equal(ours.table, theirs.table, atol=2e-4)
    same = {"seconds", "date", "command"}
    assert ours.about.model_dump(exclude=same) == theirs.about.model_dump(exclude=same)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("command", ["context", "heads", "faithful"])
@pytest.mark.skipif("quora-tri-living" not in {entry.name for entry in list_checkpoints()}, reason="not trained")
def test_the_other_commands_give_the_table_of_one_process(command, tmp_path, address):
    lines = sources.example_source("pairs", "en").place.read_bytes().splitlines()[:4]
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join([*lines, b"not json"]))
    begin = [command, "quora-tri-living", str(tmp_path / "rows.jsonl"), "--out"]
    assert main([*begin, str(tmp_path / "here.parquet")]) == 0
    assert main([*begin, str(tmp_path / "ray.parquet"), "--engine", "ray", "--address", address]) == 0
    ours, theirs = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("here", "ray"))
    pd.testing.assert_frame_equal(ours, theirs, atol=1e-3, check_dtype=False)


@pytest.mark.parametrize("option", [["--address", "auto"], ["--workers", "2"]])
def test_options_of_the_engine_without_it_are_one_line(capsys, tmp_path, option):
    assert main(["cases", *NAMES, "x.jsonl", "--out", str(tmp_path / "t"), *option]) == 1
    assert "--address, --workers and --work belong to --engine ray: add it" in capsys.readouterr().err


def test_heads_weighs_words_as_one_process_does(world, address, capsys):
    row = json.loads((world / "rows.jsonl").read_text("utf-8").splitlines()[0])
    begin = ["heads", "tri", str(world / "rows.jsonl"), "--rows", "12", "--words", row["text_a"].split()[0], "--json"]
    summaries = []
    for engine in ([], ["--engine", "ray", "--address", address, "--work", str(world / "work")]):
        assert main([*begin, "--out", str(world / f"heads-{len(engine)}.parquet"), *engine]) == 0
        summaries.append(json.loads(capsys.readouterr().out))
    here, there = (pd.DataFrame(summary["words"]) for summary in summaries)
    assert len(here) and here["rows"].max() > 1
    pd.testing.assert_frame_equal(here, there, atol=1e-4)
    here, there = (pd.read_parquet(world / f"heads-{count}.parquet") for count in (0, 6))
    pd.testing.assert_frame_equal(here, there, atol=1e-3, check_dtype=False)


def test_a_sweep_on_workers_records_what_one_process_records(tmp_path, address, monkeypatch):
    small = make_small(tmp_path / "world")
    choices = ["--set", "model.layers=1,2", "--seeds", "1,2", "--set", "training.epochs=1", "--name", "layers"]
    records = []
    for folder, more in (("here", []), ("there", ["--engine", "ray", "--address", address])):
        monkeypatch.setenv("TRIATTN_CHECKPOINTS", os.pathsep.join([str(small / folder), str(small / "checkpoints")]))
        assert main([*command_line(small, "sweep", folder, *choices), *more]) == 0
        lines = (small / folder / "results" / "layers.jsonl").read_text().splitlines()
        sweep_records = sorted(map(json.loads, lines), key=lambda record: record["set"]["model.layers"])
        records.append([[seed["dev"] for seed in record["each_seed"]] for record in sweep_records])
        assert {path.name for path in (small / folder / "runs").iterdir()} == {"features", "measured", ".locks"}
    assert len(records[0]) == 2 and records[0] == records[1]


def test_a_sweep_whose_driver_was_killed_records_each_variant_once(tmp_path, address, monkeypatch):
    small = make_small(tmp_path / "world")
    folders = os.pathsep.join([str(small / "there"), str(small / "checkpoints")])
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", folders)
    choices = ["--set", "training.epochs=1,60", "--set", "model.layers=1,2", "--seeds", "1", "--name", "epochs"]
    command = [*command_line(small, "sweep", "there", *choices), "--engine", "ray", "--address", address]
    records = small / "there" / "results" / "epochs.jsonl"
    driver = subprocess.Popen([sys.executable, "-m", "triattn_core", *command], start_new_session=True)
    end = time.monotonic() + 300
    while not records.is_file() and driver.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(driver.pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    assert 1 <= len(records.read_text().splitlines()) < 4
    assert main([*command, "--resume"]) == 0
    sets = [json.loads(line)["set"] for line in records.read_text().splitlines()]
    assert sorted((record["training.epochs"], record["model.layers"]) for record in sets) == [
        (epochs, layers) for epochs in (1, 60) for layers in (1, 2)
    ]
