"""`triattn import`: the attentions of small models of five families, against the library's own."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from tests.support.tiny_transformers import FAMILIES, make
from triattn_core.__main__ import main
from triattn_core.analysis.maps.head_measures import head_table, rollout
from triattn_core.errors import CheckpointError, InputError
from triattn_core.importers.prediction import prediction_of
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.trace import AttentionTrace
from triattn_core.trace.aggregation import continues_word
from triattn_core.trace.from_array import notes_of

A, B = "Which browsers can play movies?", "Which browser can download  unhappy movies?"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {family: make(family, root / family) for family in FAMILIES}


def whole(folder, text, pair=None):
    """What the library gives, called as its documents say."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    kind = transformers.AutoModelForSequenceClassification
    if (folder.name) == "gpt2":
        kind = transformers.AutoModelForCausalLM
    model = kind.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        return tokenizer(text, pair), model(**tokenizer(text, pair, return_tensors="pt"), output_attentions=True)


@pytest.mark.parametrize("pair", [None, B], ids=["text", "pair"])
@pytest.mark.parametrize("family", FAMILIES)
def test_attentions_are_the_library_s(family, pair, folders):
    ids, expected = whole(folders[family], A, pair)
    trace = trace_transformer(load_transformer(str(folders[family])), A, pair)
    assert len(trace.sites) == len(expected.attentions) == 3
    for layer, attention in enumerate(expected.attentions):
        site = trace.site(f"layer.{layer}/attention/weight")
        assert site.dims == ("head", "query", "key") and site.sizes["key"] == len(ids["input_ids"])
        np.testing.assert_allclose(site.values, attention[0].numpy(), atol=1e-6)
        np.testing.assert_allclose(site.sum("key").values, 1, atol=1e-5)
    assert (trace.meta.get("mask") == "causal") == (family == "gpt2")
    assert len({site.values.tobytes() for site in trace.sites.values()}) == 3  # layers differ
    scores = expected.logits[0] if family != "gpt2" else expected.logits[0, -1]
    probabilities = [value for _, value in prediction_of(trace)]
    np.testing.assert_allclose(
        probabilities, scores.softmax(-1).sort(descending=True).values[: len(probabilities)], atol=1e-6
    )
    if family != "gpt2":
        best = ("different", "same", "unsure")[int(scores.argmax())]
        assert prediction_of(trace)[0][0] == best


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_keep_their_place_in_the_text(family, folders):
    trace = trace_transformer(load_transformer(str(folders[family])), A, B)
    site = trace.site("layer.1/attention/weight")
    assert trace.texts == {"a": A, "b": B}
    columns = (site[f"key_{name}"].values.tolist() for name in ("token", "text", "start", "end", "special"))
    pieces = {"a": [], "b": []}
    for token, text, start, end, special in zip(*columns):
        if special:
            assert text == "" and (start, end) == (0, 0) and token[0] in "[<"
            continue
        word = trace.texts[text][start:end]
        assert word == word.strip() and token.removeprefix("##") == (word or token)
        pieces[text].append(word)
    for name, text in (("a", A), ("b", B)):  # all characters but spaces, in order
        assert "".join(pieces[name]) == text.replace(" ", "")
    tied = continues_word(site, "key")
    assert any(tied) and not all(tied)
    groups = "".join(
        "-" * go + (word or "|")
        for go, word in zip(
            tied,
            [
                trace.texts.get(t, "")[s:e]
                for t, s, e in zip(
                    site["key_text"].values.tolist(), site["key_start"].values.tolist(), site["key_end"].values.tolist()
                )
            ],
        )
    )
    assert "?" in groups and "-?" not in groups  # a full stop is no piece of the word before it


def test_measures_and_rollout_of_a_model(folders):
    trace = trace_transformer(load_transformer(str(folders["bert"])), A, B)
    table = head_table(trace)
    assert len(table) == 12 and table["special"].between(0, 1).all() and table["distance"].gt(0).all()
    np.testing.assert_allclose(rollout(trace).sum("key"), 1, atol=1e-5)


