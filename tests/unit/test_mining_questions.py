"""Readers over rows: the table has what each answers alone, and the numbers are those of `triattn evaluate`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.reader_checkpoints import make_checkpoints
from triattn_core.__main__ import main
from triattn_core.analysis.mining import agreement, case_table, sources
from triattn_core.analysis.mining.runs import Run
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.inference.predict import predict
from triattn_core.tasks import answer_match, questions

NAMES = ("squad-dot", "squad-cosine", "squad-trilinear-o1")
LONG, NONE = 3, 5  # lines: of a passage of several windows, and without an answer


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    root = make_checkpoints(tmp_path_factory.mktemp("checkpoints"), ("cosine", "dot"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(root))
        patch.setenv("TRIATTN_DEVICE", "cpu")
        rows = [questions.row(one) | {"id": f"q-{i}"} for i, one in enumerate(questions.examples()[:11])]
        rows[LONG - 1]["context"] += " It rained." * 40
        rows[NONE - 1]["answers"] = []
        # An answer that one of them gives, so that somebody is right.
        for name, line in zip(NAMES, (1, 2, 4)):
            example = questions.Example.from_row(rows[line - 1])
            start, end, *_ = predict([load(name)], [example])[0][0][0]
            rows[line - 1]["answers"] = [{"text": example.passage[start:end], "answer_start": start}]
        (root / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        yield root


def lines(root: Path) -> list[dict]:
    return [json.loads(line) for line in (root / "rows.jsonl").read_text("utf-8").splitlines()]


def run(path: Path) -> case_table.CaseTable:
    mining_run = Run([load(name) for name in NAMES], sources.file_source(path))
    while mining_run.step():
        pass
    return mining_run.case_table()


def test_each_row_has_what_a_reader_answers_alone(world):
    cases, bundles = run(world / "rows.jsonl"), [load(name) for name in NAMES]
    assert cases.table["row"].tolist() == list(range(1, 12)) and cases.about.aside == 0
    for row, example in zip(cases.table.to_dict("records"), questions.read(world / "rows.jsonl")):
        answers = []
        for bundle in bundles:
            name, best = bundle.name, predict([bundle], [example])[0][0][0]
            assert (row[f"{name} start"], row[f"{name} end"]) == (best.start, best.end)
            assert row[f"{name} confidence"] == pytest.approx(best.probability, abs=1e-4)
            if example.answers:
                right, f1 = questions.verdict(example, [best])
                assert row[f"{name} right"] == right and row[f"{name} f1"] == pytest.approx(f1)
            else:
                assert row["label"] == -1 and not row[f"{name} right"] and np.isnan(row[f"{name} f1"])
            answers.append(answer_match.normal(example.passage[best.start : best.end]))
        for i, a in enumerate(NAMES):
            for j, b in enumerate(NAMES):
                assert (row[f"{a} answer"] == row[f"{b} answer"]) == (answers[i] == answers[j])


def test_the_numbers_are_those_of_evaluate(world, capsys):
    assert main(["evaluate", *NAMES, str(world / "rows.jsonl"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    cases = run(world / "rows.jsonl")
    reached = agreement.score_table(cases)
    for record in summary["checkpoints"]:
        assert reached.loc[record["name"], "right"] == pytest.approx(record["metrics"]["em"], abs=0.005)
        assert reached.loc[record["name"], "f1"] == pytest.approx(record["metrics"]["f1"], abs=0.005)
    for record, other in zip(summary["differences"], agreement.mcnemar_tests(cases)):
        assert record == pytest.approx(vars(other)) and record["only_a"] + record["only_b"] > 0


def test_two_are_compared_by_right_and_wrong(world):
    cases = run(world / "rows.jsonl")
    judged = cases.labelled
    for row in agreement.pairwise_agreement(cases).to_dict("records"):
        a, b = (judged[f"{row[which]} right"].to_numpy() for which in "ab")
        flips = cases.rows.first(agreement.disagreement_filter(cases, row["a"], row["b"]), ["row"], len(cases.rows))[0]
        assert row["flips"] == row["only a"] + row["only b"] == (a != b).sum() == len(flips) > 0
        assert NONE not in flips["row"].tolist()
        assert row["kappa"] == pytest.approx(agreement.cohen_kappa(a, b), nan_ok=True)
        assert row["same"] == (cases.table[f"{row['a']} answer"] == cases.table[f"{row['b']} answer"]).mean()


def test_without_an_answer_nobody_is_right(world, tmp_path):
    rows = [row | {"answers": []} for row in lines(world)]
    (tmp_path / "bare.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    cases = run(tmp_path / "bare.jsonl")
    two = agreement.pairwise_agreement(cases)
    assert cases.labelled.empty and two["kappa"].isna().all() and "p" not in two
    assert (two["flips"] == round((1 - two["same"]) * len(cases.table))).all()
    assert agreement.score_table(cases)["f1"].isna().all()


def test_a_stored_table_is_read_again(world, tmp_path, capsys):
    out = tmp_path / "cases.parquet"
    assert main(["cases", *NAMES[:2], str(world / "rows.jsonl"), "--out", str(out)]) == 0
    assert "only squad-dot" in capsys.readouterr().out
    again, first = case_table.load(out).table, run(world / "rows.jsonl").table
    assert again.equals(first[again.columns])


@pytest.mark.parametrize("packed", [False, True])
def test_squads_own_file_is_read_question_by_question(world, packed):
    rows = lines(world)
    asked = [{"qas": [{"id": r["id"], "question": r["question"], "answers": r["answers"]}], "context": r["context"]}
             for r in rows]  # fmt: skip
    content = json.dumps({"data": [{"paragraphs": asked[:4]}, {"paragraphs": asked[4:]}]}).encode()
    name = "dev.json.gz" if packed else "dev.json"
    source = sources.uploaded_source(name, gzip.compress(content) if packed else content)
    examples = list(sources.read_examples("questions", source))
    assert examples == list(sources.read_examples("questions", sources.file_source(world / "rows.jsonl")))
    assert source.count("questions") == len(examples) == 11


def test_what_is_wrong_with_a_row_is_one_line(world):
    good = {"question": "Who?", "answers": []}
    bad = [good, {"question": "Who?", "answers": [{"text": "him", "answer_start": 2}]}, {"question": 3}, good]
    content = json.dumps({"data": [{"paragraphs": [{"context": "It was her.", "qas": bad}]}]}).encode()
    results = dict(sources.read_examples("questions", sources.uploaded_source("dev.json", content)))
    assert isinstance(results[1], questions.Example) and isinstance(results[4], questions.Example)
    assert str(results[2]).startswith("dev.json: data[0].paragraphs[0].qas[1]: answer 'him' is not at character 2")
    assert "qas[2]: field 'question' must be text" in str(results[3])
    for content in (b"{", b'{"data": 3}'):
        ((_, error),) = sources.read_examples("questions", sources.uploaded_source("dev.json", content))
        assert str(error).startswith("dev.json: ") and "\n" not in str(error)
