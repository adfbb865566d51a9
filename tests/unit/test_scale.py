"""Rows, workers and parts without Ray: each row once, in order, whatever is wrong with it."""

from __future__ import annotations

import gzip
import json
import time
from argparse import Namespace
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.mtsa_traces import make_trace
from triattn_core.analysis.maps.head_profiles import profile_table
from triattn_core.analysis.maps.stored_profiles import decode_profiles, encode_profiles
from triattn_core.analysis.maps.word_weights import weigh_words
from triattn_core.analysis.measures import measure_rows
from triattn_core.analysis.mining import sources
from triattn_core.analysis.mining.failing_rows import isolate_failures, measure_each
from triattn_core.commands import engine
from triattn_core.errors import ConfigError, DataError, InputError
from triattn_core.scale import parts, row_files, worker
from triattn_core.scale.job import RayJob
from triattn_core.scale.on_ray import Cluster
from triattn_core.scale.worker import Work, Worker, result_schema
from triattn_core.tasks import pairs


def words(bundles):
    """A measure without a model: an entry for each word of the first text; `boom` breaks it, `empty` is unreadable."""

    def measure(example):
        if example.text_a == "empty":
            raise InputError("nothing to see")
        if example.text_a == "boom":
            raise RuntimeError("it broke")
        return pd.DataFrame({"word": example.text_a.split()}).assign(id=example.id)

    return lambda rows: measure_each(rows, measure)


WORK = Work(words, (), None, "pairs")


@pytest.fixture
def source(tmp_path):
    lines = [json.dumps({"id": str(i), "text_a": f"one two{' three' * (i % 2)}", "text_b": "b"}) for i in range(1, 31)]
    lines[4], lines[9], lines[14] = "not json", json.dumps({"text_a": 3}), ""
    lines[19] = json.dumps({"text_a": "empty", "text_b": "b"})
    lines[24] = json.dumps({"text_a": "boom", "text_b": "b"})
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    return sources.file_source(tmp_path / "rows.jsonl")


def test_rows_are_numbered_by_their_lines_and_read_once(source, tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "PART", 8)
    assert row_files.write_rows(source, "pairs", tmp_path / "in") == (29, 30)  # the empty line is none
    table = pq.read_table(sorted((tmp_path / "in").glob("*.parquet")))
    assert table["row"].to_pylist() == [i for i in range(1, 31) if i != 15]
    assert [i for i, error in zip(table["row"].to_pylist(), table["error"].to_pylist()) if error] == [5]
    (tmp_path / "rows.jsonl").unlink()
    assert row_files.write_rows(source, "pairs", tmp_path / "in") == (29, 30)


def test_long_rows_are_held_by_their_bytes_not_by_their_number(tmp_path, monkeypatch):
    monkeypatch.setattr(row_files, "BYTES", 10_000)
    texts = ["\u96fb" * 400, *("x" * (40 + 1000 * (i % 3)) for i in range(60)), "y" * 50_000, "z"]
    lines = [json.dumps({"id": str(i), "text_a": text, "text_b": "b"}) for i, text in enumerate(texts)]
    (tmp_path / "wide.jsonl").write_text("\n".join(lines))
    assert row_files.write_rows(sources.file_source(tmp_path / "wide.jsonl"), "pairs", tmp_path / "in") == (63, 63)
    tables = [pq.read_table(file) for file in sorted((tmp_path / "in").glob("*.parquet"))]
    assert [row for table in tables for row in table["row"].to_pylist()] == list(range(1, 64))
    sizes = [[len(text.encode()) for text in table["text"].to_pylist()] for table in tables]
    assert all(sum(part[:-1]) < 10_000 for part in sizes) and all(sum(part) >= 10_000 for part in sizes[:-1])


