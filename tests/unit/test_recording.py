"""`record`: what it keeps is what the model used, on small models built on the spot, one for each known trap."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest
import torch
from torch import nn

from tests.architectures import sentence_of, small_model
from triattn_core.errors import TraceError
from triattn_core.recording.layer_lists import layer_of_path
from triattn_core.recording.module_stack import ModuleStack
from triattn_core.recording.names import role_of_path
from triattn_core.recording.rebuild import FusedCall, rebuild_weights
from triattn_core.recording.tape import record

TOKENS = [f"t{i}" for i in range(13)]
FAMILIES = (
    *("bert", "roberta", "albert", "gpt2", "llama", "mixtral", "t5", "bart", "squeezebert", "gpt_oss", "qwen3_next"),
    *("minimax", "canine", "longformer", "led", "longt5", "hrm_text", "deepseek_v4", "convbert", "big_bird", "esm"),
)


def run(model_type: str):
    """A small model of a type, its output without and with a recorder, and the tape."""
    model = small_model(model_type)
    inputs = sentence_of(model)
    with torch.no_grad():
        plain = model(**inputs)[0]
        with record(model) as tape:
            recorded = model(**inputs)[0]
    return model, plain, recorded, tape


@pytest.mark.parametrize("model_type", FAMILIES)
def test_recording_changes_no_bit_and_is_proved(model_type):
    _, plain, recorded, tape = run(model_type)
    assert torch.equal(plain, recorded)
    assert tape.attentions and tape.error < 1e-5
    trace = tape.trace(tokens=TOKENS)
    assert trace.meta["notes"].startswith("Weights times values rebuild what the model computed, to ")
    for array in trace.sites.values():
        sums = array.sum("key").values
        assert (sums < 1 + 1e-4).all() and (array.values >= 0).all()
        if array.attrs.get("sums_over"):
            np.testing.assert_allclose(sums, 1, atol=1e-4)


@pytest.mark.parametrize("model_type", ["bert", "gpt2", "llama", "mixtral"])
def test_sdpa_gives_what_the_library_returns_under_eager(model_type):
    model = small_model(model_type)
    inputs = sentence_of(model)
    with torch.no_grad(), record(model) as tape:
        model(**inputs)
    assert {attention.kind for attention in tape.attentions} == {"sdpa"}
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(**inputs, output_attentions=True).attentions
    sites = tape.trace(tokens=TOKENS).sites
    assert len(sites) == len(expected) == 4
    for layer, attention in enumerate(expected):
        np.testing.assert_allclose(sites[f"layer.{layer}/attention/weight"].values, attention[0], atol=1e-6)


def test_layers_without_attention_leave_a_gap():
    _, _, _, tape = run("qwen3_next")
    assert list(map(str, tape.trace().sites)) == ["layer.3/attention/weight"]
    _, _, _, tape = run("minimax")  # the states of linear attention are no map
    assert list(map(str, tape.trace().sites)) == ["layer.0/attention/weight", "layer.2/attention/weight"]


def test_squeezebert_returns_scores_and_weights_are_recorded():
    model, _, _, tape = run("squeezebert")
    with torch.no_grad():
        returned = model(**sentence_of(model), output_attentions=True).attentions[0][0]
    weights = tape.trace().sites["layer.0/attention/weight"].values
    assert not torch.allclose(returned.sum(-1), torch.ones(()), atol=1e-3)
    np.testing.assert_allclose(returned.softmax(-1), weights, atol=1e-6)


def test_a_sink_is_named():
    _, _, _, tape = run("gpt_oss")
    trace = tape.trace(tokens=TOKENS)
    array = trace.sites["layer.0/attention/weight"]
    assert array.attrs["runs_over"] == "key" and "sums_over" not in array.attrs and array.sizes["key"] == 13
    assert "A learned sink takes the rest of each row: 1 column of the softmax dropped" in trace.meta["notes"]


def test_a_sink_of_sliding_windows_alone_is_named_there_alone():
    """MiMo-V2-Flash has a sink in its sliding-window layers; layers of full attention have rows that sum to one."""
    model, _, _, tape = run("mimo_v2_flash")
    kinds = model.config.layer_types
    assert set(kinds) == {"full_attention", "sliding_attention"}
    trace = tape.trace(tokens=TOKENS)
    for layer, kind in enumerate(kinds):
        array = trace.sites[f"layer.{layer}/attention/weight"]
        assert ("sums_over" in array.attrs) == (kind == "full_attention")
        whole = np.isclose(array.sum("key"), 1, atol=1e-4)
        assert whole.all() if kind == "full_attention" else not whole.any()
    assert f"({kinds.count('sliding_attention')} of 4 maps)" in trace.meta["notes"]


@pytest.mark.parametrize(
    ("model_type", "layers"),
    [("kimi_linear", [3]), ("zamba2", [1, 3]), ("nemotron_h", [2]), ("falcon_h1", [0, 1, 2, 3])],
)
def test_hybrids_have_the_layers_of_their_config(model_type, layers):
    _, plain, recorded, tape = run(model_type)
    assert torch.equal(plain, recorded) and tape.error < 1e-5
    assert [site.layer for site in tape.trace(tokens=TOKENS).sites] == layers


def test_bands_are_unfolded():
    model, _, _, tape = run("longformer")
    weights = tape.trace(tokens=TOKENS).sites["layer.0/attention/weight"]
    assert weights.sizes == {"head": 4, "query": 13, "key": 13}
    with torch.no_grad():
        band = model(**sentence_of(model), output_attentions=True).attentions[0][0].numpy()  # [head, n, 2 w + 1]
    reach = (band.shape[-1] - 1) // 2
    expected = np.zeros((4, 13, 13 + 2 * reach), np.float32)
    for i in range(13):
        expected[:, i, i : i + 2 * reach + 1] = band[:, i]
    np.testing.assert_allclose(weights.values, expected[:, :, reach:-reach], atol=1e-6)
    for model_type, site in (("longt5", "layer.0/encoder/weight"), ("led", "layer.0/encoder/weight")):
        weights = run(model_type)[3].trace(tokens=TOKENS).sites[site]
        assert weights.sizes == {"head": 4, "query": 13, "key": 13}
        np.testing.assert_allclose(weights.sum("key"), 1, atol=1e-5)


def test_visits_of_a_looped_layer():
    _, _, _, tape = run("albert")
    names = ["layer.0/attention/weight", *(f"layer.0/visit.{i}/attention/weight" for i in (1, 2, 3))]
    assert list(map(str, tape.trace().sites)) == names


def test_cross_attention_has_its_role_and_tokens():
    _, _, _, tape = run("bart")
    trace = tape.trace(tokens=TOKENS, query=[f"d{i}" for i in range(7)])
    cross = trace.sites["layer.2/cross/weight"]
    assert cross.sizes == {"head": 4, "query": 7, "key": 13}
    assert cross["query_token"].values.tolist()[0] == "d0" and cross["key_token"].values.tolist()[0] == "t0"
    assert {site.role for site in trace.sites} == {"encoder", "decoder", "cross"}


def test_compressed_keys_are_more_than_the_tokens():
    sizes = {array.sizes["key"] for array in run("deepseek_v4")[3].trace(tokens=TOKENS).sites.values()}
    assert sizes == {13, 16}


def test_parts_of_one_softmax_and_tokens_alone():
    trace = run("pegasus_x")[3].trace()
    assert "encoder.layers.0.self_attn and 3 more attend in blocks" in trace.meta["notes"]
    assert {site.role for site in trace.sites} == {"decoder", "cross"}
    trace = run("inkling2_text")[3].trace(tokens=TOKENS)  # of each token over its own states: no attention of tokens
    assert {array.shape[1:] for array in trace.sites.values()} == {(13, 13)} and len(trace.sites) == 4


def test_landmarks_are_refused_and_a_short_text_is_not():
    model = small_model("nystromformer", num_landmarks=8, segment_means_seq_len=64)
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model, 64))
    with pytest.raises(TraceError, match="attention goes by 8 landmarks"):
        tape.trace()
    assert run("nystromformer")[3].trace(tokens=TOKENS).site("layer.2/attention/weight").sizes["key"] == 13


def test_a_part_that_the_model_replaces_keeps_its_layer():
    """BigBird changes its attention modules on a short text, while it runs."""
    sites = [str(site) for site in run("big_bird")[3].trace().sites]
    assert sites == [f"layer.{layer}/attention/weight" for layer in range(4)]
    model = small_model("big_bird")
    with torch.no_grad(), record(model, 0) as tape:
        model(**sentence_of(model))
    assert len(tape.attentions) == 1


def test_weights_by_relative_position_are_no_map():
    _, _, _, tape = run("vits")  # each softmax meets the values, then, by offset, vectors of relative positions
    assert {array.shape[1:] for array in tape.trace().sites.values()} == {(13, 13)} and len(tape.attentions) == 4


def test_what_is_no_number_is_not_proved():
    """NaN in one matrix: an error that is no number must not pass as small."""
    for model_type in ("llama", "squeezebert", "t5"):  # fused, written out, with a decoder
        model = small_model(model_type)
        name = next(name for name, weight in model.named_parameters() if re.search(r"1.*(v_proj|value|\.v\.)", name))
        model.get_parameter(name).data[0] = torch.nan
        with torch.no_grad(), record(model) as tape:
            model(**sentence_of(model))
        assert tape.error == float("inf")
        assert tape.trace(tokens=TOKENS).meta["notes"].startswith("Not proved: in ")


@pytest.mark.parametrize(
    ("model_type", "reason"),
    [
        ("fnet", "fnet mixes tokens by a Fourier transform: there is no attention to show"),
        ("yoso", "yoso weighs values by the chance that hashes of query and key meet"),  # which no product gives away
        (
            "mra",
            "mra approximates attention at several resolutions by a kernel of CUDA, without which it returns zeros",
        ),
    ],
)
def test_a_model_without_attention_is_refused_with_the_reason(model_type, reason):
    with pytest.raises(TraceError, match=reason):
        run(model_type)[3].trace()


def test_multi_head_attention_and_its_fast_path():
    torch.manual_seed(0)
    layer, states = nn.TransformerEncoderLayer(32, 4, batch_first=True).eval(), torch.randn(3, 13, 32)
    with torch.no_grad(), record(layer, example=2) as tape:
        layer(states)
        _, expected = layer.self_attn(states, states, states, average_attn_weights=False)
    np.testing.assert_allclose(tape.attentions[0].arranged(), expected[2], atol=1e-6)
    np.testing.assert_allclose(tape.attentions[1].arranged(), expected[2], atol=1e-6)
    assert tape.error < 1e-5


def test_select_leaves_the_others_out():
    model = small_model("llama")
    for select, layers in ((2, {2}), ([0, 3], {0, 3}), ("layers.1.*", {1}), (lambda path: path.startswith("x"), set())):
        with torch.no_grad(), record(model, select) as tape:
            model(**sentence_of(model))
        assert {attention.running.layer for attention in tape.attentions} == layers


def test_threads_and_nested_recorders_do_not_see_each_other():
    model, other = small_model("llama"), small_model("gpt2")
    inputs = sentence_of(model)

    def elsewhere():
        with torch.no_grad():
            model(**inputs)

    with torch.no_grad(), record(model) as outer:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert outer.attentions == []
        with record(other) as inner:
            model(**inputs)
            other(**inputs)
    assert len(outer.attentions) == len(inner.attentions) == 4
    assert {attention.running.path.split(".")[0] for attention in inner.attentions} == {"h"}


def test_nothing_stays_after_the_block():
    from torch.nn.modules import module as hooks

    model = small_model("gpt2")
    before = len(hooks._global_forward_pre_hooks), len(hooks._global_forward_hooks)
    with pytest.raises(ZeroDivisionError), record(model) as tape:
        1 / 0  # noqa: B018
    assert (len(hooks._global_forward_pre_hooks), len(hooks._global_forward_hooks)) == before
    with torch.no_grad():
        model(**sentence_of(model))
    assert tape.attentions == []


@pytest.mark.parametrize("mask", ["none", "boolean", "added", "causal"])
def test_rebuilt_weights_are_those_of_a_slow_loop(mask):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, heads, n, 7) for heads, n in ((6, 5), (3, 11), (3, 11)))
    keep = torch.rand(2, 1, 5, 11) > 0.4
    keep[1, 0, 2] = False  # a query with nothing to attend to
    given = {"boolean": keep, "added": torch.zeros(keep.shape).masked_fill(~keep, -torch.inf)}.get(mask)
    call = FusedCall(q, k, v, given, is_causal=mask == "causal", scale=0.3, enable_gqa=True)
    result = nn.functional.scaled_dot_product_attention(
        q, k, v, given, is_causal=mask == "causal", scale=0.3, enable_gqa=True
    )
    weights, error = rebuild_weights(call, result, batch=2, example=1)
    assert error < 1e-6
    for head in range(6):
        for i in range(5):
            shown = [j for j in range(11) if (j <= i if mask == "causal" else given is None or bool(keep[1, 0, i, j]))]
            scores = {j: 0.3 * float(q[1, head, i].double() @ k[1, head // 2, j].double()) for j in shown}
            total = sum(np.exp(score) for score in scores.values())
            expected = [np.exp(scores[j]) / total if j in scores else 0.0 for j in range(11)]
            np.testing.assert_allclose(weights[head, i], expected, atol=1e-6)


def test_a_wrong_result_is_not_proved():
    q = torch.randn(1, 2, 5, 4)
    result = nn.functional.scaled_dot_product_attention(q, q, q)
    assert (
        rebuild_weights(FusedCall(q, q, q), result)[1] < 1e-6 < 1e-2 < rebuild_weights(FusedCall(q, q, -q), result)[1]
    )


def test_names():
    paths = {"encoder.block.3.layer.0.SelfAttention": 3, "0.layers.5.attn": 5, "attn": None, "blocks.2": 2}
    assert {path: layer_of_path(path) for path in paths} == paths
    assert role_of_path("decoder.layers.0.encoder_attn") == "cross"
    assert ModuleStack(nn.Identity()).innermost is None
