"""A small file that unpacks to gigabytes is refused while little of it is unpacked."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.test_mining_table import make_table
from triattn_core.analysis.mining import case_table
from triattn_core.analysis.mining.case_table import KEY, load
from triattn_core.errors import DataError

ROWS = 400_000
READ = """
import resource, sys
from triattn_core.analysis.mining.case_table import load
from triattn_core.errors import DataError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    load(__import__("pathlib").Path(sys.argv[1]))
except DataError as error:
    print(str(error).replace("\\n", " // "))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def bomb(path, ids: pa.Array, **options) -> None:
    """A table of the right columns whose id is long in every row."""
    small = make_table(4)
    small.save(path)
    table = pq.read_table(path).take(pa.array([0] * ROWS))
    table = table.set_column(table.schema.names.index("id"), "id", ids)
    pq.write_table(table.replace_schema_metadata({KEY: small.about.model_dump_json().encode()}), path, **options)


@pytest.mark.parametrize("encoding", ["PLAIN_DICTIONARY", "DELTA_BYTE_ARRAY"])
def test_one_long_id_in_many_rows_is_refused_in_little_memory(tmp_path, encoding):
    ids = pa.array(["x" * 4000]).take(pa.array([0] * ROWS))
    plain = {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}} if "DELTA" in encoding else {}
    bomb(tmp_path / "bomb.parquet", ids, compression="zstd", **plain)
    assert (tmp_path / "bomb.parquet").stat().st_size < 1_000_000
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "bomb.parquet")],
        capture_output=True, text=True, check=True, timeout=120, env={**os.environ, "PYTHONPATH": os.getcwd()},
    )  # fmt: skip
    message, megabytes = done.stdout.splitlines()
    assert "unpacks to more than 953 MiB" in message and float(megabytes) < 300, done.stdout


def test_a_long_list_that_repeats_one_number_is_refused(tmp_path, monkeypatch):
    make_table().save(tmp_path / "cases.parquet")
    monkeypatch.setattr(case_table, "BYTES", 2000)
    with pytest.raises(DataError, match="unpacks to more"):
        load(tmp_path / "cases.parquet")


def test_a_table_of_many_short_ids_is_read(tmp_path):
    make_table(30_000).save(tmp_path / "cases.parquet")
    assert len(load(tmp_path / "cases.parquet").table) == 30_000