def test_a_file_that_cannot_be_read_to_its_end_is_noted(source, tmp_path):
    row_files.write_rows(source, "pairs", tmp_path / "in")
    assert row_files.truncation(tmp_path / "in") == ""
    packed = gzip.compress((tmp_path / "rows.jsonl").read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(packed[:-30])
    row_files.write_rows(sources.file_source(tmp_path / "cut.jsonl.gz"), "pairs", tmp_path / "cut")
    assert "cut.jsonl.gz:" in row_files.truncation(tmp_path / "cut") and "damaged" in row_files.truncation(
        tmp_path / "cut"
    )


def test_a_worker_gives_one_result_a_row_and_a_bad_row_harms_no_other(source, tmp_path):
    row_files.write_rows(source, "pairs", tmp_path / "in")
    schema = result_schema(WORK, words(()))
    one = Worker(WORK, schema, tmp_path)
    batch = pq.read_table(tmp_path / "in" / "000000.parquet")
    table = one(batch)
    assert table.schema == schema and table["row"].to_pylist() == batch["row"].to_pylist()
    errors = dict(zip(table["row"].to_pylist(), table["error"].to_pylist()))
    assert {row for row, error in errors.items() if error} == {5, 10, 20, 25}
    assert errors[25] == "line 25: RuntimeError: it broke" and errors[20] == "line 20: nothing to see"
    assert "not JSON" in errors[5] and "text_a" in errors[10]
    flat = parts.records(table).to_pandas()
    expected = [(i, word) for i in range(1, 31) if i not in (5, 10, 15, 20, 25)
                for word in ["one", "two", "three"][: 2 + i % 2]]  # fmt: skip
    assert list(zip(flat["row"], flat["word"])) == expected
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_a_worker_shows_that_it_lives_as_long_as_it_does(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "BEAT", 0.05)
    monkeypatch.setattr(worker, "SILENT", 1.0)
    workers = [Worker(WORK, result_schema(WORK, words(())), tmp_path) for _ in range(2)]
    time.sleep(1.5)
    assert worker.count_alive(tmp_path) == 2
    workers.pop()
    time.sleep(1.5)
    assert worker.count_alive(tmp_path) == 1


def test_the_order_of_a_batch_is_kept(source, tmp_path):
    row_files.write_rows(source, "pairs", tmp_path / "in")
    one = Worker(WORK, result_schema(WORK, words(())), tmp_path)
    batch = pq.read_table(tmp_path / "in" / "000000.parquet")
    turned = batch.take(pa.array(range(len(batch) - 1, -1, -1)))
    assert one(turned)["row"].to_pylist() == turned["row"].to_pylist()


@pytest.mark.parametrize("size", [1, 7, 64])
def test_one_process_sets_the_same_rows_aside_as_a_worker(source, tmp_path, size):
    row_files.write_rows(source, "pairs", tmp_path / "in")
    table = Worker(WORK, result_schema(WORK, words(())), tmp_path)(pq.read_table(tmp_path / "in" / "000000.parquet"))
    here = list(measure_rows(words(()), sources.read_examples("pairs", source), size))
    assert [text for part in here for text in part.aside] == parts.errors(table)
    flat = pd.concat([part.table for part in here if len(part.table)], ignore_index=True)
    pd.testing.assert_frame_equal(flat[["row", "word"]], parts.records(table).to_pandas()[["row", "word"]])


def test_a_failing_row_is_found_by_halves_and_the_others_stay_together():
    calls = []

    def compute(rows):
        calls.append([line for line, _ in rows])
        if 5 in calls[-1]:
            raise RuntimeError("it\nbroke")
        return calls[-1]

    results, failures = isolate_failures(compute, [(line, "") for line in range(1, 9)])
    assert results == [[1, 2, 3, 4], [6], [7, 8]] and failures == {5: "line 5: RuntimeError: it broke"}
    assert len(calls) == 7

    def refuse(rows):
        raise ConfigError("of another task")

    with pytest.raises(ConfigError):
        isolate_failures(refuse, [(1, "")])


def test_a_folder_with_anything_else_in_it_is_refused_for_it_is_removed_in_the_end(source, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match="not empty; name a new folder"):
        RayJob(WORK, (), source, Cluster(), folder=folder)
    (folder / "thesis.txt").unlink()
    RayJob(WORK, (), source, Cluster(), folder=folder)
    RayJob(WORK, (), source, Cluster(), folder=folder)  # the same goes on
    with pytest.raises(DataError, match="another job"):
        RayJob(WORK, (), source, Cluster(), max_rows=3, folder=folder)


def test_the_profiles_of_mtsa_go_by_feature_from_process_to_process():
    table = profile_table(make_trace()).assign(row=1, id="r")
    word = table.iloc[0]["tokens of key"][1].casefold()
    stored = pa.Table.from_pandas(encode_profiles(table, (word,)), preserve_index=False).to_pandas()
    bands = weigh_words(table, (word,))
    assert (bands["way"] == "by_feature").any()
    pd.testing.assert_frame_equal(weigh_words(decode_profiles(stored), (word,)), bands)
    assert (encode_profiles(table, ("nowhere",))["profile"] == "").all()


def test_what_ray_prints_does_not_come_among_the_output(source, tmp_path, capsys, monkeypatch):
    job = SimpleNamespace(run=lambda report: print("(raylet) WARNING"), restarts=0, earlier="")
    monkeypatch.setattr("triattn_core.scale.job.RayJob", lambda *given: job)
    bundle = SimpleNamespace(path=tmp_path, digest="d", task=pairs, config=SimpleNamespace(language="en"))
    options = Namespace(device="cpu", address=None, workers=2, work=tmp_path / "work")
    engine.run(options, words, [bundle], source)
    assert capsys.readouterr() == ("", "(raylet) WARNING\n")
