"""Folders of models as people have them: names of a wrapper, settings of a training, of a generation, odd tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from tests.support.tiny_transformers import make, make_type
from triattn_core.__main__ import main
from triattn_core.errors import CheckpointError, InputError
from triattn_core.importers.prediction import prediction_of
from triattn_core.importers.token_coords import name_ids
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.sources.vision import load_vision_model
from triattn_core.trace.from_array import notes_of

TEXT = "unhappy cats sat on mats"
WEIGHTS = "model.safetensors"


def renamed(path: Path, rename) -> str:
    """The folder with its weights under other names; those without a name are left out."""
    weights = {rename(name): value for name, value in load_file(path / WEIGHTS).items()}
    save_file({name: value for name, value in weights.items() if name}, path / WEIGHTS, {"format": "pt"})
    return str(path)


def settings(path: Path, file: str, **values) -> str:
    own = json.loads((path / file).read_text("utf-8")) if (path / file).is_file() else {}
    (path / file).write_text(json.dumps(own | values), "utf-8")
    return str(path)


RENAMED = {
    "of nn.DataParallel": lambda name: f"module.{name}",
    "of torch.compile": lambda name: f"_orig_mod.{name}",
    "of a Lightning module": lambda name: f"net.{name}",
    "without one layer": lambda name: "" if ".1." in name else name,
}


@pytest.mark.parametrize("why", RENAMED)
@pytest.mark.parametrize(
    ("family", "options"), [("bert", {}), ("bert", {"masked": True}), ("bert", {"head": False}), ("gpt2", {})]
)
def test_weights_that_are_not_found_are_not_made_up(why, family, options, tmp_path):
    path = make(family, tmp_path, **options)
    load_transformer(str(path))
    with pytest.raises(CheckpointError, match="of its weights, such as .*, are not in its files"):
        load_transformer(renamed(path, RENAMED[why]))


def test_a_head_that_is_not_there_predicts_nothing(tmp_path):
    path = renamed(make("bert", tmp_path), lambda name: "" if name.startswith(("classifier", "bert.pooler")) else name)
    trace = trace_transformer(load_transformer(path), TEXT)
    assert prediction_of(trace) == [] and "The weights of its head (bert.pooler" in notes_of(trace)[0]


def test_weights_of_a_vision_model_are_not_made_up(tmp_path):
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
    config = transformers.ViTConfig(**sizes, image_size=32, patch_size=8)
    transformers.ViTForImageClassification(config).save_pretrained(tmp_path)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(tmp_path)
    load_vision_model(str(tmp_path))
    with pytest.raises(CheckpointError, match="are not in its files"):
        load_vision_model(renamed(tmp_path, lambda name: f"module.{name}"))


@pytest.mark.parametrize("family", ["bert", "gpt2", "deberta"])
def test_settings_of_a_training_do_not_change_what_is_read(family, tmp_path):
    path = make(family, tmp_path)
    before = trace_transformer(load_transformer(str(path)), TEXT)
    options = {"return_dict": False, "output_attentions": True, "output_hidden_states": True, "use_cache": True}
    after = trace_transformer(load_transformer(settings(path, "config.json", **options)), TEXT)
    assert prediction_of(after) == prediction_of(before) and list(after.sites) == list(before.sites)
    for site, array in after.sites.items():
        torch.testing.assert_close(array.values, before.sites[site].values)


@pytest.mark.parametrize(
    "options",
    [
        {"num_return_sequences": 3, "num_beams": 4, "do_sample": True},
        {"repetition_penalty": 5.0},
        {"no_repeat_ngram_size": 1, "temperature": 0.1},
        {"max_length": 2, "length_penalty": 2.0},
        {"guidance_scale": 1.5},
        {"prompt_lookup_num_tokens": 3},
        {"bad_words_ids": [[i] for i in range(290)]},
        {"suppress_tokens": list(range(290))},
        {"exponential_decay_length_penalty": [1, 9.0]},
        {"penalty_alpha": 0.6, "top_k": 4},
        {"watermarking_config": {"greenlist_ratio": 0.25, "bias": 20.0}},
        {"stop_strings": ["a"]},
        {"max_time": 0.0},
    ],
)
def test_the_most_likely_tokens_are_written_whatever_the_folder_says(options, tmp_path):
    path = make("gpt2", tmp_path)
    model = load_transformer(str(path))
    ids = model.tokenizer(TEXT, return_tensors="pt")["input_ids"]
    for _ in range(6):
        with torch.no_grad():
            ids = torch.cat([ids, model.model(ids).logits[:, -1].argmax(-1, keepdim=True)], 1)
    again = load_transformer(settings(path, "generation_config.json", **options))
    array = trace_transformer(again, TEXT, generate=6).sites["layer.0/attention/weight"]
    assert array["query_token"].values.tolist() == name_ids(model.tokenizer, ids[0, -6:].tolist()).tokens


def test_rows_of_a_vocabulary_that_its_tokenizer_does_not_know_have_numbers(tmp_path, capsys):
    path = make_type("bert", tmp_path, "BertLMHeadModel", vocab_size=500)
    assert main(["import", str(path), TEXT, "--json"]) == 0
    names = [name for name, _ in json.loads(capsys.readouterr().out)["prediction"]]
    assert len(set(names)) == 5 and not any("None" in name for name in names)
    assert any(name.startswith("unnamed (token ") for name in names)


@pytest.mark.parametrize("alone", [False, True])
def test_an_adapter_beside_a_model_is_not_left_out_unsaid(alone, tmp_path, capsys):
    folder = str(make("bert", tmp_path))
    settings(tmp_path, "adapter_config.json", peft_type="LORA", base_model_name_or_path=folder, r=4)
    if alone:
        (tmp_path / "config.json").unlink()
        (tmp_path / WEIGHTS).rename(tmp_path / "adapter_model.safetensors")
    (rows := tmp_path / "rows.jsonl").write_text('{"text": "cats", "label": 0}\n', "utf-8")
    for words in (["import", folder, TEXT, "--out", str(tmp_path / "t.nc")], ["evaluate", folder, str(rows)]):
        assert main(words) == 1
        assert "adapter_config.json: an adapter, which is not applied here: merge it" in capsys.readouterr().err
    pytest.raises(CheckpointError, load_vision_model, folder).match("an adapter")


POINTERS = ["model.safetensors", "pytorch_model.bin", "model-00001-of-00002.safetensors"]
POINTERS += ["tokenizer.json", "vocab.txt", "spiece.model", "config.json"]


@pytest.mark.parametrize("file", POINTERS)
def test_a_pointer_of_git_lfs_is_said(file, tmp_path):
    path = make("bert", tmp_path)
    if file.startswith(("model", "pytorch")):
        (path / WEIGHTS).unlink()
    (path / file).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 440449768\n", "utf-8")
    with pytest.raises(CheckpointError, match=f"{file} is a pointer of Git LFS, not the file: run git lfs pull"):
        load_transformer(str(path))


def test_a_pickled_model_is_said_to_be_no_weights(tmp_path):
    path = make("bert", tmp_path)
    torch.save(transformers.AutoModel.from_pretrained(path), path / "pytorch_model.bin")
    (path / WEIGHTS).unlink()
    with pytest.raises(CheckpointError, match="a pickle of Python objects, which is not read"):
        load_transformer(str(path))


@pytest.mark.parametrize("below", ["0_Transformer", "checkpoint-500"])
def test_the_folder_below_that_holds_the_model_is_named(below, tmp_path):
    make("bert", tmp_path / below)
    with pytest.raises(CheckpointError, match=f"no config.json there, but in {below}"):
        load_transformer(str(tmp_path))
    assert trace_transformer(load_transformer(str(tmp_path / below)), TEXT).sites


@pytest.mark.parametrize(("longest", "pair"), [(1, None), (2, TEXT), (2, None)])
def test_a_maximum_that_leaves_no_room_for_text_is_said(longest, pair, tmp_path):
    """A text that special tokens alone fill is cut to these; one that they overfill is left whole by the library."""
    model = load_transformer(settings(make("bert", tmp_path), "tokenizer_config.json", model_max_length=longest))
    if (longest, pair) == (2, None):
        assert trace_transformer(model, TEXT).site("layer.0/attention/weight").sizes["key"] == 2
        return
    with pytest.raises(InputError, match=f"reads at most {longest} tokens, its special ones included"):
        trace_transformer(model, TEXT, pair)


@pytest.mark.parametrize("model_type", ["wav2vec2", "whisper", "hubert", "speech_to_text"])
def test_a_model_of_sound_is_said_to_read_no_text(model_type, tmp_path):
    make_type(model_type, tmp_path)
    with pytest.raises(CheckpointError, match=f"{model_type} reads sound, not text: run it in Python inside `record`"):
        load_transformer(str(tmp_path))


UNUSED = {
    "of another head": ({"other.head.weight": 1}, {}, "1, such as other.head.weight"),
    "of more layers": ({}, {"num_hidden_layers": 1}, r"\d\d, such as bert.encoder.layer.1.attention"),
    "of an optimiser": ({"optimizer.0.exp_avg": 1, "optimizer.1.exp_avg": 1}, {}, "2, such as optimizer.0.exp_avg"),
    "none": ({}, {}, ""),
}


@pytest.mark.parametrize("why", UNUSED)
def test_weights_that_the_model_has_no_place_for_are_said(why, tmp_path):
    more, config, said = UNUSED[why]
    path = make("bert", tmp_path)
    weights = load_file(path / WEIGHTS) | {name: torch.ones(2) for name in more}
    save_file(weights, path / WEIGHTS, {"format": "pt"})
    settings(path, "config.json", **config)
    notes = "".join(notes_of(trace_transformer(load_transformer(str(path)), TEXT)))
    found = re.search(f"Weights of its files that the model does not use: {said}", notes)
    assert bool(found) is bool(said)
