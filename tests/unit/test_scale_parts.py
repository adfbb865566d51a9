"""Merging the parts that workers wrote: each row once, in order, and never many of them in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from triattn_core.scale import parts

BATCH, BATCHES = 50, 8  # rows of a row group; row groups of a file


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(parts, "ROWS", 200)


def write_batches(folder, batches: list[np.ndarray], name: str = "part") -> None:
    """Files of BATCHES row groups each; `value` names the file that a row is from."""
    for number, first in enumerate(range(0, len(batches), BATCHES)):
        rows = [pa.array(batch, pa.int64()) for batch in batches[first : first + BATCHES]]
        tables = [pa.table({"row": row, "value": [f"{name} {number}"] * len(row)}) for row in rows]
        with pq.ParquetWriter(folder / f"{name}-{number}.parquet", tables[0].schema) as writer:
            for table in tables:
                writer.write_table(table)


def batches_from_two_places(rows: np.ndarray) -> list[np.ndarray]:
    """All rows, in batches whose halves lie far apart, in no order of batches."""
    blocks = np.array_split(rows, len(rows) // (BATCH // 2))
    order = np.random.default_rng(0).permutation(len(blocks))
    return [np.concatenate([blocks[i], blocks[j]]) for i, j in zip(order[::2], order[1::2])]


@pytest.mark.parametrize("step", [1, 3])  # 3: two of three lines of the file are empty
def test_rows_are_merged_in_order_and_in_small_tables(tmp_path, step):
    rows = np.arange(1, 20_000, step)[: 6000 // step * step]
    write_batches(tmp_path, batches_from_two_places(rows))
    tables = list(parts.ordered_parts(tmp_path))
    assert np.array_equal(np.concatenate([table["row"] for table in tables]), rows)
    assert max(map(len, tables)) <= parts.ROWS + BATCH  # one table of all rows, if whole files were merged
    assert len(tables) >= len(rows) / (parts.ROWS + BATCH)


def test_rows_that_were_written_twice_count_once(tmp_path):
    rows = np.arange(1, 1001)
    write_batches(tmp_path, np.array_split(rows, 20))
    write_batches(tmp_path, [rows[120:170], rows[300:333][::-1]], "again")
    merged = pa.concat_tables(parts.ordered_parts(tmp_path, ["row"]))
    assert merged["row"].to_pylist() == rows.tolist()


def test_a_part_without_rows_is_no_fault(tmp_path):
    write_batches(tmp_path, [np.array([], int)], "empty")
    assert list(parts.ordered_parts(tmp_path)) == []
    write_batches(tmp_path, [np.array([4, 5])])
    assert [table["row"].to_pylist() for table in parts.ordered_parts(tmp_path)] == [[4, 5]]
