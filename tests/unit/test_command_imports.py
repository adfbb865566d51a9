"""A command imports what it uses: one that runs no model loads no torch, and its help loads hardly anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from triattn_core.__main__ import COMMANDS
from triattn_core.tasks import sentences
from triattn_core.trace.from_array import trace_of

ROOT = Path(__file__).resolve().parents[2]
# Packages that take a tenth of a second or tens of megabytes.
LARGE = (
    "torch transformers captum scipy pandas pyarrow xarray plotly altair matplotlib streamlit ray pydantic sqlalchemy"
)
PROBE = """
import sys
import psutil
from triattn_core.__main__ import main
try:
    code = main(sys.argv[2:])
except SystemExit as ended:
    code = ended.code
assert not code, code
held = psutil.Process().memory_info().rss >> 20
print("\\n" + " ".join([str(held), *(name for name in sys.argv[1].split() if name in sys.modules)]))
"""


def after(*arguments: str, cwd: Path = ROOT) -> tuple[int, set[str]]:
    """The MiB that a command holds at its end, and the large packages it loaded, in an interpreter of its own."""
    command = [sys.executable, "-c", PROBE, LARGE, *arguments]
    done = subprocess.run(command, cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    held, *loaded = done.stdout.splitlines()[-1].split()
    return int(held), set(loaded)


@pytest.mark.parametrize("words", [["--help"], *([command.name, "--help"] for command in COMMANDS)], ids=" ".join)
def test_help_loads_no_large_package(words: list[str]) -> None:
    held, loaded = after(*words)
    assert loaded == set()
    assert held <= 60


def test_listing_checkpoints_loads_no_large_package() -> None:
    for words in (["list"], ["list", "--json"]):
        held, loaded = after(*words)
        assert loaded == set()
        assert held <= 60


# Commands that run a model, or may where they are given one; each of the others stands in `WITHOUT_MODEL`.
RUN_MODELS = (
    *("explain", "record", "import", "evaluate", "studies", "train", "sweep", "efficiency", "cases", "context"),
    *("heads", "faithful", "verify", "app"),
)
# A call of each command that runs no model, and the large packages it needs; pandas and pyarrow come with xarray.
WITHOUT_MODEL = {
    "list": set(),
    "open cube.npy --axes query key context --quantity weight --out cube.nc": {"xarray", "pandas", "pyarrow"},
    "seeds": {"scipy", "pydantic"},
    "new mine --data rows.jsonl": {"pydantic"},
    "results": {"scipy", "pydantic"},
    "book list": {"sqlalchemy"},
    "card cube trace.nc --out cube.svg": {
        *("xarray", "pandas", "pyarrow", "pydantic"),
        *("matplotlib", "altair", "plotly"),
    },
}


def test_every_command_is_said_to_run_a_model_or_not() -> None:
    without = {words.split()[0] for words in WITHOUT_MODEL}
    assert not without & set(RUN_MODELS)
    assert without | set(RUN_MODELS) == {command.name for command in COMMANDS}


@pytest.mark.parametrize("words", WITHOUT_MODEL)
def test_what_runs_no_model_loads_no_torch(words: str, tmp_path: Path) -> None:
    np.save(tmp_path / "cube.npy", np.full((2, 3, 5), 1 / 15))
    trace_of(np.full((2, 3, 5), 1 / 15), axes=("query", "key", "context")).save(tmp_path / "trace.nc")
    rows = [{"text_a": f"The {n} cats.", "text_b": f"The {n} dogs.", "label": n % 2} for n in range(20)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert after(*words.split(), cwd=tmp_path)[1] == WITHOUT_MODEL[words]


def test_what_is_loaded_is_seen(tmp_path: Path) -> None:
    """Twin: a command that runs a model loads torch."""
    (tmp_path / "row.json").write_text(json.dumps(sentences.row(sentences.examples("en")[0])))
    assert {"torch", "transformers"} <= after("explain", "trec-mtsa", "row.json", cwd=tmp_path)[1]
