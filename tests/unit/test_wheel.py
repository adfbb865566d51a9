"""What an installed package has with it: the records of runs, the papers' tables and stored traces; and what it
says of the app."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("pyproject.toml", "README.md", "LICENSE")
PROGRAM = """
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.analysis.mining import stored_cases
from triattn_core.inference import stored_traces
from triattn_core.results import efficiency, paper_results, run_records
from triattn_core.results.laboratory import laboratory_records
records, problems = run_records.all_records()
cases = list((run_records.records_folder() / "cases").glob("*.parquet"))
assert "/installed/" in run_records.__file__ and not problems and not list_checkpoints()
print(len(records), len(paper_results.load_papers()), len(cases), len(laboratory_records()) > 0)
assert efficiency.load_shipped() and len(list(stored_traces.FOLDER.glob("*.npz"))) > 10
assert list(stored_cases.FOLDER.glob("*.parquet"))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The wheel, unpacked as an installer does."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in PARTS:
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "triattn_core", source / "triattn_core", ignore=shutil.ignore_patterns("__pycache__"))
    options = "--no-build-isolation --no-deps --quiet --wheel-dir".split()
    build = [sys.executable, "-m", "pip", "wheel", *options, str(folder), "."]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    shutil.unpack_archive(wheel, folder / "installed", "zip")
    return folder / "installed"


def run(installed: Path, *command: str) -> subprocess.CompletedProcess:
    environment = {name: text for name, text in os.environ.items() if name != "TRIATTN_CHECKPOINTS"}
    environment |= {"PYTHONPATH": str(installed)}
    where = {"cwd": installed.parent, "env": environment}
    return subprocess.run([sys.executable, *command], **where, capture_output=True, text=True, timeout=120)


def test_an_installed_package_finds_its_records(installed):
    from triattn_core.results import paper_results, run_records

    done = run(installed, "-c", PROGRAM)
    records = sum(len(run_records.read_records(file)[0]) for file in run_records.SHIPPED.glob("*.jsonl"))
    papers, cases = len(paper_results.load_papers()), len(list((run_records.SHIPPED / "cases").glob("*")))
    assert records > 100 and papers == 4 and cases == 4
    assert done.stdout.split() == [str(records), str(papers), str(cases), "True"], done.stderr


def test_an_installed_package_says_in_one_line_where_the_app_is(installed):
    done = run(installed, "-m", "triattn_core", "app", "--no-browser")
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1
    assert "app.py" in done.stderr and "make app" in done.stderr


def test_an_installed_package_writes_its_records_to_the_working_folder(installed):
    """And reads them again; nothing is written into the package."""
    config = {
        "format": 1,
        "kind": "laboratory",
        "task": "planted-sum",
        "model": {"mechanism": "tri", "hidden": 16},
        "data": {"train_rows": 40, "dev_rows": 20, "test_rows": 30},
        "training": {"batch": 20, "epochs": 1, "rate": 0.01},
    }
    folder = installed.parent / "mine" / "sum-tri"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    before = sorted(installed.rglob("*.jsonl"))
    done = run(installed, "-m", "triattn_core", "sweep", str(folder / "config.json"), "--set", "training.batch=10,20")
    assert done.returncode == 0, done.stderr
    (file,) = (installed.parent / "results").glob("*.jsonl")
    assert len(file.read_text("utf-8").splitlines()) == 2
    assert f"Records are written to {file.parent}" in done.stderr
    assert sorted(installed.rglob("*.jsonl")) == before
    names = "from triattn_core.results.run_records import all_records; print([r.file for r in all_records()[0]])"
    assert run(installed, "-c", names).stdout.count(f"'{file.stem}'") == 2
