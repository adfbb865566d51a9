"""Forms in which people give tokens, models and rows: taken where they are clear, and otherwise said what they are."""

from __future__ import annotations

import gzip
import json

import pytest
import torch
from torch import nn

from tests.architectures import sentence_of, small_model
from tests.support.tiny_transformers import SENTENCES, byte_pairs, make
from triattn_core.analysis.mining.sources import file_source, read_examples, uploaded_source
from triattn_core.analysis.mining.text_search import read_lines
from triattn_core.errors import CheckpointError, DataError, TraceError
from triattn_core.importers.prediction import prediction_of
from triattn_core.importers.text_rows import example_fields, row_texts, text_row
from triattn_core.library import explain
from triattn_core.recording.tape import record
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_heads import label_of
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.text.rows import read_json_lines
from triattn_core.trace.from_array import notes_of


def recorded(model_type: str, training: bool = False, **sizes):
    model = small_model(model_type, **sizes).train(training)
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    return tape


def test_tokens_by_axis_are_taken_as_a_dict():
    tape = recorded("bart")
    source, target = [f"s{i}" for i in range(13)], [f"t{i}" for i in range(7)]
    named = tape.trace(query=target, key=source)
    for tokens in ({"query": target, "key": source}, {"query": " ".join(target), "tokens": source}):
        trace = tape.trace(tokens=tokens)
        cross = trace.sites["layer.1/cross/weight"]
        assert cross["query_token"].values.tolist() == target and cross["key_token"].values.tolist() == source
        assert list(trace.sites) == list(named.sites)
    with pytest.raises(TraceError, match="tokens of target: there is no such axis; .*query"):
        tape.trace(tokens={"target": target})
    with pytest.raises(TraceError, match="query: 6 given, and no map has as many there"):
        tape.trace(tokens={"query": target[:-1]})


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize(
    ("model_type", "rate"),
    [
        ("bert", {"attention_probs_dropout_prob": 0.3}),
        ("gpt2", {"attn_pdrop": 0.3}),
        ("llama", {"attention_dropout": 0.3}),
    ],
)
def test_training_mode_is_said_to_be_the_cause(model_type, rate, implementation):
    for training in (True, False):
        tape = recorded(model_type, training, **rate, attn_implementation=implementation)
        said = "training mode: dropout set 30 % of its weights to zero at random" in tape.trace().meta["notes"]
        assert said is training


def test_training_mode_without_dropout_is_no_cause():
    assert "training mode" not in recorded("llama", True).trace().meta["notes"]
    layer = nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True).train()
    with record(layer) as tape:
        layer(*[torch.randn(1, 5, 8)] * 3)
    assert "training mode: dropout set 50 %" in tape.trace().meta["notes"]


@pytest.mark.parametrize("files", [("adapter_config.json",), ("adapter_config.json", "tokenizer.json")])
def test_a_folder_with_an_adapter_alone_is_said_to_be_one(files, tmp_path):
    for file in files:
        (tmp_path / file).write_text('{"peft_type": "LORA", "base_model_name_or_path": "base"}', "utf-8")
    for what in (tmp_path, str(tmp_path)):
        with pytest.raises(CheckpointError, match="an adapter, which is not applied here: merge it"):
            explain(what, "a text")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        explain(tmp_path / "elsewhere", "a text")


@pytest.mark.parametrize("names", [["same", "same", "other"], ["x", "x", "x"], ["", "a", ""]])
def test_labels_of_one_name_are_told_apart(names, tmp_path):
    folder = make("bert", tmp_path)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    labels = {str(number): name for number, name in enumerate(names)}
    (folder / "config.json").write_text(json.dumps(config | {"id2label": labels, "label2id": {}}), "utf-8")
    model = load_transformer(str(folder))
    trace = trace_transformer(model, SENTENCES[0])
    shown = [name for name, _ in prediction_of(trace)]
    same = next(name for name in names if names.count(name) > 1)
    assert len(set(shown)) == 3 and f"{same} (0)" in shown
    assert "Several labels have one name in its config.json" in notes_of(trace)[0]
    assert label_of(model, f"{same} (0)") == 0 and label_of(model, 2) == 2
    with pytest.raises(DataError, match="expected one of"):
        label_of(model, same)


@pytest.mark.parametrize("family", ["gpt2", "roberta"])
def test_a_byte_level_tokenizer_without_a_decoder_names_what_it_writes(family, tmp_path):
    folder = make(family, tmp_path, masked=family == "roberta")
    assert byte_pairs(family == "roberta").backend_tokenizer.decoder is None  # as they were saved
    text = f"{SENTENCES[0]}<mask>" if family == "roberta" else SENTENCES[0]
    model = load_transformer(str(folder))
    assert (
        model.tokenizer.decode(model.tokenizer("play movies")["input_ids"], skip_special_tokens=True) == "play movies"
    )
    named = [name for name, _ in prediction_of(trace_transformer(model, text))]
    assert not any(letter in name for name in named for letter in "ĠĊÃ")


ROWS = [{"text_a": "Is it red?", "text_b": "Is it blue?", "label": i % 2} for i in range(5)]
SQUAD = [
    {
        "id": "1",
        "title": "t",
        "context": "The cat sat.",
        "question": "Who?",
        "answers": {"text": ["cat"], "answer_start": [4]},
    }
]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.json.gz"])
def test_a_json_file_that_is_one_list_is_read(name, indent, tmp_path):
    content = ("\ufeff\n" * (indent or 0) + json.dumps(ROWS, indent=indent)).replace("\n\ufeff", "\n").encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert [row for _, row in read_json_lines(tmp_path / name)] == ROWS
    source = file_source(tmp_path / name)
    examples = list(read_examples("pairs", source))
    assert [(line, example.text_b) for line, example in examples] == [(i, "Is it blue?") for i in range(1, 6)]
    assert source.lines == 5
    assert read_lines("pairs", source, [2]).examples[2] == examples[1][1]


