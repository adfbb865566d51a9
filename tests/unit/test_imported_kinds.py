"""`triattn import` of models of every form: hybrids, encoder-decoders, loops, generation; and what each refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import transformers

from tests.support.tiny_transformers import make_type, word_pieces
from triattn_core.__main__ import main
from triattn_core.errors import ConfigError, InputError
from triattn_core.importers.prediction import prediction_of
from triattn_core.importers.text_rows import TextRow
from triattn_core.recording.head_selection import Selection
from triattn_core.sources.hugging_face import explain_transformer
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.sources.transformer_worth import without_heads
from triattn_core.trace.from_array import notes_of

A, B = "Which browsers can play movies?", "unhappy cats sat on mats"


def layers_of(trace) -> list[int]:
    return sorted({int(str(site).split("/")[0].removeprefix("layer.")) for site in trace.sites})


@pytest.mark.parametrize(
    ("model_type", "layers", "sizes"),
    [
        ("qwen3_next", [3], {}),
        ("jamba", [2], {"attn_layer_period": 4, "attn_layer_offset": 2}),
        ("granitemoehybrid", [1], {"layer_types": ["mamba", "attention", "mamba", "mamba"]}),
        ("lfm2", [2], {"layer_types": ["conv", "conv", "full_attention", "conv"]}),
        ("minimax", [0, 2], {}),
    ],
)
def test_layers_have_the_numbers_of_the_model(model_type, layers, sizes, tmp_path):
    trace = trace_transformer(load_transformer(str(make_type(model_type, tmp_path, **sizes))), A)
    assert layers_of(trace) == layers and trace.meta["rebuilt"] < 1e-5
    missing = [layer for layer in range(4) if layer not in layers]
    assert (
        f"{len(missing)} of 4 layers, counted from 0, have no attention: {', '.join(map(str, missing))}."
        in notes_of(trace)
    )
    assert trace.meta["without_attention"] == ",".join(map(str, missing))


def test_keys_beside_the_tokens_have_names(tmp_path):
    model = load_transformer(str(make_type("deepseek_v4", tmp_path / "v4", "DeepseekV4ForCausalLM")))
    sites = trace_transformer(model, " ".join([A] * 2)).sites.values()
    tokens = next(array["query_token"].values.tolist() for array in sites)
    wide = [array["key_token"].values.tolist() for array in sites if array.sizes["key"] > len(tokens)]
    assert wide
    for names in wide:  # compressed blocks follow the tokens
        assert names == [*tokens, *(f"block {i + 1}" for i in range(len(names) - len(tokens)))]
    model = load_transformer(str(make_type("cpmant", tmp_path / "ant", "CpmAntForCausalLM")))
    array = next(iter(trace_transformer(model, A).sites.values()))
    count = model.model.config.prompt_length  # prompts come first, as queries too
    assert array["key_token"].values[:count].tolist() == [f"prompt {i + 1}" for i in range(count)]
    pieces = [piece.removeprefix("##") for piece in model.tokenizer.tokenize(A, add_special_tokens=True)]
    assert [name.lower() for name in array["query_token"].values[count:]] == [piece.lower() for piece in pieces]


@pytest.mark.parametrize(
    ("longest", "cut"),
    [("5", True), (5.0, True), (5.9, True), (0, False), (-7, False), ("many", False), (float("inf"), False)],
)
def test_a_maximum_length_of_any_type_is_read_as_a_whole_number(longest, cut, tmp_path):
    settings = make_type("bert", tmp_path) / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"model_max_length": longest}))
    trace = trace_transformer(load_transformer(str(tmp_path)), "unhappy cats sat on mats " * 9)
    lengths = {array.sizes["query"] for array in trace.sites.values()}
    assert lengths == {5} if cut else min(lengths) > 40


def test_an_encoder_decoder_has_three_kinds_of_maps(tmp_path):
    model = load_transformer(str(make_type("t5", tmp_path, "T5ForConditionalGeneration")))
    trace = trace_transformer(model, A, target=B)
    expected = {f"layer.{layer}/{role}/weight" for layer in range(4) for role in ("encoder", "decoder", "cross")}
    assert set(map(str, trace.sites)) == expected
    ids = model.tokenizer(A, return_tensors="pt")
    decoder_ids = torch.tensor([[1, *model.tokenizer(B)["input_ids"][:-1]]])
    model.model.set_attn_implementation("eager")
    with torch.no_grad():
        whole = model.model(**ids, decoder_input_ids=decoder_ids, output_attentions=True)
    for layer in range(4):
        for role in ("encoder", "decoder", "cross"):
            maps = whole[f"{role}_attentions"]
            np.testing.assert_allclose(trace.site(f"layer.{layer}/{role}/weight"), maps[layer][0], atol=1e-6)
    cross = trace.site("layer.2/cross/weight")
    pieces = [piece.removeprefix("##") for piece in model.tokenizer.convert_ids_to_tokens(decoder_ids[0])]
    assert cross["query_token"].values.tolist() == pieces  # a mark is no part of a name, as in the source
    assert cross["key_token"].values.tolist() == trace.site("layer.0/encoder/weight")["key_token"].values.tolist()
    assert prediction_of(trace)[0][1] == pytest.approx(float(whole.logits[0, -1].softmax(-1).max()), abs=1e-5)


def test_a_classifier_of_an_encoder_decoder_predicts(tmp_path):
    model = load_transformer(str(make_type("bart", tmp_path, "BartForSequenceClassification", eos_token_id=3)))
    prediction, trace = explain_transformer(model, (A, B))
    inputs = model.tokenizer(A, B, return_tensors="pt")
    with torch.no_grad():
        expected = model.model(**inputs).logits[0].softmax(-1)
    assert max(prediction.probabilities) == pytest.approx(float(expected.max()), abs=1e-6)
    assert "layer.1/a_over_b/weight" in trace.sites and "layer.1/cross/weight" in trace.sites


def test_half_of_an_encoder_decoder_and_a_pair_of_models(tmp_path):
    half = trace_transformer(load_transformer(str(make_type("t5", tmp_path / "half", "T5EncoderModel"))), A)
    assert len(half.sites) == 4 and layers_of(half) == [0, 1, 2, 3]
    sizes = {"vocab_size": 100, "hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 2}
    parts = [transformers.BertConfig(**sizes, num_attention_heads=4) for _ in range(2)]
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*parts)
    config.decoder_start_token_id = config.pad_token_id = 2
    transformers.EncoderDecoderModel(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tmp_path / "half").save_pretrained(tmp_path)
    trace = trace_transformer(load_transformer(str(tmp_path)), A, target=B)
    assert {str(site).split("/")[1] for site in trace.sites} == {"encoder", "decoder", "cross"} and len(
        trace.sites
    ) == 6


@pytest.mark.parametrize("model_type", ["llama", "gpt2", "gemma2", "t5"])
def test_each_generated_token_has_a_row(model_type, tmp_path):
    """Against one pass over all tokens, in which a mask hides what comes after."""
    kind = {"llama": "LlamaForCausalLM", "gpt2": "GPT2LMHeadModel", "gemma2": "Gemma2ForCausalLM"}
    folder = make_type(model_type, tmp_path, kind.get(model_type, "T5ForConditionalGeneration"), eos_token_id=99)
    model = load_transformer(str(folder))
    trace = trace_transformer(model, A, generate=5)
    inputs = model.tokenizer(A, return_tensors="pt")
    length = inputs["input_ids"].shape[1]
    extra = {"decoder_start_token_id": 1} if model_type == "t5" else {}
    ids = model.model.generate(**inputs, **extra, max_new_tokens=5, do_sample=False)
    model.model.set_attn_implementation("eager")
    with torch.no_grad():
        if model_type == "t5":
            whole = model.model(**inputs, decoder_input_ids=ids[:, :-1], output_attentions=True)
            maps = {"decoder": whole.decoder_attentions, "cross": whole.cross_attentions}
        else:
            maps = {"attention": model.model(ids[:, :-1], output_attentions=True).attentions}
    for role, layers in maps.items():
        for layer, expected in enumerate(layers):
            array = trace.site(f"layer.{layer}/{role}/weight")
            assert array.sizes["query"] == 5 and array.attrs["sums_over"] == "key"
            np.testing.assert_allclose(array, expected[0][:, -5:], atol=1e-5)
            np.testing.assert_allclose(array.sum("key"), 1, atol=1e-5)
    own = trace.site("layer.0/attention/weight" if model_type != "t5" else "layer.0/decoder/weight")
    names = [name or f"id {i}" for i, name in zip(ids[0, -5:], model.tokenizer.convert_ids_to_tokens(ids[0, -5:]))]
    assert [name.strip("# ") for name in own["query_token"].values] == [name.strip("# ") for name in names]
    assert own.sizes["key"] == (5 if model_type == "t5" else length + 4)


@pytest.mark.parametrize(
    ("model_type", "kind", "value"),
    [
        (
            "albert",
            "AlbertForSequenceClassification",
            "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.value",
        ),
        ("modernbert", "ModernBertForSequenceClassification", ""),
        ("llama", "LlamaForSequenceClassification", "model.layers.{}.self_attn.v_proj"),
        ("bart", "BartForSequenceClassification", "model.encoder.layers.{}.self_attn.v_proj"),
        ("distilbert", "DistilBertForSequenceClassification", "distilbert.transformer.layer.{}.attention.v_lin"),
        ("xlnet", "XLNetForSequenceClassification", ""),
    ],
)
def test_any_head_is_ablated(model_type, kind, value, tmp_path):
    """As if its values were zeros, which is set in the weights where that is one matrix a layer."""
    more = {"eos_token_id": 3, "pad_token_id": 0, "num_key_value_heads": 4}
    transformer = load_transformer(str(make_type(model_type, tmp_path, kind, **more)), "cpu")
    transformer.model.double()
    row = TextRow((A, B), 1)
    sites = [str(site) for site in trace_transformer(transformer, A, B).sites]
    heads = [(site, head) for site in sites for head in range(4)]
    table = without_heads(transformer, row, heads)
    assert len(table) == len(sites) * 4 and (table["change"].abs() > 1e-9).all()
    again = without_heads(transformer, row, heads[2:3])  # alone, not in a batch
    assert again["change"][0] == pytest.approx(table["change"][2], abs=1e-9)
    if "{}" not in value:
        return
    inputs = transformer.tokenizer(A, B, return_tensors="pt")
    site = next(i for i, name in enumerate(sites) if name.startswith("layer.1/"))
    module = transformer.model.get_submodule(value.format(1))
    with torch.no_grad():
        own = transformer.model(**inputs).logits[0]
        module.weight[16:24] = 0
        if module.bias is not None:
            module.bias[16:24] = 0
        without = transformer.model(**inputs).logits[0]
    odds = [float(scores[1] - torch.logsumexp(scores[[0, 2]], 0)) for scores in (own, without)]
    assert table["change"][4 * site + 2] == pytest.approx(odds[1] - odds[0], abs=1e-9)


def test_what_a_model_cannot_do_is_one_line(tmp_path):
    for model_type, reason in (
        ("fnet", "fnet mixes tokens by a Fourier transform: there is no attention to show"),
        ("mamba", "mamba is a state-space model: there is no attention to show"),
        ("bros", "does not run on text alone"),
        ("vilt", "does not run on text alone"),
    ):
        try:
            model = load_transformer(str(make_type(model_type, tmp_path / model_type)))
        except Exception as error:  # a type that this file cannot build small is no case of it
            pytest.fail(f"{model_type}: {error}")
        with pytest.raises(InputError, match=reason) as raised:
            trace_transformer(model, A)
        assert "\n" not in str(raised.value)
    model = load_transformer(str(make_type("bert", tmp_path / "bert")))
    for options, reason in (({"target": B}, "reads no target"), ({"generate": 2}, "predicts no next token")):
        with pytest.raises(InputError, match=reason):
            trace_transformer(model, A, **options)


def test_of_two_encoders_side_by_side_the_one_that_reads_text_is_run(tmp_path):
    """CLIP: the half for text here, that for pictures in tests of pictures."""
    sizes = {"hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
    text = {**sizes, "vocab_size": 80, "max_position_embeddings": 40, "eos_token_id": 3}
    model = transformers.CLIPModel(transformers.CLIPConfig(text_config=text, vision_config={**sizes, "image_size": 32}))
    model.save_pretrained(tmp_path)
    word_pieces().save_pretrained(tmp_path)
    trace = trace_transformer(load_transformer(str(tmp_path)), A)
    assert [str(site) for site in trace.sites] == ["layer.0/attention/weight", "layer.1/attention/weight"]
    array = trace.site("layer.0/attention/weight")
    assert array.attrs["mask"] == "causal" and array.sizes["query"] == array.sizes["key"] == len(array["key_token"])
    assert trace.meta["rebuilt"] < 1e-5 and "Of its two encoders the one that reads text was run" in trace.meta["notes"]


def test_layers_and_heads_are_selected(tmp_path, capsys):
    folder, out = str(make_type("bert", tmp_path / "bert")), tmp_path / "t.nc"
    assert main(["import", folder, A, "--select", "1", "3:2,0", "--out", str(out), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["sites"] == ["layer.1/attention/weight", "layer.3/attention/weight"] and printed["rebuilt"] < 1e-5
    assert any("Of layer 3 only heads 2, 0 (from 0) are kept" in note for note in printed["notes"])
    whole = trace_transformer(load_transformer(folder), A).site("layer.3/attention/weight").values
    from triattn_core.trace import AttentionTrace

    np.testing.assert_allclose(AttentionTrace.load(out).site("layer.3/attention/weight").values, whole[[2, 0]])
    assert main(["import", folder, A, "--select", "3:4"]) == 1
    assert "there is no 4" in capsys.readouterr().err
    for wrong in ("3:", ":2", "3:a"):
        with pytest.raises(ConfigError, match="expected a layer"):
            Selection.of([wrong])
    assert Selection.of(None).select is None


def test_places_have_names_that_tell_maps_apart(tmp_path):
    """A hybrid's layer keeps its number; an encoder-decoder's three maps of a layer are told apart."""
    from triattn_core.analysis.maps.head_measures import head_table
    from triattn_core.views.attention_maps.trace_maps import trace_map
    from triattn_core.views.head_grid.grid import Grid

    hybrid = trace_transformer(load_transformer(str(make_type("qwen3_next", tmp_path / "hybrid"))), A)
    (site,) = hybrid.sites
    assert trace_map(hybrid, site.attention, 0).title == "Layer 4, head 1"
    trace = trace_transformer(load_transformer(str(make_type("bart", tmp_path / "bart"))), A)
    titles = Grid.of(trace, head_table(trace)).titles
    assert len(set(titles)) == 12 and titles[:3] == ["1 encoder", "1 decoder", "1 cross"]
    looped = trace_transformer(load_transformer(str(make_type("albert", tmp_path / "albert"))), A)
    names = [site.place_name for site in looped.sites]
    assert names == ["layer 1", "layer 1, run 2", "layer 1, run 3", "layer 1, run 4"]