def test_without_a_head_nothing_is_predicted(tmp_path):
    for family in ("electra", "gpt2"):
        trace = trace_transformer(load_transformer(str(make(family, tmp_path / family, head=False))), A)
        assert prediction_of(trace) == [] and len(trace.sites) == 3


def test_a_head_that_is_not_in_the_file_predicts_nothing(tmp_path):
    folder = make("bert", tmp_path / "bare", head=False)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["BertForSequenceClassification"]}))
    trace = trace_transformer(load_transformer(str(folder)), A)
    assert prediction_of(trace) == [] and "are not in the file: nothing is predicted" in notes_of(trace)[0]


def test_a_long_text_is_cut_and_it_is_said(folders):
    trace = trace_transformer(load_transformer(str(folders["roberta"])), "movies " * 100)
    assert trace.site("layer.0/attention/weight").sizes["key"] == 64
    assert notes_of(trace)[0].startswith("Cut to 64 of ")


def test_an_encoder_and_a_decoder(tmp_path):
    config = transformers.BartConfig(
        vocab_size=300, d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=8, decoder_ffn_dim=8, max_position_embeddings=70,
    )  # fmt: skip
    transformers.BartModel(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(make("roberta", tmp_path / "r")).save_pretrained(tmp_path)
    trace = trace_transformer(load_transformer(str(tmp_path)), A)
    assert [str(site) for site in trace.sites] == [
        *(f"layer.{layer}/encoder/weight" for layer in (0, 1)), "layer.0/decoder/weight", "layer.0/cross/weight"
    ]  # fmt: skip
    assert "The decoder read its start token alone" in "".join(notes_of(trace))
    cross = trace_transformer(load_transformer(str(tmp_path)), A, target=B).site("layer.0/cross/weight")
    encoder = trace.site("layer.0/encoder/weight")
    assert cross["key_token"].values.tolist() == encoder["key_token"].values.tolist()
    assert cross["query_token"].values[0] == "</s>" and cross.sizes["query"] > 8  # starts with the end of a sentence


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_without_its_tokenizer_is_refused(family, tmp_path):
    folder = make(family, tmp_path / family)
    for file in [file for file in folder.iterdir() if file.name not in ("config.json", "model.safetensors")]:
        file.unlink()
    with pytest.raises(CheckpointError, match=r"no tokenizer files there \(.*tokenizer.json") as error:
        load_transformer(str(folder))
    assert "\n" not in str(error.value) and str(folder) in str(error.value)


def test_a_tokenizer_without_words_is_refused(tmp_path):
    folder = make("bert", tmp_path / "bert")
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    content["model"]["vocab"] = {word: i for word, i in content["model"]["vocab"].items() if word.startswith("[")}
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(CheckpointError, match="its tokenizer knows no words"):
        load_transformer(str(folder))


def test_mostly_unknown_tokens_are_noted(folders):
    model = load_transformer(str(folders["bert"]))
    (note,) = notes_of(trace_transformer(model, "猫 狗 can browser"))
    assert note.startswith("Weights times values rebuild what the model computed, to ")
    assert "4 of 5 tokens are unknown to this tokenizer." in notes_of(trace_transformer(model, "猫 狗 鱼 鸟 can"))


def test_bad_models_give_one_clear_line(tmp_path, folders, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    empty, garbled, cut, other = (tmp_path / name for name in ("empty", "garbled", "cut", "other"))
    empty.mkdir()
    make("bert", garbled)
    (garbled / "config.json").write_text("{")
    make("bert", cut)
    (cut / "model.safetensors").write_bytes(b"\0" * 100)
    make("bert", other)
    (other / "config.json").write_text('{"model_type": "nothing-known"}')
    make("bert", tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    junk = make("bert", tmp_path / "junk")
    (junk / "model.safetensors").unlink()
    (junk / "pytorch_model.bin").write_text("junk that is no pickle")
    for name, reason in (
        (tmp_path / "missing", "no such folder"),
        (empty, "no config.json there"),
        (garbled, "not a valid JSON"),
        (cut, "invalid JSON in header"),
        (other, "model type `nothing-known`"),
        (tmp_path / "bare", "no file named model.safetensors"),
        (junk, "its files cannot be read"),
        ("a-name-that-nobody-has/on-the-hub", "no such folder, and"),
        ("nobody", "no such folder, and"),
    ):
        with pytest.raises(CheckpointError, match=reason) as error:
            load_transformer(str(name), local=str(name).startswith("no"))
        line = str(error.value)
        assert "\n" not in line and str(name) in line and len(line) < 420, line
    with pytest.raises(InputError, match="no text given"):
        trace_transformer(load_transformer(str(folders["bert"])), "  ")


def test_the_command(tmp_path, folders, capsys):
    out = tmp_path / "t.nc"
    assert main(["import", str(folders["bert"]), A, B, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "bert, 3 layers x 4 heads, " in printed.out and printed.err == ""
    trace = AttentionTrace.load(out)
    assert printed.out.startswith(f"{prediction_of(trace)[0][1]:.4f}  {prediction_of(trace)[0][0]}")
    (tmp_path / "row.json").write_text(json.dumps({"text_a": A, "text_b": B}))
    assert main(["import", str(folders["bert"]), str(tmp_path / "row.json"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["layers"] == 3 and result["prediction"][0][1] == pytest.approx(prediction_of(trace)[0][1])
    for arguments, reason in (
        ([str(tmp_path / "none"), A], "no such folder"),
        ([str(folders["bert"]), A, B, A], "a text or a pair, got 3"),
        ([str(folders["bert"]), str(tmp_path / "none.json")], "cannot be read"),
        ([str(folders["bert"]), A, "--out", str(tmp_path / "none" / "t.nc")], "no such folder to save"),
    ):
        assert main(["import", *arguments]) == 1
        printed = capsys.readouterr()
        assert reason in printed.err and printed.err.count("\n") == 1 and not printed.out


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_heads_over_a_file_of_texts(family, folders, tmp_path, capsys):
    rows, out = tmp_path / "rows.jsonl", tmp_path / "heads.parquet"
    lines = [{"text_a": A, "text_b": B}, {"text": B}, {"text_a": A}, {"text": " "}]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert main(["heads", str(folders[family]), str(rows), "--out", str(out), "--words", "unhappy", "--json"]) == 0
    summary, table = json.loads(capsys.readouterr().out), pd.read_parquet(out)
    assert (summary["rows"], summary["aside"]) == (2, 2) and len(table) == 2 * len(summary["heads"])
    model = load_transformer(str(folders[family]))
    expected = head_table(trace_transformer(model, A, B))
    of_first = table[table["row"] == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_first[list(expected)], expected, check_dtype=False, atol=1e-6)
    assert {word["rows"] for word in summary["words"]} == {2}
    assert table.attrs["triattn"]["checkpoints"] == {model.name: model.digest} and len(model.digest) == 64
    assert main(["heads", str(folders[family]), str(rows), "--out", str(out), "--words", "unhappy"]) == 0
    printed = capsys.readouterr().out
    for column in ("entropy (bits)", "distance (tokens)", "query information (bits)", "mean KL of query (bits)"):
        assert column in printed
    assert printed.count("mean weight as key") == 1
    code = main(["heads", str(folders[family]), str(rows), "--out", str(out), "--ablate"])
    if family == "bert":
        assert code == 1 and "no row has a label" in capsys.readouterr().err
    else:  # a decoder is right where the next token is its most likely one
        assert code == 0 and "ablated" in capsys.readouterr().out


@pytest.mark.parametrize("read", ["typed", "in a file", "tokens"])
def test_half_a_character_is_said_to_be_no_text(read, tmp_path, folders, capsys):
    (row := tmp_path / "row.json").write_text('{"text": "red \\ud83d car"}', "utf-8")
    (tokens := tmp_path / "tokens.json").write_text('["red", "\\ud83d"]', "utf-8")
    np.save(tmp_path / "map.npy", np.eye(2)[None])
    words = ["import", str(folders["bert"]), "red \ud83d car" if read == "typed" else str(row)]
    if read == "tokens":
        axes = ["--axes", "head", "query", "key"]
        words = ["open", str(tmp_path / "map.npy"), *axes, "--tokens", str(tokens)]
    assert main([*words, "--out", str(tmp_path / "t.nc")]) == 1
    assert "half a character" in capsys.readouterr().err
