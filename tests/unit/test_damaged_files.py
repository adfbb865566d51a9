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

COUNT = {".nc": 20}  # of a kind; a process is started for each of these
READ = """
import random, sys
from pathlib import Path
from tests.fuzz import stored
from triattn_core.analysis.mining.case_table import load
from triattn_core.errors import TriattnError
from triattn_core.importers.open_file import open_file
path = Path(sys.argv[1])
path.write_bytes(stored.damaged(random.Random(sys.argv[2]), path.name))
try:
    (load if path.suffix == ".parquet" else open_file)(path)
except TriattnError as error:
    print(error)
"""
WORST = {
    "28:770": "trace.nc",  # a group within itself
    "28:1550": "trace.nc",  # the HDF5 library loops for ever
    "28:1277": "cases.parquet",  # pyarrow aborts where the metadata of single column chunks are asked for
}


@pytest.mark.parametrize("kind", stored.KINDS)
def test_a_damaged_file_is_refused_in_one_line(kind, tmp_path, capfd):
    path, refused = tmp_path / kind, 0
    read = load if path.suffix == ".parquet" else open_file
    path.write_bytes(stored.whole(kind))
    read(path)
    count = COUNT.get(path.suffix, 60)
    for number in range(count):
        path.write_bytes(stored.damaged(random.Random(f"{kind}:{number}"), kind))
        try:
            read(path)
        except TriattnError as error:
            refused += 1
            assert "\n" not in str(error) and kind in str(error)
    gc.collect()  # what is closed late must print nothing either
    assert refused > count / 4
    assert capfd.readouterr() == ("", "")


def test_a_card_of_a_damaged_trace_is_refused_in_one_line(tmp_path, capfd):
    path = tmp_path / "trace.nc"
    for number in range(4):
        path.write_bytes(stored.damaged(random.Random(f"28:{number}"), path.name))
        code = main(["card", "cube", str(path), "--out", str(tmp_path / "card.zip")])
        gc.collect()
        out, err = capfd.readouterr()
        assert (code == 0 and out and not err) or (code == 1 and not out and err.count("\n") == 1), (number, err)


@pytest.mark.parametrize("seed", WORST)
def test_the_worst_neither_end_nor_hang_the_process(seed, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / WORST[seed]), seed],
        capture_output=True, text=True, timeout=200, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.count("\n") == 1 and not done.stderr, done.stderr
