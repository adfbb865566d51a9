"""A head of a Hugging Face model ablated: as if its values were zeros, which is set in the weights."""

from __future__ import annotations

import copy
import json

import pandas as pd
import pytest
import torch
import transformers

from tests.support.tiny_transformers import SIZES, make
from triattn_core.__main__ import main
from triattn_core.errors import DataError
from triattn_core.importers.text_rows import TextRow
from triattn_core.sources import transformer_heads
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_worth import without_heads

ROW = TextRow(("Which browsers can play movies?", "unhappy cats sat on mats"), 1)
VALUES = {"bert": "attention.self.value", "roberta": "attention.self.value", "electra": "attention.self.value",
          "deberta": "attention.self.value_proj"}  # fmt: skip
WIDTH = SIZES["hidden_size"] // SIZES["num_attention_heads"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {family: make(family, root / family) for family in (*VALUES, "gpt2")}


@torch.no_grad()
def logits_without_values(model, family: str, layer: int, head: int, inputs) -> torch.Tensor:
    """Without the values of a head nothing of it is passed on, however it attends."""
    changed = copy.deepcopy(model)
    (value,) = (module for name, module in changed.named_modules() if name.endswith(f"layer.{layer}.{VALUES[family]}"))
    of = slice(head * WIDTH, (head + 1) * WIDTH)
    value.weight[of] = 0
    value.bias[of] = 0
    return changed(**inputs).logits[0]


@pytest.mark.parametrize("family", VALUES)
def test_it_is_the_model_without_the_values_of_the_head(folders, family):
    transformer = load_transformer(str(folders[family]), "cpu")
    transformer.model.double()  # of random weights a head changes little
    heads = [(f"layer.{layer}/attention/weight", head) for layer in range(3) for head in range(4)]
    table = without_heads(transformer, ROW, heads)
    inputs = transformer.tokenizer(*ROW.texts, return_tensors="pt")
    own = transformer.model(**inputs).logits[0]

    def odds(scores):
        return float(scores[1] - torch.logsumexp(scores[[0, 2]], 0))

    for number, (site, head) in enumerate(heads):
        without = logits_without_values(transformer.model, family, int(site[6]), head, inputs)
        row = table.iloc[number]
        assert (row.site, row["head"]) == (site, head)
        assert row.change == pytest.approx(odds(without) - odds(own), abs=1e-10) and abs(row.change) > 1e-7
        assert row.right == (int(without.argmax()) == 1) and row.own == (int(own.argmax()) == 1)
    with torch.no_grad():
        assert torch.equal(transformer.model(**inputs).logits[0], own)  # nothing stays ablated


def test_a_label_is_its_number_or_its_name(folders):
    transformer = load_transformer(str(folders["bert"]), "cpu")
    assert [transformer_heads.label_of(transformer, label) for label in (2, "unsure", "2", "UNSURE")] == [2] * 4
    for wrong in (3, -1, "never", True):
        with pytest.raises(DataError, match="different, same, unsure"):
            transformer_heads.label_of(transformer, wrong)


def test_true_is_the_second_of_two_classes(folders):
    transformer = load_transformer(str(folders["bert"]), "cpu")
    transformer.model.config.id2label = {0: "different", 1: "same"}
    assert [transformer_heads.label_of(transformer, label) for label in (False, True)] == [0, 1]


def test_a_name_in_another_case_is_that_of_one_class_alone():
    assert transformer_heads.class_number("no", {0: "NO", 1: "yes"}) == 0
    assert transformer_heads.class_number("no", {0: "NO", 1: "No"}) is None
    assert transformer_heads.class_number("No", {0: "NO", 1: "No"}) == 1
    assert transformer_heads.class_number("0", {0: "1", 1: "0"}) == 1  # a name goes before a number


@pytest.mark.parametrize("field", ["label", "gold_label", "is_duplicate"])
def test_labels_are_read_under_the_names_of_their_owners(folders, field, tmp_path, capsys):
    rows = [{"sentence1": "browsers play", "sentence2": "cats sat", field: label} for label in ("SAME", "same", 1)]
    (data := tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert main(["evaluate", str(folders["bert"]), str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 3
    data.write_text(json.dumps(rows[0] | {field: "-"}), "utf-8")
    assert main(["evaluate", str(folders["bert"]), str(data)]) == 1
    assert "line 1: no label" in capsys.readouterr().err


def test_a_decoder_without_a_padding_token_is_read_row_by_row(tmp_path):
    folder = make("gpt2", tmp_path / "gpt2")
    config = transformers.GPT2Config.from_pretrained(folder, num_labels=3)
    torch.manual_seed(3)
    transformers.GPT2ForSequenceClassification(config).save_pretrained(folder)
    transformer = load_transformer(str(folder), "cpu")
    assert transformer.model.config.pad_token_id is None
    table = without_heads(transformer, ROW, [("layer.2/attention/weight", head) for head in range(4)])
    assert len(table) == 4 and (table["change"].abs() > 1e-6).all()


def test_the_command_and_rows_without_a_label(folders, tmp_path, capsys):
    rows = [{"text_a": "browsers play", "text_b": "cats sat", "label": label} for label in (0, "same", None, "never")]
    data, out = tmp_path / "rows.jsonl", tmp_path / "heads.parquet"
    data.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert main(["heads", str(folders["bert"]), str(data), "--ablate", "--out", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report["ablated"]) == 12 and {head["rows"] for head in report["ablated"]} == {2}
    table = pd.read_parquet(out)
    assert table.groupby("row")["right"].count().to_dict() == {1: 12, 2: 12, 3: 0}
    assert report["aside"] == 1  # its label is none of the model's
