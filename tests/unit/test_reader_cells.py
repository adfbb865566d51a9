"""What the score of a cell is made of: the same in the trace, in the terms, and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support.reader_checkpoints import STATES, make_checkpoints
from triattn_core.__main__ import main
from triattn_core.checkpoint.bundle import load
from triattn_core.checkpoint.registry import VARIABLE
from triattn_core.errors import InputError
from triattn_core.inference.explain import explain
from triattn_core.inference.span_decoding import cell_facts, require_cell, score_terms, score_terms_of, states
from triattn_core.tasks import questions

LONG = " ".join(example.passage for example in questions.examples()[:9])
CELL = 3, 2


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_checkpoints(tmp_path_factory.mktemp("checkpoints"), ("t_trilinear", "general3"))


@pytest.fixture(autouse=True)
def checkpoint_folder(world, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(world))


@pytest.mark.parametrize("window", [0, 1])
@pytest.mark.parametrize("name", ["squad-t-trilinear", "squad-general3"])
def test_terms_sum_to_the_score_of_the_trace(name, window):
    bundle, example = load(name), questions.Example(LONG, "Who led the work?")
    _, trace = explain(bundle, example, option=window)
    facts = cell_facts(trace, score_terms(bundle, example, *CELL, window), *CELL)
    row = trace.site("attention/relevance").values[CELL[0]]
    weights = trace.site("attention/weight").values[CELL[0]]
    assert facts["score"] == row[CELL[1]] == pytest.approx(sum(value for _, value in facts["terms"]), abs=1e-5)
    assert facts["centred"] == pytest.approx(row[CELL[1]] - row.mean(), abs=1e-5)
    assert facts["rank"] == 1 + sorted(weights, reverse=True).index(weights[CELL[1]]) and facts["of"] == len(weights)
    again = score_terms_of(bundle, states(bundle, example, window), *CELL)
    products = np.concatenate(list(again.values()))
    assert [abs(value) for _, _, value in facts["dimensions"]] == sorted(np.abs(products).tolist(), reverse=True)[:5]
    assert facts["width"] == STATES
    for number, at, value in facts["dimensions"]:
        assert list(again.values())[number][at] == pytest.approx(value)


def test_a_cell_outside_is_one_line():
    _, trace = explain(load("squad-general3"), questions.examples()[0])
    last = trace.site("attention/weight").sizes["query"]
    with pytest.raises(InputError, match=rf"no cell {last}\.0: passage words are 0 to {last - 1}"):
        require_cell(trace, last, 0)


def test_the_command_repeats_the_numbers(tmp_path, capsys):
    row = tmp_path / "row.json"
    row.write_text(json.dumps({"context": LONG, "question": "Who led the work?"}), "utf-8")
    bundle, example = load("squad-t-trilinear"), questions.Example(LONG, "Who led the work?")
    expected = cell_facts(explain(bundle, example, option=1)[1], score_terms(bundle, example, *CELL, 1), *CELL)
    command = ["explain", "squad-t-trilinear", str(row), "--terms", "3.2", "--part", "2"]
    assert main([*command, "--json"]) in (0, None)
    facts = json.loads(capsys.readouterr().out)["terms"]
    assert facts["score"] == pytest.approx(expected["score"]) and facts["terms"] == [
        [name, pytest.approx(value)] for name, value in expected["terms"]
    ]
    main(command)
    output = capsys.readouterr().out
    assert main([one.replace("3.2", "3,2") for one in command]) in (0, None) and capsys.readouterr().out == output
    for at in ("3,2", "3.2"):
        main([*command[:3], "--cell", "attention/relevance", at, "--part", "2"])
        assert f"{expected['score']:.6g}  attention/relevance" in capsys.readouterr().out
    assert f"{expected['score']:.6g}  score of {facts['words']}" in output and "w_pq·(h^t * u^t)" in output
    assert f"{expected['centred']:+.6g}  score minus its row's mean\n" in output
    for term, at, value in expected["dimensions"]:
        assert f"{value:+.6g}  dimension {at + 1} of {expected['terms'][term][0]}, of {STATES}\n" in output


def test_every_part_is_traced_and_said_and_spans_say_where_they_stand(tmp_path, capsys):
    row = tmp_path / "row.json"
    row.write_text(json.dumps({"context": LONG, "question": "Who led the work?"}), "utf-8")
    bundle, example = load("squad-general3"), questions.Example(LONG, "Who led the work?")
    prediction, _ = explain(bundle, example)
    assert prediction.parts > len(prediction.spans) == 5  # there are more parts than spans
    for part in range(1, prediction.parts + 1):
        assert main(["explain", "squad-general3", str(row), "--part", str(part)]) in (0, None)
        output = capsys.readouterr().out
        assert f"traced: part {part} of {prediction.parts}\n" in output
        for span in prediction.spans:
            assert f"  {LONG[span.start : span.end]}  passage[{span.start}:{span.end}]\n" in output
    for part in (0, -1, prediction.parts + 1):
        assert main(["explain", "squad-general3", str(row), "--part", str(part)]) == 1
        output = capsys.readouterr().err
        assert output.endswith(f"There is no part {part}: there are {prediction.parts}.\n") and output.count("\n") == 1


@pytest.mark.parametrize("cell", ["3", "a.b", "3.2.1", "999.0", "3.2.", ".3.2", "3;2"])
def test_a_wrong_cell_is_one_line(tmp_path, capsys, cell):
    row = tmp_path / "row.json"
    row.write_text(json.dumps({"context": "The red boat left.", "question": "What left?"}), "utf-8")
    assert main(["explain", "squad-general3", str(row), "--terms", cell]) == 1
    error = capsys.readouterr().err.strip()
    assert error.count("\n") == 0 and ("--terms" in error or "no cell" in error)
