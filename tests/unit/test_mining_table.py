"""The stored table: what is written is read again, anything else is refused in one line; and who is right where."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracles import compare as oracle
from triattn_core.analysis.mining import agreement, case_table
from triattn_core.analysis.mining.case_columns import make_frame
from triattn_core.analysis.mining.case_table import KEY, CaseTable, Checkpoint, TableInfo, load
from triattn_core.analysis.significance import mcnemar
from triattn_core.errors import DataError
from triattn_core.trace.axes import OTHER

KINDS = (("m-bi", "bi"), ("m-cbi", "cbi"), ("m-tri", "tri"))


def about(**settings) -> TableInfo:
    given = {
        "task": "pairs",
        "language": "en",
        "checkpoints": [Checkpoint(name=name, mechanism=of, similarity="dot", digest="0a1b") for name, of in KINDS],
        "data": "set/test.jsonl.gz",
        "sha256": "00ff",
        "lines": 40,
        "whole": True,
        "aside": 1,
        "complaints": ["test.jsonl.gz:3: not JSON"],
        "seconds": 1.5,
        "device": "cpu",
        "date": "2026-01-01",
        "command": "triattn cases",
    }
    return TableInfo.model_validate(given | settings)


def make_table(count: int = 37, seed: int = 1, **settings) -> CaseTable:
    """A table of drawn numbers."""
    draw = np.random.default_rng(seed)
    columns = {
        "row": range(1, count + 1),
        "id": [f"row-{i}" for i in range(count)],
        "label": draw.integers(-1, 2, count),
    }
    columns["tokens"] = draw.integers(4, 40, count)
    for name, of in KINDS:
        columns[f"{name} answer"] = draw.integers(0, 2, count)
        columns[f"{name} confidence"] = draw.random(count)
        columns[f"{name} right"] = draw.random(count) < 0.6
        if of == "tri":
            columns[f"{name} moved"] = draw.random(count) / 20
            columns[f"{name} moved at"] = [draw.random(n).astype(np.float32) for n in draw.integers(1, 9, count)]
    return CaseTable(make_frame(columns, KINDS), about(**settings))


def test_what_is_stored_is_read_again(tmp_path):
    first = make_table()
    first.save(tmp_path / "cases.parquet")
    second = load(tmp_path / "cases.parquet")
    assert second.about == first.about
    lists = "m-tri moved at"
    pd.testing.assert_frame_equal(second.table.drop(columns=lists), first.table.drop(columns=lists))
    for one, other in zip(first.table[lists], second.table[lists]):
        np.testing.assert_array_equal(one, other)
    assert first.names == ["m-bi", "m-cbi", "m-tri"] and first.three_way == ["m-tri"]


def test_parts_are_joined_in_the_order_of_the_file():
    whole = make_table()
    parts = [whole.table.iloc[20:], whole.table.iloc[:20]]
    pd.testing.assert_frame_equal(case_table.join_tables(parts, whole.about).table, whole.table)
    empty = case_table.join_tables([make_frame({}, KINDS)], whole.about)
    assert empty.table.empty and empty.table.dtypes.equals(whole.table.dtypes)


def others(folder: Path) -> dict[str, tuple[Path, str]]:
    """Files that are no such table, and what is said of them."""
    make_table().save(folder / "good.parquet")
    good = (folder / "good.parquet").read_bytes()
    table = pq.read_table(folder / "good.parquet")
    plain = table.replace_schema_metadata({})

    def wrote(name: str, table: pa.Table, metadata: bytes | None = None) -> Path:
        pq.write_table(table if metadata is None else table.replace_schema_metadata({KEY: metadata}), folder / name)
        return folder / name

    def put(name: str, content: bytes) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    known = make_table().about.model_dump_json()
    return {
        "text": (put("text", b'{"text_a": "x"}\n' * 90), "no Parquet file"),
        "empty": (put("empty", b""), "no Parquet file"),
        "cut short": (put("cut", good[: len(good) // 2]), "no Parquet file"),
        "with a hole": (put("hole", good[:300] + bytes(200) + good[500:]), "no Parquet file"),
        "another Parquet": (wrote("other", plain), "of something else"),
        "a later format": (wrote("later", plain, known.replace('"format":1', '"format":2').encode()), "format: Input"),
        "no JSON": (wrote("json", plain, b"{"), "Expecting property name"),
        "other columns": (wrote("columns", plain.drop_columns(["tokens"]), known.encode()), "its columns are others"),
        "no such file": (folder / "none", "No such file"),
    }


def test_anything_else_is_refused_in_one_line(tmp_path):
    for kind, (path, message) in others(tmp_path).items():
        with pytest.raises(DataError, match=path.name) as caught:
            load(path)
        assert "not a table of `triattn cases`" in str(caught.value)
        assert message in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 300, kind


def test_a_table_of_too_many_rows_is_refused_before_it_is_read(tmp_path, monkeypatch):
    make_table().save(tmp_path / "cases.parquet")
    monkeypatch.setattr(case_table, "LARGEST", 36)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_: pytest.fail("it is read"))
    with pytest.raises(DataError, match="37 rows exceed the limit of such a table"):
        load(tmp_path / "cases.parquet")


def test_a_table_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(DataError, match="cannot be written"):
        make_table().save(tmp_path / "none" / "cases.parquet")


def test_the_combinations_are_counted():
    cases = make_table(200)
    table = agreement.right_combinations(cases)
    assert list(table.index) == [
        *("all three", "none", "only Tri", "only C-Bi", "only Bi", "C-Bi and Tri", "Bi and Tri", "Bi and C-Bi")
    ]
    rows = cases.table[cases.table["label"] >= 0]
    for right in product([False, True], repeat=3):
        here = rows[[tuple(row) == right for row in rows[[f"{name} right" for name, _ in KINDS]].to_numpy()]]
        (counted,) = [line for _, line in table.iterrows() if (line["Bi"], line["C-Bi"], line["Tri"]) == right]
        assert counted["rows"] == len(here)
        assert [counted["label 0"], counted["label 1"]] == [(here["label"] == one).sum() for one in (0, 1)]
    assert table["rows"].sum() == len(rows) < 200
    for name, count in table["rows"].items():
        assert cases.rows.count(agreement.combination_filter(cases, name)) == count


def test_the_paper_s_name_is_tri_alone():
    table = agreement.right_combinations(make_table())
    (name,) = agreement.PAPER
    assert table.loc[name, ["Bi", "C-Bi", "Tri"]].tolist() == [False, False, True]
    assert sum(agreement.PAPER[name].values()) == 151


def test_tests_between_mechanisms_are_over_the_judged_rows():
    cases = make_table(300)
    rows = cases.labelled
    assert agreement.mcnemar_tests(cases) == mcnemar(
        ["Bi", "C-Bi", "Tri"], [rows[f"{name} right"].tolist() for name, _ in KINDS]
    )
    assert agreement.accuracy(cases)["Tri"] == pytest.approx(100 * rows["m-tri right"].mean())


def test_other_tasks_have_no_split_by_label_and_two_of_a_kind_their_names():
    cases = make_table(task="reading")
    assert "label 0" not in agreement.right_combinations(cases)
    twins = [Checkpoint(name=f"m-{i}", mechanism="tri", similarity="dot", digest="") for i in range(2)]
    assert agreement.short_names(make_table(checkpoints=twins)) == ["m-0", "m-1"]
    assert (
        agreement.combination_name(["a", "b"], (0, 1)) == "both"
        and agreement.combination_name(["a", "b"], (1,)) == "only b"
    )


@pytest.mark.parametrize("seed", range(4))
def test_kappa_agrees_with_the_oracle(seed):
    draw = np.random.default_rng(seed)
    left = draw.integers(0, 3, 41).tolist()
    right = [a if draw.random() < 0.6 else int(draw.integers(0, 3)) for a in left]
    assert agreement.cohen_kappa(left, right) == pytest.approx(oracle.kappa(left, right), rel=1e-12)


def test_known_kappas():
    # Cohen (1960): 0.7 agree, 0.5 by chance.
    assert agreement.cohen_kappa([0] * 25 + [1] * 25, [0] * 20 + [1] * 5 + [0] * 10 + [1] * 15) == pytest.approx(0.4)
    assert agreement.cohen_kappa([0, 1, 1], [0, 1, 1]) == 1 and agreement.cohen_kappa([0, 1], [1, 0]) == -1
    assert np.isnan(agreement.cohen_kappa([1, 1], [1, 1])) and np.isnan(agreement.cohen_kappa([], []))


def test_two_by_two_counts_who_flips():
    cases = make_table()
    table, rows = agreement.pairwise_agreement(cases), cases.table
    assert table[["a", "b"]].values.tolist() == [["Bi", "C-Bi"], ["Bi", "Tri"], ["C-Bi", "Tri"]]
    for (_, row), (left, right) in zip(table.iterrows(), (("bi", "cbi"), ("bi", "tri"), ("cbi", "tri"))):
        a, b = rows[f"m-{left} answer"], rows[f"m-{right} answer"]
        assert row["flips"] == sum(x != y for x, y in zip(a, b)) == round((1 - row["same"]) * 37)
        assert row["kappa"] == pytest.approx(oracle.kappa(a.tolist(), b.tolist()))
        judged = cases.labelled
        assert row["only a"] == (judged[f"m-{left} right"] & ~judged[f"m-{right} right"]).sum()
        assert row["only b"] == (judged[f"m-{right} right"] & ~judged[f"m-{left} right"]).sum()
    unjudged = CaseTable(rows.assign(label=-1).astype({"label": "int16"}), cases.about)
    assert list(agreement.pairwise_agreement(unjudged)) == ["a", "b", "same", "kappa", "flips"]


def test_what_was_reached_has_an_interval_and_f1():
    cases = make_table()
    judged, reached = cases.labelled, agreement.score_table(cases)
    n, z = len(judged), 1.959963984540054
    for (title, row), name in zip(reached.iterrows(), cases.names):
        p = judged[f"{name} right"].mean()
        middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        assert row["right"] == pytest.approx(100 * p) == agreement.accuracy(cases)[title]
        assert row["from"] == pytest.approx(100 * (middle - half) / (1 + z * z / n))
        assert row["to"] == pytest.approx(100 * (middle + half) / (1 + z * z / n))
        pairs = list(zip(judged[f"{name} answer"], judged["label"]))
        hits, positives, gold = pairs.count((1, 1)), sum(a == 1 for a, _ in pairs), sum(b == 1 for _, b in pairs)
        precision, recall = hits / positives, hits / gold
        assert row["f1"] == pytest.approx(200 * precision * recall / (precision + recall))
        assert row["confidence"] == pytest.approx(cases.table[f"{name} confidence"].mean(), rel=1e-6)
    nobody = agreement.score_table(CaseTable(cases.table.assign(label=-1).astype({"label": "int16"}), cases.about))
    assert nobody[["right", "from", "to", "f1"]].isna().all(axis=None)


def test_models_of_others_have_colours_of_their_own():
    made = [("tri", "tri"), ("one", OTHER), ("two", OTHER)]
    checkpoints = [Checkpoint(name=name, mechanism=of, similarity="", digest="0a1b") for name, of in made]
    assert agreement.colours(make_table(checkpoints=checkpoints)) == ["tri", "series_2", "series_3"]
