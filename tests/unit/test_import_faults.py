"""What users report of other tools, tried with further models: refusals, hybrids, encoder-decoders, ablated heads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers

from tests.architectures import small_config
from tests.support.tiny_transformers import make_type, word_pieces
from triattn_core.errors import TriattnError
from triattn_core.importers.text_rows import TextRow
from triattn_core.sources.transformer import load_transformer
from triattn_core.sources.transformer_trace import trace_transformer
from triattn_core.sources.transformer_worth import without_heads
from triattn_core.trace.from_array import notes_of

A, B = "Which browsers can play movies?", "unhappy cats sat on mats"


@pytest.mark.parametrize("model_type", ["whisper", "wav2vec2", "lxmert", "vit"])
def test_a_model_that_reads_no_text_alone_is_refused_in_a_line(model_type, tmp_path):
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
    kind = transformers.CONFIG_MAPPING[model_type]
    known = set(kind().to_dict())
    small = {name: size for name, size in sizes.items() if name in known}
    if model_type == "whisper":
        small = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "vocab_size": 100, "pad_token_id": 1}
        small |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "max_source_positions": 20}
        small |= {"bos_token_id": 1, "eos_token_id": 1, "decoder_start_token_id": 1}
    transformers.AutoModel.from_config(kind(**small)).save_pretrained(tmp_path)
    word_pieces().save_pretrained(tmp_path)
    with pytest.raises(TriattnError) as raised:
        trace_transformer(load_transformer(str(tmp_path)), A)
    assert "\n" not in str(raised.value) and model_type in str(raised.value)


@pytest.mark.parametrize(
    ("model_type", "layer", "sizes"),
    [
        ("bamba", 2, {}),
        ("recurrent_gemma", 2, {}),
        ("olmo_hybrid", 3, {}),
        ("lfm2_moe", 1, {"layer_types": ["conv", "full_attention", "conv", "conv"]}),
    ],
)
def test_a_hybrid_keeps_the_numbers_of_its_layers(model_type, layer, sizes, tmp_path):
    trace = trace_transformer(load_transformer(str(make_type(model_type, tmp_path, **sizes))), A)
    assert {site.layer for site in trace.sites} == {layer} and trace.meta["rebuilt"] < 1e-5
    missing = ", ".join(str(i) for i in range(4) if i != layer)
    assert f"3 of 4 layers, counted from 0, have no attention: {missing}." in notes_of(trace)


@pytest.mark.parametrize(
    ("model_type", "sizes", "kinds"),
    [
        ("lfm2", {"layer_types": ["conv"] * 4}, "4 layers, all of them conv"),
        ("qwen3_next", {"layer_types": ["linear_attention"] * 4}, "4 layers, all of them linear attention"),
        ("minimax", {"layer_types": ["linear_attention"] * 4}, "4 layers, all of them linear attention"),
        ("recurrent_gemma", {"block_types": ["recurrent"] * 3}, "4 layers, all of them linear attention"),
    ],
)
def test_a_hybrid_of_which_no_layer_attends_is_refused_for_that_reason(model_type, sizes, kinds, tmp_path):
    model = load_transformer(str(make_type(model_type, tmp_path, **sizes)))
    with pytest.raises(TriattnError, match=f"{kinds}: there is no attention to show"):
        trace_transformer(model, A)


@pytest.mark.parametrize(
    ("model_type", "kind"),
    [
        ("pegasus", "PegasusForConditionalGeneration"),
        ("mbart", "MBartForConditionalGeneration"),
        ("mt5", "MT5ForConditionalGeneration"),
    ],
)
def test_encoder_decoder_and_cross_maps_are_those_of_the_library(model_type, kind, tmp_path):
    model = load_transformer(str(make_type(model_type, tmp_path, kind)))
    trace = trace_transformer(model, A, target=B)
    ids = model.tokenizer(A, return_tensors="pt")
    targets = model.tokenizer(text_target=B)["input_ids"]
    array = trace.sites["layer.0/decoder/weight"]
    start = model.model.config.decoder_start_token_id
    decoder_ids = torch.tensor([[1 if start is None else start, *targets[:-1]]])
    assert array.sizes["query"] == len(targets)
    model.model.set_attn_implementation("eager")
    with torch.no_grad():
        whole = model.model(**ids, decoder_input_ids=decoder_ids, output_attentions=True)
    maps = {"encoder": whole.encoder_attentions, "decoder": whole.decoder_attentions, "cross": whole.cross_attentions}
    assert len(trace.sites) == 12
    for role, layers in maps.items():
        for layer, theirs in enumerate(layers):
            own = trace.sites[f"layer.{layer}/{role}/weight"]
            np.testing.assert_allclose(own.values, theirs[0].numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("model_type", "kind", "value"),
    [
        ("electra", "ElectraForSequenceClassification", "electra.encoder.layer.{}.attention.self.value"),
        ("mpnet", "MPNetForSequenceClassification", "mpnet.encoder.layer.{}.attention.attn.v"),
        ("mistral", "MistralForSequenceClassification", "model.layers.{}.self_attn.v_proj"),
    ],
)
def test_a_head_off_is_a_head_whose_values_are_zeros(model_type, kind, value, tmp_path):
    more = {"num_key_value_heads": 4, "pad_token_id": 0}
    transformer = load_transformer(str(make_type(model_type, tmp_path, kind, **more)), "cpu")
    transformer.model.double()
    table = without_heads(transformer, TextRow((A, B), 1), [("layer.1/attention/weight", 2)])
    inputs = transformer.tokenizer(A, B, return_tensors="pt")
    with torch.no_grad():
        own = transformer.model(**inputs).logits[0]
        module = transformer.model.get_submodule(value.format(1))
        module.weight[16:24] = 0
        if module.bias is not None:
            module.bias[16:24] = 0
        without = transformer.model(**inputs).logits[0]
    odds = [float(scores[1] - torch.logsumexp(scores[[0, 2]], 0)) for scores in (own, without)]
    assert table["change"][0] == pytest.approx(odds[1] - odds[0], abs=1e-9) and odds[0] != odds[1]


def test_canine_and_big_bird_read_122_tokens(tmp_path):
    """Sizes that are no multiples of their blocks: names and positions agree, in each layer."""
    torch.manual_seed(0)
    config = small_config("canine", num_hidden_layers=2, max_position_embeddings=200)
    transformers.CanineModel(config).eval().save_pretrained(tmp_path / "canine")
    transformers.CanineTokenizer(model_max_length=200).save_pretrained(tmp_path / "canine")
    trace = trace_transformer(load_transformer(str(tmp_path / "canine")), "ab cd " * 20)
    whole = [array for array in trace.sites.values() if array.sizes["key"] == 122]
    assert whole and trace.meta["rebuilt"] < 1e-5
    for array in whole:
        assert array["key_token"].values.tolist()[1:5] == ["a", "b", "␣", "c"]
        np.testing.assert_allclose(array.sum("key"), 1, atol=1e-5)
    for array in trace.sites.values():  # the downsampled layers have numbers
        assert len(array["key_token"]) == array.sizes["key"]

    config = small_config("big_bird", max_position_embeddings=200, block_size=8, num_random_blocks=2)
    tokenizer = word_pieces()
    config.vocab_size, tokenizer.model_max_length = len(tokenizer), 200
    transformers.BigBirdModel(config).eval().save_pretrained(tmp_path / "bird")
    tokenizer.save_pretrained(tmp_path / "bird")
    text = " ".join(["cats"] * 200)
    bird = load_transformer(str(tmp_path / "bird"))
    per_word = (len(bird.tokenizer(text)["input_ids"]) - 2) // 200
    assert 120 % per_word == 0
    with pytest.raises(
        TriattnError, match="bird: BigBirdModel: .* attend in blocks: the pieces of such a map are not put"
    ):
        trace_transformer(bird, " ".join(["cats"] * (120 // per_word)))
    bird.model.set_attention_type("original_full")
    trace = trace_transformer(bird, " ".join(["cats"] * (120 // per_word)))
    assert {array.sizes["key"] for array in trace.sites.values()} == {122} and trace.meta["rebuilt"] < 1e-5


def test_esm2_reads_a_protein(tmp_path):
    """One letter a residue, between <cls> and <eos>; the weights are the library's."""
    letters = "L A G V S E R T I D P K Q N F Y M H W C X B U Z O . -".split()
    vocabulary = ["<cls>", "<pad>", "<eos>", "<unk>", *letters, "<null_1>", "<mask>"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary))
    tokenizer = transformers.EsmTokenizer(str(tmp_path / "vocab.txt"))
    config = small_config("esm", vocab_size=len(vocabulary), pad_token_id=1, mask_token_id=32)
    config.position_embedding_type, config.token_dropout = "rotary", True
    torch.manual_seed(0)
    model = transformers.EsmForMaskedLM(config).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load_transformer(str(tmp_path))
    trace = trace_transformer(loaded, "MKTAYIAKQR")
    array = trace.sites["layer.3/attention/weight"]
    assert array["key_token"].values.tolist() == ["<cls>", *"MKTAYIAKQR", "<eos>"]
    assert array["key_special"].values.tolist() == [1, *[0] * 10, 1] and trace.meta["rebuilt"] < 1e-5
    loaded.model.set_attn_implementation("eager")
    with torch.no_grad():
        theirs = loaded.model(**loaded.tokenizer("MKTAYIAKQR", return_tensors="pt"), output_attentions=True)
    np.testing.assert_allclose(array.values, theirs.attentions[3][0].numpy(), atol=1e-5)
