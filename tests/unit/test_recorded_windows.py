"""Windows, bands and looped modules: what stands as heads, what a long band takes, and one name for one module."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
from torch import nn

from tests.architectures import sentence_of, small_model
from triattn_core.errors import TraceError
from triattn_core.recording import tape as tapes
from triattn_core.recording.tape import record

TOKENS = [f"t{i}" for i in range(13)]


@pytest.mark.parametrize("batch", [1, 2])
def test_windows_of_a_picture_are_said_to_be_windows(batch):
    torch.manual_seed(0)
    config = transformers.SwinConfig(
        image_size=32, patch_size=4, embed_dim=8, depths=[2], num_heads=[2], window_size=4, num_labels=2
    )
    model = transformers.SwinModel(config).eval()
    with torch.no_grad(), record(model) as tape:
        model(torch.randn(batch, 3, 32, 32))
    trace = tape.trace()
    for array in trace.sites.values():
        assert array.sizes == {"head": 8, "query": 16, "key": 16} and array.attrs["windows"] == 4
    note = "Tokens attend within 4 windows: the first 2 maps are the heads of the first window, and so on."
    assert note in trace.meta["notes"]


@pytest.mark.parametrize("fused", [True, False])
def test_windows_by_hand(fused):
    class Windows(nn.Module):
        def forward(self, states):
            heads = states.unflatten(1, (-1, 5)).unflatten(-1, (2, 4)).flatten(0, 1).transpose(1, 2)
            if fused:
                return nn.functional.scaled_dot_product_attention(heads, heads, heads)
            return (heads @ heads.mT / 2).softmax(-1) @ heads

    with record(model := Windows()) as tape:
        model(torch.randn(1, 15, 8))
    [array] = tape.trace().sites.values()
    assert array.sizes == {"head": 6, "query": 5, "key": 5} and array.attrs["windows"] == 3


def test_a_batch_and_heads_are_no_windows():
    for model_type in ("bert", "opt", "longformer"):
        model = small_model(model_type)
        inputs = sentence_of(model)
        with torch.no_grad(), record(model) as tape:
            model(inputs["input_ids"].repeat(2, 1))
        assert {array.attrs["windows"] for array in tape.trace().sites.values()} == {1}


def test_a_module_has_one_name_in_all_of_its_runs():
    model = small_model("hrm_text")
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    names: dict[str, set[str]] = {}
    for site, attention in tape.sites().items():
        names.setdefault(attention.running.path, set()).add(site.module)
    assert len(names) == 8 and all(len(of_module) == 1 for of_module in names.values())


def test_a_band_that_takes_too_much_memory_is_refused_in_a_line(monkeypatch):
    model = small_model("longformer")
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    monkeypatch.setattr(tapes, "MOST_BYTES", 4 * 4 * 18 * 18 * 4 - 1)  # four layers, four heads, 13 tokens padded to 18
    with pytest.raises(TraceError, match="the bands take .* `select` fewer layers") as raised:
        tape.trace()
    assert "\n" not in str(raised.value)
    monkeypatch.setattr(tapes, "MOST_BYTES", 4 * 4 * 18 * 18 * 4)
    assert len(tape.trace().sites) == 4


@pytest.mark.parametrize("model_type", ["longformer", "led"])
def test_maps_beside_a_band_have_no_padding(model_type):
    model = small_model(model_type)
    marks = {"global_attention_mask": torch.zeros(1, 13)}
    marks["global_attention_mask"][0, [0, 5]] = 1
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model), **marks)
    sites = {site: array for site, array in tape.trace(tokens=TOKENS).sites.items() if "decoder" not in site.role}
    sites = {site: array for site, array in sites.items() if site.role != "cross"}
    shapes = [array.shape[1:] for array in sites.values()]
    assert shapes == [(13, 2), (13, 13), (2, 13)] * 4  # keys that all see, the band, queries that see all
    for array in sites.values():
        assert array.attrs["mask"] == "none" or array.shape[1:] == (13, 13)
        if array.sizes["query"] == 2:
            np.testing.assert_allclose(array.sum("key"), 1, atol=1e-5)
            assert array["key_token"].values.tolist() == TOKENS


def test_bands_of_longt5_are_those_computed_by_hand():
    model = small_model("longt5", local_radius=2)
    seen = []
    modules = [block.layer[0].LocalSelfAttention for block in model.encoder.block]
    for module in modules:
        module.register_forward_hook(lambda *call: seen.append((call[1][0].detach()[0], call[2][0][0])))
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    trace = tape.trace()
    offset = torch.arange(13)[None] - torch.arange(13)[:, None]  # key − query
    first = modules[0]  # holds the biases of all layers
    with torch.no_grad():
        # Small offsets have a bucket each, those of later keys in the second half; larger ones are masked below.
        bucket = offset.abs().clamp(max=2) + (offset > 0) * (first.relative_attention_num_buckets // 2)
        bias = first.relative_attention_bias(bucket).permute(2, 0, 1)
        for layer, (module, (states, output)) in enumerate(zip(modules, seen, strict=True)):
            query, key, value = (part(states).view(13, 4, 8).transpose(0, 1) for part in (module.q, module.k, module.v))
            scores = (query @ key.mT + bias).masked_fill(offset.abs() > 2, -torch.inf)
            weights = scores.softmax(-1)
            torch.testing.assert_close(module.o((weights @ value).transpose(0, 1).flatten(1)), output)
            recorded = torch.tensor(trace.sites[f"layer.{layer}/encoder/weight"].values)
            torch.testing.assert_close(recorded, weights, atol=1e-6, rtol=0)


def test_weights_of_prophetnet_where_the_library_returns_scores():
    model = small_model("prophetnet")
    module, seen = model.encoder.layers[0].self_attn, []
    module.register_forward_hook(lambda *call: seen.append(call[2]["hidden_states"].detach()[0]), with_kwargs=True)
    with torch.no_grad(), record(model) as tape:
        returned = model(**sentence_of(model), output_attentions=True).encoder_attentions[0][0]
        query, key = (part(seen[0]).view(13, 4, 8).transpose(0, 1) for part in (module.query_proj, module.key_proj))
        scores = query / 8**0.5 @ key.mT
    torch.testing.assert_close(returned, scores)
    recorded = torch.tensor(tape.trace().sites["layer.0/encoder/weight"].values)
    torch.testing.assert_close(recorded, scores.softmax(-1), atol=1e-6, rtol=0)
    streams = "The 8 heads of decoder.layers.0.self_attn are 2 n-gram streams of 4 heads each"
    assert streams in tape.trace().meta["notes"]
