"""`explain` and `evaluate` of models of others, in Python and on the command line: rows by their fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import triattn_core
from tests.support.tiny_transformers import make, make_type
from triattn_core.__main__ import main
from triattn_core.errors import ConfigError, DataError

TEXT, OTHER = "unhappy cats sat on mats", "Which browsers can play movies?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(make("bert", tmp_path_factory.mktemp("bert")))


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        ({"text": TEXT}, (TEXT,)),
        ({"text": TEXT, "label": 1, "id": "7"}, (TEXT,)),
        ({"sentence": TEXT}, (TEXT,)),
        ({"text_b": OTHER, "text_a": TEXT}, (TEXT, OTHER)),
        ({"premise": TEXT, "hypothesis": OTHER}, (TEXT, OTHER)),
    ],
)
def test_a_row_is_read_by_its_fields(row, texts, folder):
    for what in (folder, triattn_core.load(folder)):
        prediction, trace = triattn_core.explain(what, row)
        assert prediction.labels and tuple(trace.texts.values()) == texts


@pytest.mark.parametrize("row", [{"question": TEXT}, {}])
def test_other_fields_are_named(row, folder):
    with pytest.raises(DataError, match='or "text_a" and "text_b", are absent; there are (question|none)'):
        triattn_core.explain(folder, row)


def test_a_target_is_read_by_the_decoder(tmp_path):
    t5 = str(make_type("t5", tmp_path, "T5ForConditionalGeneration"))
    _, trace = triattn_core.explain(t5, {"source": TEXT, "target": OTHER})
    array = trace.sites["layer.0/cross/weight"]
    assert array.sizes["query"] > 1 and set(trace.texts) == {"text"}


def test_the_command_explains_models_of_others(folder, tmp_path, capsys):
    (tmp_path / "row.json").write_text(json.dumps({"text_a": TEXT, "text_b": OTHER}))
    arguments = ["explain", folder, str(tmp_path / "row.json")]
    assert main([*arguments, "--out", str(tmp_path / "t.nc")]) == 0
    out = capsys.readouterr().out
    assert "  different" in out and "layer.0/attention/weight  head 4 x query" in out
    assert main([*arguments, "--cell", "layer.0/a_over_b/weight", "mean,0,1"]) == 0
    assert main([*arguments, "--json"]) == 0
    assert main([*arguments, "--terms", "1.2"]) == 1
    assert "--terms is of checkpoints of ours" in capsys.readouterr().err
    (tmp_path / "row.json").write_text(json.dumps({"text": ""}))
    assert main(arguments) == 1 and "config.json" not in capsys.readouterr().err


def test_rows_are_evaluated_in_python_and_from_a_table(folder, tmp_path, capsys):
    rows = [{"text": TEXT, "label": "same"}, {"text": OTHER, "label": 0}]
    report = triattn_core.evaluate(folder, rows)
    assert report["n"] == 2 and 0 <= report["metrics"]["accuracy"] <= 100
    table = Path(tmp_path / "rows.csv")
    table.write_text(f"text,label\n{TEXT},same\n{OTHER},0\n")
    assert triattn_core.evaluate(folder, table) == report
    assert main(["evaluate", folder, str(table)]) == 0
    assert f"accuracy {report['metrics']['accuracy']} %" in capsys.readouterr().out
    with pytest.raises(DataError, match="another"):
        triattn_core.evaluate(folder, [*rows, {"text": TEXT, "label": "another"}])
    with pytest.raises(ConfigError, match="takes a checkpoint of ours"):
        triattn_core.intervene(folder, rows[0], "mask", ["token 1"])
