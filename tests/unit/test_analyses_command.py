"""`triattn context` and `triattn faithful`: what they store and print, and that a stop keeps what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.support.analysis_checkpoints import use_checkpoints_and_rows
from triattn_core.__main__ import main
from triattn_core.analysis import measures
from triattn_core.analysis.attribution import faithfulness
from triattn_core.analysis.intervention import head_ablation
from triattn_core.analysis.maps import anova, context_shares, head_atlas, head_profiles, stored_profiles
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.analysis.maps.word_weights import weigh_words
from triattn_core.analysis.mining import sources
from triattn_core.checkpoint.bundle import load
from triattn_core.inference.explain import explain
from triattn_core.tasks.pairs import Example


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with use_checkpoints_and_rows(tmp_path_factory.mktemp("world")) as root:
        yield root


def run(world: Path, out: Path, command: str, *more: str) -> int:
    return main([command, *more, str(world / "rows.jsonl"), "--out", str(out)])


def test_context_stores_the_parts_of_every_row(world, tmp_path, capsys):
    out = tmp_path / "context.parquet"
    assert run(world, out, "context", "pairs-tri") == 0
    table, output = pd.read_parquet(out), capsys.readouterr().out
    assert table["row"].unique().tolist() == [1, 2, 3, 4, 5, 6] and "1 set aside" in output and "rows.jsonl:7" in output
    bundle = load("pairs-tri")
    for line, example in list(sources.read_examples("pairs", sources.file_source(world / "rows.jsonl")))[:2]:
        expected = anova.share_table(explain(bundle, example)[1])
        of = table[table["row"] == line].reset_index(drop=True)
        pd.testing.assert_frame_equal(of[list(expected)], expected, rtol=1e-4, atol=1e-7, check_dtype=False)
    middle = table[table["site"].str.startswith("layer.1")]["redirected"].median()
    (row,) = [line for line in output.splitlines() if line.startswith("layer.1 redirected")]
    assert float(row.split()[3]) == pytest.approx(middle, abs=6e-4)
    assert table.attrs["triattn"]["command"].startswith("triattn context pairs-tri")
    assert table.attrs["triattn"]["checkpoints"] == {"pairs-tri": bundle.digest}


def test_heads_stores_the_measures_of_every_head_of_every_row(world, tmp_path, capsys):
    out = tmp_path / "heads.parquet"
    assert run(world, out, "heads", "pairs-tri", "--json") == 0
    summary, table = json.loads(capsys.readouterr().out), pd.read_parquet(out)
    bundle = load("pairs-tri")
    examples = list(sources.read_examples("pairs", sources.file_source(world / "rows.jsonl")))
    assert summary["rows"] == 6 and summary["aside"] == 1
    for line, example in examples[:2]:
        trace = explain(bundle, example)[1]
        measured = head_table(trace).merge(anova.share_table(trace).assign(site=lambda t: t["site"] + "/weight"))
        of = table[table["row"] == line].reset_index(drop=True)
        columns = ["site", "head", "entropy", "query_information", "context_information"]
        pd.testing.assert_frame_equal(of[columns], measured[columns], rtol=1e-4, atol=1e-6, check_dtype=False)
        pd.testing.assert_series_equal(of["three_way"], measured[anova.VISIBLE_TERMS[-1]], rtol=1e-3, check_names=False)
    first = summary["heads"][0]
    of = table[(table["site"] == first["site"]) & (table["head"] == first["head"])]
    assert first["query_information"] == pytest.approx(of["query_information"].mean())
    assert first["query_information"] == max(head["query_information"] for head in summary["heads"])
    assert main(["heads", "pairs-bi", str(world / "rows.jsonl"), "--out", str(out)]) == 0
    assert "three way" not in capsys.readouterr().out  # of two-way attention there is none


def test_heads_weighs_words_and_ablates_heads(world, tmp_path, capsys):
    out, data = tmp_path / "heads.parquet", sources.file_source(world / "rows.jsonl")
    examples = [example for _, example in sources.read_examples("pairs", data) if isinstance(example, Example)]
    word = examples[0].text_a.split()[0]
    assert run(world, out, "heads", "pairs-tri", "--words", word, "--ablate", "--json") == 0
    summary, table, bundle = json.loads(capsys.readouterr().out), pd.read_parquet(out), load("pairs-tri")
    heads = table[["site", "head"]].drop_duplicates()
    rows = [row for row in sources.read_examples("pairs", data) if isinstance(row[1], Example)]
    expected = head_ablation.summarize(head_ablation.measure_rows(bundle, rows, list(heads.itertuples(index=False))))
    assert [record["change"] for record in summary["ablated"]] == pytest.approx(expected["change"].tolist(), abs=1e-5)
    weights = weigh_words(head_atlas.measure_rows(bundle, rows, profiles=True), (word,))
    assert [one["mean"] for one in summary["words"]] == pytest.approx(weights["mean"].tolist(), abs=1e-6)
    assert not table.columns.intersection(["overlaps", "to_key", "group"]).size


@pytest.mark.parametrize("ablate", [False, True])
def test_words_weigh_the_same_when_their_profiles_went_through_text(world, ablate):
    examples = list(sources.read_examples("pairs", sources.file_source(world / "rows.jsonl")))
    word = examples[0][1].text_a.split()[0]
    tables = []
    for settings in ({"profiles": True}, {"words": (word,)}):
        over = measures.heads([load("pairs-tri")], ablate=ablate, **settings)
        parts = measures.measure_rows(over, examples)
        tables.append(pd.concat([part.table for part in parts if len(part.table)], ignore_index=True))
    stored = tables[1]["profile"]
    assert stored.map(type).eq(str).all() and (stored == "").any() and (stored != "").any()
    pd.testing.assert_frame_equal(*map(head_profiles.drop_profiles, tables))
    decoded = stored_profiles.decode_profiles(tables[1])
    pd.testing.assert_frame_equal(weigh_words(tables[0], (word,)), weigh_words(decoded, (word,)))


def test_faithful_compares_mechanisms_over_the_same_rows(world, tmp_path, capsys):
    out = tmp_path / "faithful.parquet"
    more = ("pairs-bi", "pairs-tri", "--rows", "3", "--methods", "attention", "occlusion", "--draws", "2", "--json")
    assert main(["faithful", *more[:2], str(world / "rows.jsonl"), "--out", str(out), *more[2:]]) == 0
    summary, table = json.loads(capsys.readouterr().out), pd.read_parquet(out)
    assert summary["rows"] == 3 and table.groupby("checkpoint").size().to_dict() == {"pairs-bi": 9, "pairs-tri": 9}
    assert summary["summary"] == faithfulness.summarize(table).to_dict("records")
    assert {(record["checkpoint"], record["method"]) for record in summary["summary"]} == {
        (name, method) for name in more[:2] for method in ("attention", "occlusion", "random")
    }


def test_a_stop_in_the_middle_keeps_what_there_is(world, tmp_path, capsys, monkeypatch):
    whole = context_shares.measure_rows

    def stopped(bundle, rows):
        if rows[0][0] == 3:
            raise KeyboardInterrupt
        return whole(bundle, rows)

    monkeypatch.setattr(context_shares, "measure_rows", stopped)
    assert run(world, tmp_path / "some.parquet", "context", "pairs-tri") == 130
    table = pd.read_parquet(tmp_path / "some.parquet")
    assert table["row"].nunique() == 2 and not table.attrs["triattn"]["whole"]
    assert "stopped" in capsys.readouterr().err


def test_a_row_that_breaks_the_measure_is_set_aside(world, tmp_path, capsys, monkeypatch):
    whole = context_shares.example_shares

    def broken(bundle, example):
        if example.id == third:
            raise RuntimeError("it broke")
        return whole(bundle, example)

    third = [example.id for _, example in sources.read_examples("pairs", sources.file_source(world / "rows.jsonl"))
             if isinstance(example, Example)][2]  # fmt: skip
    monkeypatch.setattr(context_shares, "example_shares", broken)
    assert run(world, tmp_path / "context.parquet", "context", "pairs-tri") == 0
    assert pd.read_parquet(tmp_path / "context.parquet")["row"].unique().tolist() == [1, 2, 4, 5, 6]
    assert "line 3: RuntimeError: it broke\n" in capsys.readouterr().out


def test_bad_input_is_one_line(world, tmp_path, capsys):
    out, data = str(tmp_path / "x.parquet"), str(world / "rows.jsonl")
    for command, message in (
        (["context", "pairs-bi", data, "--out", out], "only Tri-Attention has a cube"),
        (["context", "pairs-tri", data, "--out", str(tmp_path / "no" / "x")], "no such folder"),
        (["context", "pairs-tri", data, "--out", data], "--out would overwrite the input"),
        (["context", "pairs-tri", data + "x", "--out", out], "no such file"),
        (["faithful", "pairs-tri", data, "--out", out, "--methods", "atention"], "did you mean 'attention'"),
        (["faithful", "pairs-tri", data, "--out", out, "--draws", "0"], "one random ranking at least"),
        (["faithful", "pairs-tri", data, "--out", out, "--steps", "0"], "take 1 to"),
        (["faithful", "pairs-tri", "reading-tri", data, "--out", out], "differ in their task"),
    ):
        assert main(command) == 1
        errors = capsys.readouterr().err
        assert message in errors and errors.count("\n") == 1, errors
    assert not Path(out).exists()


@pytest.mark.parametrize("rows", ["-1", "0", "two"])
@pytest.mark.parametrize("command", ["context", "heads", "faithful", "evaluate"])
def test_a_number_of_rows_is_at_least_one(command, rows, capsys):
    arguments = [command, "NAME", "rows.jsonl", "--rows", rows]
    with pytest.raises(SystemExit):
        main(arguments if command == "evaluate" else [*arguments, "--out", "table.parquet"])
    assert f"'{rows}' is no number of rows: at least 1" in capsys.readouterr().err
