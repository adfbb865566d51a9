"""Compare with a Hugging Face classifier beside a checkpoint of ours: who is right where; labels that do not fit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from tests.support.pages import app_test, at_page
from tests.support.tiny_transformers import make
from triattn_core.__main__ import main
from triattn_core.analysis.mining.other_answers import load_row_models
from triattn_core.checkpoint.registry import VARIABLE, add_roots, roots
from triattn_core.errors import ConfigError
from triattn_core.tasks import pairs

OURS = "quora-tri-living"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a classifier of two labels, and beside it one of three."""
    monkeypatch.setenv(VARIABLE, str(roots()[0]))
    three = make("bert", tmp_path / "mine" / "three-labels")
    two = tmp_path / "mine" / "two-labels"
    torch.manual_seed(3)
    labels = {"id2label": {0: "different", 1: "same"}, "label2id": {"different": 0, "same": 1}}
    config = transformers.AutoConfig.from_pretrained(three, **labels, num_labels=2)
    model = transformers.BertForSequenceClassification(config)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.35)
    model.save_pretrained(two)
    transformers.AutoTokenizer.from_pretrained(three).save_pretrained(two)
    add_roots([tmp_path / "mine"])
    return two


def test_each_row_is_answered_as_by_the_model_alone(folder, tmp_path, capsys):
    examples = [example for example in pairs.examples("en") if example.label is not None][:7]
    data, out = tmp_path / "rows.jsonl", tmp_path / "cases.parquet"
    data.write_text("".join(json.dumps(pairs.row(example)) + "\n" for example in examples))
    assert main(["cases", OURS, "two-labels", str(data), "--out", str(out)]) == 0
    rows = pd.read_parquet(out).sort_values("row")
    model = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for example, (_, row) in zip(examples, rows.iterrows(), strict=True):
        with torch.inference_mode():
            shares = model(**tokenizer(example.text_a, example.text_b, return_tensors="pt")).logits[0].softmax(-1)
        assert row["two-labels answer"] == int(shares.argmax())
        assert row["two-labels right"] == (int(shares.argmax()) == example.label)
        np.testing.assert_allclose(row["two-labels confidence"], float(shares.max()), atol=1e-3)
    printed = capsys.readouterr().out
    assert "only two-labels" in printed and "multi-head" not in printed


def test_labels_that_do_not_fit_are_refused(folder):
    with pytest.raises(ConfigError, match="three-labels predicts 3 labels, sentence pairs have 2"):
        load_row_models([OURS, "three-labels"], "cpu")


def test_compare_shows_both(folder):
    app = at_page(app_test(), "compare")
    app.query_params["checkpoints"] = [OURS, "two-labels"]
    app.run()
    assert not app.exception and not app.error
    app.button(key="run").click().run()
    assert not app.exception and not app.error
    html = " ".join(element.proto.body for element in app.get("html"))
    assert "What each answers" in html and "two-labels" in html and "McNemar" in html
    assert "No longer among the checkpoints" not in " ".join([html, *(str(element.value) for element in app.info)])


def test_cases_take_it_beside_ours(folder):
    app = at_page(app_test(), "cases")
    app.query_params["others"] = ["two-labels"]
    app.run()
    assert not app.exception and not app.error
    app.button(key="run").click().run()
    assert not app.exception and not app.error
    assert "two-labels" in " ".join(element.proto.body for element in app.get("html"))
