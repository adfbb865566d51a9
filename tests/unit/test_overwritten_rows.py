"""Rows of an attention that the model computes and then writes over: what it used is shown in their place."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from tests.architectures import small_config
from triattn_core.recording.tape import record

NOTE = "Rows that were computed and then written over or dropped are not shown"


def small(kind: str, model_type: str):
    torch.manual_seed(0)
    model = getattr(transformers, kind)(small_config(model_type, sep_token_id=3)).eval()
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.2)
    return model


def used_of_longformer(local: np.ndarray, of_global: np.ndarray, places: list[int]) -> np.ndarray:
    """[head, n, n] that the library returns in two parts: a band with zeros for global tokens, and their rows."""
    heads, n, width = local.shape
    reach = (width - len(places) - 1) // 2
    full = np.zeros((heads, n, n + 2 * reach), np.float32)
    for i in range(n):
        full[:, i, i : i + 2 * reach + 1] = local[:, i, len(places) :]
    full = full[:, :, reach:-reach]
    for number, place in enumerate(places):
        full[:, place] = of_global[:, :n, number]
    return full


@pytest.mark.parametrize(
    ("kind", "inputs", "places"),
    [
        ("LongformerForSequenceClassification", {}, [0]),
        ("LongformerForQuestionAnswering", {"separators": (4, 9, 12)}, [0, 1, 2, 3]),
        ("LongformerForMaskedLM", {"mask": (0, 7)}, [0, 7]),
        ("LEDForConditionalGeneration", {"mask": (3,)}, [3]),
    ],
)
def test_the_row_of_a_global_token_is_the_one_that_was_used(kind, inputs, places):
    led = kind.startswith("LED")
    model = small(kind, "led" if led else "longformer")
    ids = torch.arange(10, 23)[None]
    ids[0, list(inputs.get("separators", ()))] = 3
    given = {}
    if "mask" in inputs:
        given["global_attention_mask"] = torch.zeros_like(ids)
        given["global_attention_mask"][0, list(inputs["mask"])] = 1
    with torch.no_grad(), record(model) as tape:
        output = model(ids, **given, output_attentions=True)
    local, of_global = (
        (output.encoder_attentions, output.encoder_global_attentions)
        if led
        else (output.attentions, output.global_attentions)
    )
    trace = tape.trace()
    role = "encoder" if led else "attention"
    for layer in range(2):
        expected = used_of_longformer(local[layer][0].numpy(), of_global[layer][0].numpy(), places)
        n = expected.shape[1]
        shown = trace.sites[f"layer.{layer}/{role}/2/weight"]
        np.testing.assert_allclose(shown.values[:, :n, :n], expected[:, :13, :13], atol=1e-6)
        to_global = trace.sites[f"layer.{layer}/{role}/weight"].values[:, :n]
        np.testing.assert_allclose(to_global, local[layer][0].numpy()[..., : len(places)], atol=1e-6)
        assert shown.attrs["overwritten"] == ",".join(map(str, places))
    assert NOTE in trace.meta["notes"]


def test_a_batch_shows_the_rows_of_its_own_example():
    model = small("LongformerModel", "longformer")
    ids, mask = torch.arange(10, 34).view(2, 12), torch.zeros(2, 12, dtype=torch.long)
    mask[0, 2] = mask[1, 5] = mask[1, 6] = 1
    for example, places in ((0, [2]), (1, [5, 6])):
        with torch.no_grad(), record(model, example=example) as tape:
            output = model(ids, global_attention_mask=mask, output_attentions=True)
        local = output.attentions[0][example].numpy()
        expected = used_of_longformer(
            np.concatenate([local[..., : len(places)], local[..., 2:]], -1),
            output.global_attentions[0][example].numpy(),
            places,
        )
        shown = tape.trace().sites["layer.0/attention/2/weight"].values
        np.testing.assert_allclose(shown, expected, atol=1e-6)


class Overwrites(nn.Module):
    """Attention of 7 tokens, of which some rows are written over, in one of the ways that code has for it."""

    def __init__(self, way: str, fused: bool = False):
        super().__init__()
        self.way, self.fused, self.own, self.out = way, fused, nn.Linear(8, 8), nn.Linear(8, 8)

    def attend(self, query, key):
        heads, keys = (states.unflatten(-1, (2, 4)).transpose(1, 2) for states in (query, key))
        if self.fused:
            made = scaled_dot_product_attention(heads, keys, keys)
        else:
            made = (heads @ keys.mT).softmax(-1) @ keys
        return made.transpose(1, 2).flatten(2)

    def forward(self, states):
        made, other = self.attend(states, states), self.attend(self.own(states)[:, 1:3], states)
        assert made.shape == states.shape
        rows = torch.tensor([1, 2])
        is_row = torch.zeros_like(made, dtype=torch.bool)
        is_row[:, rows] = True
        padded = torch.nn.functional.pad(other, (0, 0, 1, 4))
        if self.way == "setitem":
            made[:, rows] = other
        elif self.way == "slice":
            made[:, 1:3] = other
        elif self.way == "a view":
            made.transpose(0, 1)[1:3] = other.transpose(0, 1)
        elif self.way == "copy_":
            made[:, 1:3].copy_(other)
        elif self.way == "index_copy":
            made = made.index_copy(1, rows, other)
        elif self.way == "index_put_":
            made.index_put_((torch.tensor(0), rows), other[0])
        elif self.way == "scatter":
            made = made.scatter(1, rows[None, :, None].expand_as(other), other)
        elif self.way == "masked_scatter":
            made = made.masked_scatter(is_row, other)
        elif self.way == "where":
            made = torch.where(is_row, padded, made)
        elif self.way == "cat":
            made = torch.cat([made[:, :1], other, made[:, 3:]], 1)
        elif self.way == "masked_fill":
            made = made.masked_fill(is_row, 0.0)
        elif self.way == "zeros":
            made[:, 1:3] = 0.0
        return self.out(made)


WAYS = ("setitem", "slice", "a view", "copy_", "index_copy", "index_put_", "scatter", "masked_scatter", "where", "cat")


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("way", [*WAYS, "masked_fill", "zeros", "none"])
def test_rows_are_written_over_in_many_ways(way, fused):
    torch.manual_seed(0)
    model, states = Overwrites(way, fused), torch.randn(1, 7, 8)
    with torch.no_grad(), record(model) as tape:
        model(states)
        plain = Overwrites("none", fused)
        plain.load_state_dict(model.state_dict())
    with torch.no_grad(), record(plain) as whole:
        plain(states)
    first, second = whole.trace().sites.values()
    shown = next(iter(tape.trace().sites.values()))
    expected = first.values.copy()
    if way != "none":
        expected[:, 1:3] = second.values if way in WAYS and way != "cat" else 0.0
    np.testing.assert_array_equal(shown.values, expected)
    assert shown.attrs["overwritten"] == ("" if way == "none" else "1,2")
    assert (NOTE in tape.trace().meta["notes"]) == (way != "none")
