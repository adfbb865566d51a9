"""What a classifier's attention is worth: against sums by hand; a prefix that is held changes no number."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from tests.support.tiny_transformers import make
from triattn_core.__main__ import main
from triattn_core.errors import DataError, InputError
from triattn_core.importers.text_rows import TextRow
from triattn_core.recording.ablate import ablate_heads
from triattn_core.recording.prefix import hold_layers, layer_path
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_worth import describe_worth, measure_worth, misfit

TEXTS = ["Which browsers can play movies?", "unhappy cats sat on mats", "download a movie", "cats play on mats"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make("bert", tmp_path_factory.mktemp("models") / "small-bert")


@pytest.fixture(scope="module")
def rows(folder):
    """Of each text the label that the model gives it, but of the last another one."""
    transformer = load_transformer(str(folder), "cpu")
    best = [
        int(transformer.model(**transformer.tokenizer(text, return_tensors="pt")).logits.argmax()) for text in TEXTS
    ]
    return [TextRow((text,), label) for text, label in zip(TEXTS, [*best[:-1], (best[-1] + 1) % 3])]


@pytest.mark.parametrize("family", ["bert", "gpt2", "deberta"])
def test_layers_that_are_held_change_no_number(tmp_path, family):
    transformer = load_transformer(str(make(family, tmp_path / family)), "cpu")
    model = transformer.model.double()
    inputs = transformer.tokenizer(TEXTS[0], return_tensors="pt")
    with torch.inference_mode(), record(model) as tape:
        model(**inputs)
    places = list(tape.places().values())
    calls = []
    for name, module in model.named_modules():
        if layer_path(name) == name and name:
            module.register_forward_hook(lambda *parts, name=name: calls.append(name))
    with torch.inference_mode():
        prefix = hold_layers(model, [place[0] for place in places], lambda twin: twin(**inputs, use_cache=False)
                             if family == "gpt2" else twin(**inputs), 1)  # fmt: skip
        repeated = {name: value.expand(4, *value.shape[1:]) for name, value in inputs.items()}
        for place in places:
            parts = [(place, head) for head in range(4)]
            with ablate_heads(model, parts):
                expected = model(**repeated, **({"use_cache": False} if family == "gpt2" else {})).logits
            calls.clear()
            with prefix.held_before(place[0], 4) as twin, ablate_heads(twin, parts):
                found = twin(**repeated, **({"use_cache": False} if family == "gpt2" else {})).logits
            torch.testing.assert_close(found, expected, atol=1e-12, rtol=1e-12)
            assert layer_path(place[0]) == calls[0] and len(calls) == len(places) - places.index(place)
        own = model(**inputs).logits
    torch.testing.assert_close(own, model(**inputs).logits)


def test_the_report_is_what_is_counted_by_hand(folder, rows):
    transformer = load_transformer(str(folder), "cpu")
    report = measure_worth(transformer, [*enumerate(rows, 1), (9, TextRow((TEXTS[0],)))])
    assert (report["n"], report["score"]) == (4, 75.0) and "line 9: no label" in report["aside"][0]
    right, sinks = [], []
    transformer.model.set_attn_implementation("eager")  # which alone returns weights
    for row in rows:
        inputs = transformer.tokenizer(*row.texts, return_tensors="pt")
        with torch.inference_mode(), replace(transformer.model, "even"):
            right.append(int(transformer.model(**inputs).logits.argmax()) == row.label)
        with torch.inference_mode():
            weights = transformer.model(**inputs, output_attentions=True).attentions[1][0, 2]
        sinks.append(float(weights.mean(0).max()))
    assert report["reliance"]["even"]["score"] == round(100 * np.mean(right), 2)
    (head,) = [head for head in report["heads"] if (head["site"], head["head"]) == ("layer.1/attention/weight", 2)]
    assert head["sink"] == pytest.approx(np.mean(sinks), abs=1e-6)
    assert len(report["heads"]) == 12 and any("reliance, even" in line for line in describe_worth(report))


def test_the_command_prints_it(folder, rows, tmp_path, capsys):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"text": row.texts[0], "label": row.label}) + "\n" for row in rows))
    assert main(["evaluate", str(folder), str(file), "--attention", "--json", "--device", "cpu"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["score"] == 75.0 and set(report["reliance"]) == {"even", "shuffled", "mean row"}
    assert main(["evaluate", str(folder), str(file), "--device", "cpu"]) == 0
    assert "4 rows  accuracy 75.0" in capsys.readouterr().out
    assert main(["evaluate", str(folder), str(folder), str(file), "--attention"]) == 1
    assert "one model of others at a time" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("labels", "names", "said"),
    [
        ([2, 1, 0], ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), "0 is CONTRADICTION, 1 is NEUTRAL, 2 is ENTAILMENT"),
        (["2", "1.0", 0], ("entailment", "neutral", "contradiction"), "0 is entailment, 1 is neutral"),
        (["neutral", 1, "neutral"], ("a", "neutral", "b"), "0 is a, 1 is neutral, 2 is b"),
        (["neutral", "Entailment", "contradiction"], ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), ""),
        ([2, 1, 0], ("LABEL_0", "LABEL_1", "LABEL_2"), ""),
    ],
)
def test_the_order_in_which_numbers_are_labels_is_said(labels, names, said, tmp_path, capsys):
    folder = make("bert", tmp_path)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config |= {"id2label": dict(enumerate(names)), "label2id": {name: number for number, name in enumerate(names)}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"premise": "cats", "hypothesis": "mats", "label": x}) + "\n" for x in labels))
    heads = ["heads", str(folder), str(file), "--device", "cpu", "--out", str(tmp_path / "heads.parquet")]
    for words in (["evaluate", str(folder), str(file), "--device", "cpu"], [*heads, "--ablate"]):
        assert main(words) == 0
        printed = capsys.readouterr()
        assert "3 rows" in printed.out and said in printed.err
        assert ("labels that are numbers are read as" in printed.err) is bool(said)
    assert main(heads) == 0  # without answers, no label is read
    assert "labels that are numbers" not in capsys.readouterr().err


def test_rows_of_another_task_are_refused_in_a_line(folder):
    transformer = load_transformer(str(folder), "cpu")
    good = [(1, TextRow(("a",), 0)), (2, TextRow(("a",), "unsure")), (3, TextRow(("a",)))]
    assert misfit(transformer, good) == ""
    line = misfit(transformer, [*good, (4, TextRow(("a",), 4)), (5, TextRow(("a",), "entailment"))])
    assert line.startswith("2 of 4 rows have labels that small-bert does not know, such as 4: they are of another task")
    with pytest.raises(DataError, match="no label"):
        measure_worth(transformer, [(1, TextRow(("a cat",)))])


def test_a_model_without_labels_is_refused(tmp_path):
    with pytest.raises(InputError, match="predicts no labels"):
        measure_worth(load_transformer(str(make("bert", tmp_path / "bare", head=False)), "cpu"), [])