def test_a_list_of_questions_with_passages_is_read(tmp_path):
    (tmp_path / "dev.json").write_text(json.dumps(SQUAD), "utf-8")
    [(_, example)] = read_examples("questions", file_source(tmp_path / "dev.json"))
    assert (example.question, example.answers) == ("Who?", (("cat", 4),))


def test_lists_of_another_form_are_refused_in_a_line():
    for content, reason in (
        (b'[{"text_a": "a", "text_b": "b"}, 3]', "expected an object, got int"),
        (b'[{"text_a": "a", "text_b": "b"}', "not JSON"),
        (b'["a", "b"]', "expected an object, got list"),
        (b'["a"]\n["b"]\n', "expected an object, got list"),
        (b'[{"text_a": "\\ud83d", "text_b": "b"}]', "half a character"),
    ):
        errors = [
            str(row)
            for _, row in read_examples("pairs", uploaded_source("rows.json", content))
            if isinstance(row, DataError)
        ]
        assert errors and reason in errors[0] and "\n" not in errors[0]


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        ({"question": "Who sat?", "sentence": "The cat sat.", "label": "entailment"}, ("Who sat?", "The cat sat.")),
        ({"question": "Is it red?", "passage": "It is.", "answer": True}, ("Is it red?", "It is.")),
        ({"question": "Who?", "context": "The cat.", "id": "1"}, ("Who?", "The cat.")),
        ({"text": "A cat.", "text_pair": "A dog."}, ("A cat.", "A dog.")),
        ({"query": "cats", "text": "A cat."}, ("cats", "A cat.")),
        ({"text": "A cat.", "question": ""}, ("A cat.",)),
        ({"text": "A cat.", "source": "news"}, ("A cat.",)),
        ({"questions": {"id": [1, 2], "text": ["Red?", "Blue?"]}, "is_duplicate": False}, ("Red?", "Blue?")),
    ],
)
def test_no_text_of_a_row_is_dropped_without_a_word(row, texts):
    assert row_texts(row, "row") == texts


@pytest.mark.parametrize(("value", "label"), [(False, 0), (True, 1), ("True", 1), ("false", 0), ("1", 1), (0, 0)])
def test_quora_as_the_hub_has_it(value, label):
    row = {"questions": {"id": [1, 2], "text": ["Is it red?", "Is it blue?"]}, "is_duplicate": value}
    [(_, example)] = read_examples("pairs", uploaded_source("q.jsonl", json.dumps(row).encode()))
    assert (example.text_a, example.text_b, example.label) == ("Is it red?", "Is it blue?", label)
    assert text_row(row, "row").label == label


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PK\x03\x04" + b"\n" * 9, "zip"),
        (b"ARROW1\0\0\n\n", "Arrow"),
        (b"BZh91AY\n\n", "bzip2"),
        (b"SQLite format 3\0\n\n", "SQLite"),
        (b'{\n "rows": [\n  {"text_a": "a"}\n ]\n}\n', "one object over several lines"),
    ],
)
def test_a_file_of_another_kind_is_refused_once(content, kind):
    [(_, error)] = read_examples("pairs", uploaded_source("rows.jsonl", content))
    assert isinstance(error, DataError) and kind in str(error) and "rows are read from JSON Lines" in str(error)


@pytest.mark.parametrize(("setting", "value"), [("hidden_act", "relu2x"), ("hidden_act", "swish_new")])
def test_a_setting_that_the_library_does_not_know_is_named(setting, value, tmp_path):
    folder = make("bert", tmp_path)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {setting: value}), "utf-8")
    with pytest.raises(CheckpointError, match=f"its config.json has '{value}', which this version"):
        load_transformer(str(folder))


def test_a_tokenizer_without_a_mask_token_is_said_to_have_none(tmp_path):
    notes = notes_of(trace_transformer(load_transformer(str(make("roberta", tmp_path, masked=True))), "cats<mask>on"))
    assert any("its tokenizer declares no mask token" in note for note in notes) and "None" not in " ".join(notes)


def test_a_text_that_is_cut_from_the_left_says_so(tmp_path):
    folder = make("gpt2", tmp_path)
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    for side, end in (("left", ", the last ones, as its tokenizer says."), ("right", ".")):
        own = config | {"truncation_side": side, "model_max_length": 4}
        (folder / "tokenizer_config.json").write_text(json.dumps(own), "utf-8")
        assert f"Cut to 4 of 6 tokens{end}" in notes_of(trace_transformer(load_transformer(str(folder)), SENTENCES[2]))


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ({"text": "a", "label": "bad"}, {"text": "a"}),
        ({"text": "a", "text_pair": "b"}, {"text_a": "a", "text_b": "b"}),
        ({"text_a": "a", "text_b": " ", "label": 1, "id": "7"}, {"text_a": "a", "text_b": " ", "label": 1, "id": "7"}),
        ({"premise": "a", "hypothesis": "b", "gold_label": "neutral"}, {"text_a": "a", "text_b": "b"}),
        ({"text_a": "a", "text_b": "b", "label": 2}, {"text_a": "a", "text_b": "b"}),
        ({"question": "a", "context": "b", "answers": []}, {"text_a": "a", "text_b": "b"}),
        ({"sentence": "a"}, {"text": "a"}),
        ({"source": "a", "target": "b"}, {"text": "a"}),
        ({"source": "a"}, {"text": "a"}),
    ],
    ids=["text", "text_pair", "blank", "premise", "third label", "question", "sentence", "translation", "source"],
)
def test_a_row_is_an_example_of_a_model_of_others(row, fields):
    assert example_fields(row, "row.json") == fields
