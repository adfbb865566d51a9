"""Settings of a wrapper beside a model: those that change what the model reads are taken, the others are named."""

from __future__ import annotations

import json

import pytest

from tests.support.tiny_transformers import make
from triattn_core.importers.prediction import prediction_of
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.trace.from_array import notes_of

TEXT = "Which Browser can play MOVIES on mats"
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]


def trace_with(folder, text=TEXT, **files):
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return trace_transformer(load_transformer(str(folder)), text)


@pytest.mark.parametrize("family", ["roberta", "gpt2", "bert"])
def test_its_length_and_lower_case_are_what_the_model_reads(family, tmp_path):
    folder = make(family, tmp_path)
    plain, lower = trace_with(folder), trace_with(folder, TEXT.lower())
    settings = {"max_seq_length": 60, "do_lower_case": True}
    read = trace_with(folder, sentence_bert_config=settings)
    assert prediction_of(read) == prediction_of(lower)
    assert (prediction_of(read) == prediction_of(plain)) is (family == "bert")  # whose tokenizer lowers it by itself
    site = "layer.0/attention/weight"
    assert (read.sites[site].values == lower.sites[site].values).all()
    words = [token for token in read.sites[site]["key_token"].values if not token.startswith(("<", "["))]
    assert "".join(words).replace("␣", "").replace(" ", "") == TEXT.replace(" ", "")
    assert "at most 60 tokens and lower case (sentence_bert_config.json)" in notes_of(read)[0]


@pytest.mark.parametrize("file", ["sentence_bert_config", "sentence_roberta_config", "sentence_xlm-roberta_config"])
def test_a_text_is_cut_where_the_wrapper_cuts_it(file, tmp_path):
    trace = trace_with(make("roberta", tmp_path), **{file: {"max_seq_length": 8, "do_lower_case": False}})
    assert trace.sites["layer.0/attention/weight"].sizes["key"] == 8
    assert any(note.startswith("Cut to 8 of ") for note in notes_of(trace))


def test_what_is_not_read_is_named(tmp_path):
    prompts = {"prompts": {"query": "query: ", "document": ""}, "default_prompt_name": "query"}
    trace = trace_with(
        make("bert", tmp_path, head=False),
        modules=MODULES,
        config_sentence_transformers=prompts,
        sentence_bert_config={"max_seq_length": None},
        config_setfit={"labels": None},
    )
    assert notes_of(trace)[0] == (
        "Not read: pooling, normalize (modules.json); the default prompt, to be written before the text "
        '(config_sentence_transformers.json: query "query: "); SetFit\'s classifier (config_setfit.json).'
    )


@pytest.mark.parametrize("broken", [[], {"max_seq_length": "8"}, {"max_seq_length": -1}, {"max_seq_length": True}, 3])
def test_settings_of_another_form_change_nothing(broken, tmp_path):
    folder = make("bert", tmp_path)
    plain = trace_with(folder)
    assert notes_of(trace_with(folder, sentence_bert_config=broken)) == notes_of(plain)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}, "Sigmoid"),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"}, "Tanh"),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}, ""),
        ({"sentence_transformers": "5.0"}, ""),
    ],
)
def test_what_a_cross_encoder_makes_of_scores_is_said_not_to_be_read(settings, name, tmp_path):
    folder = make("bert", tmp_path)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    note = notes_of(trace_with(folder, config=config | settings))[0]
    assert (note == f"Not read: {name} of its scores (config.json).") is bool(name)
