"""`record` and `replace` inside TorchScript, against the same module as Python, with the same parameters."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from triattn_core.errors import InputError, TraceError
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record

pytestmark = pytest.mark.filterwarnings("ignore")
TOKENS = list("abcdefg")


class Attends(nn.Module):
    """Causal self-attention of three heads, by softmax or fused."""

    def __init__(self, fused: bool):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 12, bias=False)
        self.out, self.fused = nn.Linear(12, 12), fused

    def forward(self, states):
        batch, n = states.shape[0], states.shape[1]
        query = self.query(states).view(batch, n, 3, 4).transpose(1, 2)
        key = self.key(states).view(batch, n, 3, 4).transpose(1, 2)
        value = self.value(states).view(batch, n, 3, 4).transpose(1, 2)
        if self.fused:
            made = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            scores = query @ key.transpose(-2, -1) / 2.0
            hidden = torch.ones(n, n, device=states.device).triu(1) > 0
            weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
            made = weights @ value
        return self.out(made.transpose(1, 2).reshape(batch, n, 12))


class Stack(nn.Module):
    def __init__(self, fused: bool):
        super().__init__()
        self.norm = nn.LayerNorm(12)
        self.layers = nn.ModuleList([Attends(fused), Attends(fused)])

    def forward(self, states):
        for layer in self.layers:
            states = states + layer(self.norm(states))
        return states


WAYS = {"script": torch.jit.script, "trace": lambda model: torch.jit.trace(model, torch.randn(2, 7, 12))}


def same_sites(scripted, plain):
    """The traces of both have the same sites, numbers and words."""
    assert list(scripted.sites) == list(plain.sites)
    for site, array in plain.sites.items():
        np.testing.assert_allclose(scripted.sites[site], array, atol=1e-6)
        own = scripted.sites[site].attrs
        assert own["rebuilt"] < 1e-5 and own["mask"] == array.attrs["mask"]
        for name in ("module", "kind", "columns", "sums_over", "heads_to_a_key", "reaches"):
            assert own.get(name) == array.attrs.get(name), name


@pytest.mark.parametrize("grad", [False, True], ids=["no gradients", "gradients"])
@pytest.mark.parametrize("fused", [False, True], ids=["softmax", "sdpa"])
@pytest.mark.parametrize("way", WAYS)
def test_attention_inside_torchscript_is_that_of_the_python_module(way, fused, grad):
    torch.manual_seed(0)
    model, states = Stack(fused).eval(), torch.randn(2, 7, 12)
    compiled = WAYS[way](model)
    with torch.set_grad_enabled(grad):
        for _ in range(3):
            expected = compiled(states)  # TorchScript changes its plan with the first runs
        with record(model, example=1, scores=True) as plain:
            model(states)
        with record(compiled, example=1, scores=True) as tape:
            output = compiled(states)
    assert torch.equal(output, expected) and output.requires_grad == grad
    same_sites(tape.trace(tokens=TOKENS), plain.trace(tokens=TOKENS))
    assert [str(site) for site in tape.sites()] == ["layer.0/attention/weight", "layer.1/attention/weight"]
    for one, other in zip(tape.attentions, plain.attentions, strict=True):
        assert (one.scores is None) == (other.scores is None) == fused
        if other.scores is not None:
            torch.testing.assert_close(one.scores, other.scores)


@pytest.mark.parametrize("select", [1, "layers.1"])
def test_a_layer_inside_torchscript_is_selected_by_its_number_or_path(select):
    model = torch.jit.script(Stack(False).eval())
    with torch.no_grad(), record(model, select) as tape:
        model(torch.randn(1, 7, 12))
    assert [attention.running.path for attention in tape.attentions] == ["layers.1"]


def test_a_model_that_is_partly_torchscript_is_recorded_once():
    torch.manual_seed(0)
    python, states = nn.Sequential(Attends(False), Attends(True), Attends(False)).eval(), torch.randn(2, 7, 12)
    model = nn.Sequential(python[0], torch.jit.script(python[1]), torch.jit.script(python[2]))
    with torch.no_grad(), record(python) as plain:
        python(states)
    with torch.no_grad(), record(model) as tape, record(model) as inner:
        model(states)
    for one in (tape, inner):
        assert len(one.attentions) == 3
        same_sites(one.trace(tokens=TOKENS), plain.trace(tokens=TOKENS))


class Pairs(nn.Module):
    """Each token attends to pairs; `flat`: on one axis of n² cells."""

    def __init__(self, flat: bool):
        super().__init__()
        self.flat = flat

    def forward(self, x):
        scores = torch.einsum("id,jd,kd->ijk", x, x, x)
        weights = scores.flatten(1).softmax(-1)
        if self.flat:
            return weights @ (x[:, None] * x[None]).flatten(0, 1)
        return torch.einsum("ijk,jd,kd->id", weights.view_as(scores), x, x)


@pytest.mark.parametrize("way", ["script", "trace"])
@pytest.mark.parametrize("flat", [False, True], ids=["einsum", "flat"])
def test_a_cube_inside_torchscript_is_itself_or_refused(way, flat):
    x = torch.randn(6, 4)
    model = torch.jit.script(Pairs(flat)) if way == "script" else torch.jit.trace(Pairs(flat), x)
    with torch.no_grad(), record(model) as tape:
        model(x)
    cube = torch.einsum("id,jd,kd->ijk", x, x, x).flatten(1).softmax(-1).view(6, 6, 6)
    try:
        (array,) = tape.trace(tokens=list("abcdef")).sites.values()
    except TraceError as refused:
        assert "TorchScript, which takes an einsum" in str(refused) and not flat
    else:
        assert array.attrs["sums_over"] == "key,context"
        np.testing.assert_allclose(array[0], cube, atol=1e-6)


class Ignored(nn.Module):
    """A scripted module around a function that stays Python."""

    def forward(self, states):
        return self.attend(states)

    @torch.jit.ignore
    def attend(self, states):
        return torch.softmax(states @ states.mT, -1) @ states


def test_python_inside_torchscript_is_recorded_once():
    model, states = torch.jit.script(Ignored()), torch.randn(1, 7, 12)
    with torch.no_grad(), record(model) as tape:
        model(states)
    assert len(tape.attentions) == 1 and tape.error < 1e-5


@pytest.mark.parametrize("heads", [4, 3], ids=["one operation", "odd heads"])
@pytest.mark.parametrize("grad", [False, True], ids=["no gradients", "gradients"])
def test_multi_head_attention_inside_torchscript(grad, heads):
    torch.manual_seed(0)
    model, states = nn.MultiheadAttention(12, heads, batch_first=True).eval(), torch.randn(2, 7, 12)
    compiled = torch.jit.script(model)
    padding = torch.zeros(2, 7).bool()
    padding[1, 5:] = True
    with torch.set_grad_enabled(grad):
        expected = compiled(states, states, states, padding)[0]
        own = model(states, states, states, padding, average_attn_weights=False)[1]
        with record(compiled, example=1) as tape:
            output = compiled(states, states, states, padding)[0]
    assert torch.equal(output, expected) and tape.error < 1e-5
    (attention,) = tape.attentions
    torch.testing.assert_close(attention.arranged(), own[1], atol=1e-6, rtol=1e-5)
    assert attention.hidden is not None and torch.equal(attention.hidden.any(0), padding[1])


@pytest.mark.parametrize("norm_first", [False, True], ids=["norm last", "norm first"])
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_an_encoder_of_torch_inside_torchscript(norm_first, padded):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(12, 4, 10, batch_first=True, norm_first=norm_first, activation="gelu")
    model, states = nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 7, 12)
    compiled, padding = torch.jit.script(model), torch.zeros(2, 7).bool()
    padding[1, 5:] = padded
    given = (states, None, padding) if padded else (states,)
    with torch.no_grad():
        expected = compiled(*given)
        with record(model, example=1) as plain:
            model(*given)
        with record(compiled, example=1) as tape:
            output = compiled(*given)
    assert torch.equal(output, expected) and 0 < tape.error < 1e-5
    assert [str(site) for site in tape.sites()] == ["layer.0/attention/weight", "layer.1/attention/weight"]
    for one, other in zip(tape.attentions, plain.attentions, strict=True):
        n = one.weights.shape[-1]  # without its padding
        assert one.running.path == other.running.path
        torch.testing.assert_close(one.arranged(), other.arranged()[:, :n, :n], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fused", [False, True], ids=["softmax", "sdpa"])
@pytest.mark.parametrize("weights", ["even", "off"])
def test_weights_inside_torchscript_are_replaced(way, fused, weights):
    torch.manual_seed(0)
    model, states = Stack(fused).eval(), torch.randn(2, 7, 12)
    compiled = WAYS[way](model)
    with torch.no_grad():
        with replace(model, weights, select=1, heads=[0, 2]):
            expected = model(states)
        with record(compiled) as tape, replace(compiled, weights, select=1, heads=[0, 2]) as done:
            output = compiled(states)
    torch.testing.assert_close(output, expected, atol=1e-6, rtol=1e-5)
    assert done.modules == ["layers.1"] and len(tape.attentions) == 2
    used = tape.attentions[1].arranged()
    assert used[[0, 2]].sum(-1).allclose(torch.tensor(float(weights == "even"))) and used[1].sum(-1).allclose(
        torch.ones(7)
    )


def test_what_cannot_be_replaced_inside_torchscript_is_refused_with_the_reason():
    states, attends = torch.randn(1, 7, 12), torch.jit.script(Attends(False).eval())
    whole = torch.jit.script(nn.MultiheadAttention(12, 4, batch_first=True).eval())
    with pytest.raises(InputError, match="gradients .* under torch.no_grad"), replace(attends, "even"):
        attends(states)
    with torch.no_grad(), pytest.raises(InputError, match="one operation inside TorchScript"), replace(whole, "even"):
        whole(states, states, states)
    with torch.no_grad(), pytest.raises(InputError, match="there is no 3"), replace(attends, "even", heads=[3]):
        attends(states)
    fused = torch.jit.script(Attends(True).eval())
    with torch.no_grad(), pytest.raises(InputError, match="the batch has 1 row"), record(fused, example=1):
        fused(states)
