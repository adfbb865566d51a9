"""What `record` says beside the weights: masks, shared heads, what is refused: on small modules built on the spot."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from tests.architectures import sentence_of, small_model
from triattn_core.errors import ConfigError, InputError, TraceError
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record

INF = float("inf")


class Masked(nn.Module):
    """Causal attention by an added mask of any number, with a learned sink or without, fused or written out."""

    def __init__(self, low: float, sink: str = "", fused: bool = False):
        super().__init__()
        self.low, self.sink, self.fused = low, sink, fused

    def forward(self, states):
        n = states.shape[1]
        mask = torch.zeros(n, n).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), self.low)
        if self.fused:
            return scaled_dot_product_attention(*[states[:, None]] * 3, attn_mask=mask)
        scores = states @ states.mT + mask
        if self.sink == "last":
            weights = torch.cat([scores, torch.ones(1, n, 1)], -1).softmax(-1)[..., :-1]
        elif self.sink == "first":
            weights = torch.cat([torch.ones(1, n, 1), scores], -1).softmax(-1)[..., 1:]
        else:
            weights = scores.softmax(-1)
        return weights @ states


@pytest.mark.parametrize("low", [-INF, torch.finfo(torch.float32).min, -1e9, -1e4])
@pytest.mark.parametrize("options", [{}, {"sink": "last"}, {"sink": "first"}, {"fused": True}], ids=str)
def test_a_causal_mask_of_any_number_is_causal(low, options):
    torch.manual_seed(0)
    with record(model := Masked(low, **options)) as tape:
        model(torch.randn(1, 7, 5))
    [array] = tape.trace().sites.values()
    assert array.attrs["mask"] == "causal" and array.sizes["key"] == 7


def test_a_mask_of_two_numbers_hides_and_a_bias_does_not():
    states = torch.randn(1, 7, 5)
    with record(model := Masked(-100.0, fused=True)) as tape:  # as Swin masks its windows
        model(states)
    assert [array.attrs["mask"] for array in tape.trace().sites.values()] == ["causal"]
    with record(model := Masked(-3.0, fused=True)) as tape:
        model(states)
    assert [array.attrs["mask"] for array in tape.trace().sites.values()] == ["none"]


def test_the_mask_is_that_of_the_example():
    model = small_model("bert")
    inputs = {"input_ids": torch.randint(5, 99, (2, 13)), "attention_mask": torch.ones(2, 13, dtype=torch.long)}
    inputs["attention_mask"][1, 7:] = 0
    for implementation in ("sdpa", "eager"):
        model.set_attn_implementation(implementation)
        for example, mask in ((0, "none"), (1, "hides 46.2 % of the cells")):
            with torch.no_grad(), record(model, 0, example=example) as tape:
                model(**inputs)
            assert [array.attrs["mask"] for array in tape.trace().sites.values()] == [mask]


class Shared(nn.Module):
    """Four heads over fewer heads of keys, which are repeated before the product: each in a run, or all in turn."""

    def __init__(self, repeat: str, key_heads: int, fused: bool):
        super().__init__()
        self.repeat, self.key_heads, self.fused = repeat, key_heads, fused

    def forward(self, states):
        query = states.unflatten(-1, (4, 3)).transpose(1, 2)
        key, value = query[:, : self.key_heads], 2 * query[:, : self.key_heads]
        if self.repeat == "runs":
            key, value = (x.repeat_interleave(4 // self.key_heads, 1) for x in (key, value))
        elif self.repeat == "turns":
            key, value = (x.repeat(1, 4 // self.key_heads, 1, 1) for x in (key, value))
        if self.fused:
            return scaled_dot_product_attention(query, key, value, enable_gqa=self.repeat == "call")
        return (query @ key.mT).softmax(-1) @ value


@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("repeat", ["runs", "turns", "call"])
@pytest.mark.parametrize("fused", [True, False])
def test_heads_that_share_a_key_are_counted_where_keys_are_repeated(repeat, key_heads, fused):
    if repeat == "call" and not fused and key_heads == 2:
        pytest.skip("heads of two sizes meet in a fused call alone")
    torch.manual_seed(0)
    with record(model := Shared(repeat, key_heads, fused)) as tape:
        model(torch.randn(2, 7, 12))
    [array] = tape.trace().sites.values()
    assert array.attrs["heads_to_a_key"] == 4 // key_heads


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize(("model_type", "shared"), [("llama", 2), ("gpt2", 1)])
def test_heads_that_share_a_key_in_a_library(model_type, shared, implementation):
    model = small_model(model_type)
    model.set_attn_implementation(implementation)
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    assert {array.attrs["heads_to_a_key"] for array in tape.trace().sites.values()} == {shared}


def blocks():
    """A model of three numbered layers, and its input."""
    layer = nn.TransformerEncoderLayer(8, 2, 9, batch_first=True)
    return nn.TransformerEncoder(layer, 3).eval(), torch.randn(2, 7, 8)


@pytest.mark.parametrize("select", [3, [0, 3], "layers.7", ["layers.0", "nothing.*"]])
def test_a_selection_that_names_no_module_is_refused(select):
    model, states = blocks()
    for block in (lambda: record(model, select), lambda: replace(model, "even", select)):
        with (
            pytest.raises(ConfigError, match="select: TransformerEncoder has no .*; layers are 0 to 2, counted from 0"),
            block(),
        ):
            model(states)


def test_a_replacement_that_replaces_nothing_is_refused():
    model, states = blocks()
    select = "layers.0.linear1"
    with (
        pytest.raises(InputError, match="nothing was replaced: .* that `select` names"),
        replace(model, "even", select),
    ):
        model(states)
    reason = "nothing was replaced: TransformerEncoder ran no attention in the block"
    with pytest.raises(InputError, match=reason), replace(model, "even"):
        pass
    with pytest.raises(ZeroDivisionError), replace(model, "even"):  # the reader's own error stays
        1 / 0  # noqa: B018


@pytest.mark.parametrize("heads", [[2], [0, 5], [-1]])
def test_a_head_that_is_not_there_is_refused(heads):
    model, states = blocks()
    with (
        pytest.raises(InputError, match=r"has 2 heads, counted from 0: there is no (2|5|-1)"),
        replace(model, "even", heads=heads),
    ):
        model(states)
    with pytest.raises(ConfigError, match="an empty list chooses none"), replace(model, "even", heads=[]):
        model(states)


@pytest.mark.parametrize("fused", [True, False])
def test_an_example_that_is_not_there_is_refused(fused):
    model = Shared("runs", 2, fused)
    with pytest.raises(InputError, match="example 2: the batch has 2 rows, counted from 0"):
        with record(model, example=2) as tape:
            model(torch.randn(2, 7, 12))
        tape.trace()


def test_tokens_that_fit_no_axis_are_refused():
    with record(model := Masked(-INF)) as tape:
        model(torch.randn(1, 7, 5))
    for given in ({"tokens": ["a", "b"]}, {"query": ["a", "b"]}, {"tokens": []}):
        with pytest.raises(TraceError, match=r": \d given, and no map has as many there \(but 7\)"):
            tape.trace(**given)
    with pytest.raises(TraceError, match=r"context: 2 given, and no map has as many there \(but none\)"):
        tape.trace(context=["a", "b"])


@pytest.mark.parametrize("shape", [(1, 0, 12), (0, 7, 12)])
@pytest.mark.parametrize("fused", [True, False])
def test_an_empty_input_is_refused(shape, fused):
    with record(model := Shared("runs", 2, fused)) as tape:
        model(torch.zeros(shape))
    with pytest.raises(TraceError, match="the input is empty: there is no token to show"):
        tape.trace()


FUSED = {
    "attention": (lambda: nn.MultiheadAttention(32, 4, batch_first=True), 3),
    "layer": (lambda: nn.TransformerEncoderLayer(32, 4, 24, batch_first=True), 1),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 24, batch_first=True), 2), 1),
    "part": (lambda: nn.Sequential(nn.Linear(32, 32), nn.TransformerEncoderLayer(32, 4, 24, batch_first=True)), 1),
}


@pytest.mark.parametrize("select", [None, [], "layers.1", "1"], ids=str)
@pytest.mark.parametrize("kind", list(FUSED))
def test_what_torch_fuses_returns_the_same_bits(kind, select):
    """In evaluation torch runs these as one operation, unless a function mode is active."""
    build, inputs = FUSED[kind]
    torch.manual_seed(0)
    model, states = build().eval(), [torch.randn(3, 13, 32)] * inputs
    if isinstance(select, str) and not any(path.startswith(select) for path, _ in model.named_modules()):
        pytest.skip("it has no such part")
    with torch.no_grad():
        plain = model(*states)
        with record(model, select) as tape:
            recorded = model(*states)
    assert all(torch.equal(*pair) for pair in zip(*((x if isinstance(x, tuple) else (x,)) for x in (plain, recorded))))
    assert len(tape.attentions) == (0 if select == [] else 2 if kind == "encoder" and select is None else 1)
    assert tape.error < 1e-5 and tape.stack.fused_error < 1e-5
    if tape.stack.fused_error:
        assert "as one fused operation, which cannot be watched" in tape.trace().meta["notes"]


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_a_padded_encoder_runs_as_torch_runs_it():
    torch.manual_seed(0)
    model, states = FUSED["encoder"][0]().eval(), torch.randn(2, 7, 32)
    padded = torch.tensor([[False] * 7, [False] * 5 + [True] * 2])
    with torch.no_grad():
        plain = model(states, src_key_padding_mask=padded)
        with record(model) as tape:
            assert torch.equal(model(states, src_key_padding_mask=padded), plain)
        with replace(model, "even"):
            changed = model(states, src_key_padding_mask=padded)
        with replace(model, "even"), record(model):
            again = model(states, src_key_padding_mask=padded)
    assert len(tape.attentions) == 2 and torch.equal(changed, again) and not torch.allclose(changed, plain, atol=1e-2)


@pytest.mark.parametrize(
    ("when", "backend"),
    # inductor needs a C++ compiler to run before the block; inside it, nothing is compiled
    [*((when, backend) for when in ("before", "inside", "part") for backend in ("eager", "aot_eager"))]
    + [("inside", "inductor"), ("part", "inductor")],
)
@pytest.mark.filterwarnings("ignore:Using `torch.compile")
def test_compiled_code_is_recorded(when, backend):
    torch.compiler.reset()
    model = small_model("llama", num_hidden_layers=2)
    inputs = sentence_of(model)
    with torch.no_grad():
        with record(model) as plain:
            model(**inputs)
        if when == "part":
            model.layers[1] = torch.compile(model.layers[1], backend=backend)
        compiled = model if when == "inside" else torch.compile(model, backend=backend)
        if when == "before":
            compiled(**inputs)  # has compiled code
        with record(model) as tape:
            inside = torch.compile(model, backend=backend) if when == "inside" else compiled
            inside(**inputs)
        assert [len(tape.attentions), len(plain.attentions)] == [2, 2] and tape.error < 1e-5
        for one, other in zip(tape.attentions, plain.attentions):
            torch.testing.assert_close(one.arranged(), other.arranged())
        with record(compiled) as tape:
            compiled(**inputs)
        assert [site.layer for site in tape.trace().sites] == [0, 1]


def test_padding_is_trimmed_where_ids_come_by_keyword():
    model = small_model("longformer")  # pads 13 tokens to 18
    inputs = sentence_of(model)
    for given in ((), (inputs["input_ids"],)):
        with torch.no_grad(), record(model) as tape:
            model(*given, **({} if given else inputs))
        assert {array.shape for array in tape.trace().sites.values()} == {(4, 13, 13)}


class Unused(nn.Module):
    """A product of weights and values that is returned, written into a buffer, thrown away, or lost on the way."""

    def __init__(self, way: str):
        super().__init__()
        self.way, self.out = way, nn.Linear(12, 12)

    def forward(self, states):
        made = (states @ states.mT).softmax(-1) @ states
        if self.way == "buffer":
            buffer = torch.zeros(1, 9, 12)
            buffer[:, 1:8] = made
            return {"states": [self.out(buffer)]}
        if self.way == "view":
            buffer = torch.zeros(7, 12)
            buffer.view(1, 7, 12).copy_(made)
            return buffer
        if self.way == "added":
            states = states.clone()
            states += made
            return states
        return self.out(made) if self.way == "returned" else states * 2


@pytest.mark.parametrize("way", ["returned", "buffer", "view", "added", "thrown away"])
def test_a_product_that_is_thrown_away_is_not_proved_to_be_used(way):
    model = nn.Sequential(Unused("returned"), Unused(way))
    with torch.no_grad(), record(model) as tape:
        model(torch.randn(1, 7, 12))
    trace = tape.trace()
    reached = [array.attrs["reaches"] for array in trace.sites.values()]
    used = way != "thrown away"
    assert reached == ["the model's output", "the model's output" if used else ""]
    assert ("Not proved to be used: in 1, what weights made" in trace.meta["notes"]) is not used
    with torch.no_grad(), record(model, "0") as tape:
        model(torch.randn(1, 7, 12))
    assert "What they made is in what 0 returned, and was not followed further." in tape.trace().meta["notes"]


def test_the_notes_say_what_the_error_is_of():
    ways = {
        "sdpa": "Weights are computed again from queries, keys and masks.",
        "eager": "Weights are the model's own, whose product with the values was repeated.",
    }
    for implementation, way in ways.items():
        model = small_model("bert")
        model.set_attn_implementation(implementation)
        with torch.no_grad(), record(model) as tape:
            model(**sentence_of(model))
        assert f"{way} What they made is in the model's output." in tape.trace().meta["notes"]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("options", "added"),
    [
        ({"add_bias_kv": True}, ["[BIAS]"]),
        ({"add_zero_attn": True}, ["[ZERO]"]),
        ({"add_bias_kv": True, "add_zero_attn": True}, ["[BIAS]", "[ZERO]"]),
        ({}, []),
    ],
)
def test_keys_that_torch_adds_have_names_after_those_of_the_text(options, added, fused):
    model = nn.MultiheadAttention(8, 2, batch_first=True, **options).eval()
    states = torch.randn(1, 5, 8)
    with record(model) as tape:
        _, own = model(states, states, states, need_weights=not fused, average_attn_weights=False)
    array = tape.trace(tokens=list("abcde")).site("attention/weight")
    assert array["query_token"].values.tolist() == list("abcde")
    assert array["key_token"].values.tolist() == [*"abcde", *added]
    assert array["key_special"].values.sum() == len(added)
    assert fused or torch.equal(own[0], torch.from_numpy(array.values))


def test_the_keys_that_torch_adds_are_named_inside_a_model_and_beside_those_of_another_text():
    model = nn.Sequential(nn.Linear(8, 8), nn.MultiheadAttention(8, 2, batch_first=True, add_zero_attn=True)).eval()
    with record(model) as tape:
        model[1](torch.randn(1, 3, 8), *[torch.randn(1, 5, 8)] * 2)
    array = tape.trace(query=list("xyz"), key=list("abcde")).site("layer.1/attention/weight")
    assert array["key_token"].values.tolist() == [*"abcde", "[ZERO]"]
    named = tape.trace(key=list("abcdef")).site("layer.1/attention/weight")
    assert named["key_token"].values.tolist() == list("abcdef")
