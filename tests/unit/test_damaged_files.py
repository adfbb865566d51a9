"""Files that were whole and are damaged, bits flipped or the end missing: refused in one line, nothing printed."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys

import pytest

from tests.fuzz import stored
from triattn_core.__main__ import main
from triattn_core.analysis.mining.case_table import load
from triattn_core.errors import TriattnError
from triattn_core.importers.open_file import open_file

COUNT = 60
ABORTS = """
import random, sys
from pathlib import Path
from tests.fuzz import stored
from triattn_core.analysis.mining.case_table import load
from triattn_core.errors import DataError
path = Path(sys.argv[1])
path.write_bytes(stored.damaged(random.Random("28:1277"), "cases.parquet"))
try:
    load(path)
except DataError as error:
    print(error)
"""


@pytest.mark.parametrize("kind", stored.KINDS)
def test_a_damaged_file_is_refused_in_one_line(kind, tmp_path, capfd):
    path, refused = tmp_path / kind, 0
    read = load if path.suffix == ".parquet" else open_file
    path.write_bytes(stored.whole(kind))
    read(path)
    for number in range(COUNT):
        path.write_bytes(stored.damaged(random.Random(f"{kind}:{number}"), kind))
        try:
            read(path)
        except TriattnError as error:
            refused += 1
            assert "\n" not in str(error) and kind in str(error)
    gc.collect()  # what is closed late must print nothing either
    assert refused > COUNT / 4
    assert capfd.readouterr() == ("", "")


def test_a_card_of_a_damaged_trace_is_refused_in_one_line(tmp_path, capfd):
    path = tmp_path / "trace.nc"
    for number in range(12):
        path.write_bytes(stored.damaged(random.Random(f"28:{number}"), path.name))
        code = main(["card", "cube", str(path), "--out", str(tmp_path / "card.zip")])
        gc.collect()
        out, err = capfd.readouterr()
        assert (code == 0 and out and not err) or (code == 1 and not out and err.count("\n") == 1), (number, err)


def test_a_damaged_column_of_parquet_does_not_end_the_process(tmp_path):
    """pyarrow aborts where the metadata of single column chunks are asked for."""
    done = subprocess.run(
        [sys.executable, "-c", ABORTS, str(tmp_path / "f.parquet")],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.count("\n") == 1, done.stderr
