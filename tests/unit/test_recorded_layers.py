"""Layers have the model's own numbers, in lists of lists too, and those without attention are gaps."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.architectures import sentence_of, small_model
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.errors import ConfigError
from triattn_core.recording.head_selection import Selection
from triattn_core.recording.layer_lists import layer_numbers
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record
from triattn_core.scenes.trace_sites import map_sites
from triattn_core.trace.from_array import notes_of
from triattn_core.views.attention_maps.trace_maps import trace_map
from triattn_core.views.head_grid.grid import Grid


class Attends(nn.Module):
    def forward(self, states):
        return states + (states @ states.mT).softmax(-1) @ states


class Skips(nn.Module):
    """A layer that mixes no tokens, or by a product without a softmax, which is an attention that is not shown."""

    def __init__(self, unseen: bool = False):
        super().__init__()
        self.unseen = unseen

    def forward(self, states):
        return states + (states @ states.mT).sigmoid() @ states if self.unseen else states.tanh()


class Stack(nn.Module):
    """Layers in a list; how many of them run is given."""

    def __init__(self, *layers: nn.Module, most: int = 99):
        super().__init__()
        self.mixers, self.most = nn.ModuleList(layers), most

    def forward(self, states):
        for layer in list(self.mixers)[: self.most]:
            for part in layer if isinstance(layer, nn.ModuleList) else [layer]:
                states = part(states)
        return states


def trace_of(model, select=None):
    with torch.no_grad(), record(model, select) as tape:
        model(torch.randn(1, 7, 5))
    return tape.trace(tokens=list("abcdefg"))


def test_layers_of_funnel_are_counted_through_its_blocks():
    model = small_model("funnel", block_sizes=[2, 1, 3], block_repeats=[1, 2, 1], num_decoder_layers=2)
    order = []
    layers = [layer for block in model.encoder.blocks for layer in block]
    hooks = [layer.attention.register_forward_hook(lambda own, *_: order.append(own)) for layer in layers]
    with torch.no_grad(), record(model) as tape:
        model(**sentence_of(model))
    for hook in hooks:
        hook.remove()
    numbers = {id(layer.attention): number for number, layer in enumerate(layers)}
    encoder = [one.running for one in tape.attentions if tape.role(one) == "encoder"]
    assert [running.layer for running in encoder] == [numbers[id(own)] for own in order] == [0, 1, 2, 2, 3, 4, 5]
    names = [str(site) for site in tape.trace().sites]
    assert names == [
        *(f"layer.{n}/encoder/weight" for n in (0, 1, 2)),
        "layer.2/visit.1/encoder/weight",
        *(f"layer.{n}/encoder/weight" for n in (3, 4, 5)),
        *(f"layer.{n}/decoder/weight" for n in (0, 1)),
    ]


def test_a_layer_of_a_list_of_lists_is_selected_and_replaced_by_its_number():
    model = small_model("funnel", block_sizes=[2, 1, 3], num_decoder_layers=2)
    with torch.no_grad(), record(model, 4) as tape, replace(model, "even", select=4) as replaced:
        model(**sentence_of(model))
    assert {one.running.path for one in tape.attentions} == {"encoder.blocks.2.1.attention"}
    assert replaced.modules == ["encoder.blocks.2.1.attention"]
    kept = Selection.of(["4:0,2"]).keep(tape.trace())
    assert "Of layer 4 only heads 0, 2 (from 0) are kept, in this order." in notes_of(kept)
    with pytest.raises(ConfigError, match="layers are 0 to 5, counted from 0"), record(model, 6):
        pass


def test_a_list_of_the_parts_of_a_layer_is_one_layer():
    layers = [nn.ModuleList([Attends(), Skips()]) for _ in range(3)]
    numbers = layer_numbers(Stack(*layers))
    assert {numbers[f"mixers.{n}.{part}"] for n in range(3) for part in (0, 1)} == {0, 1, 2}
    assert [site.layer for site in trace_of(Stack(*layers)).sites] == [0, 1, 2]


def test_layers_of_a_module_of_ones_own_without_attention_are_gaps():
    trace = trace_of(Stack(Skips(), Attends(), Skips(), Skips(), Attends()))
    assert [site.layer for site in trace.sites] == [1, 4]
    assert trace.meta["without_attention"] == "0,2,3"
    assert "3 of 5 layers, counted from 0, have no attention: 0, 2, 3." in notes_of(trace)
    assert Grid.of(trace, head_table(trace)).missing == ["layer 1: no attention", "layers 3–4: no attention", ""]


@pytest.mark.parametrize(
    ("model", "select"),
    [
        (Stack(Attends(), Attends()), None),
        (Stack(Attends(), Skips(), most=1), None),  # it did not run
        (Stack(Attends(), Skips(unseen=True)), None),  # it attends, by no softmax
        (Stack(Attends(), Skips()), 0),  # the other is not selected
        (nn.Sequential(Skips(), Attends(), Skips()), None),  # no list of layers
        (Stack(nn.ModuleList([Attends(), Skips()]), nn.ModuleList([Attends(), Skips()])), None),
    ],
    ids=["all attend", "one does not run", "one attends unseen", "one is not selected", "a sequence", "parts"],
)
def test_what_may_attend_is_no_gap(model, select):
    assert "without_attention" not in trace_of(model, select).meta


def test_a_causal_map_is_hatched_beside_one_that_is_not():
    """As a decoder's are, beside its encoder's and those across."""

    class Causal(Attends):
        def forward(self, states):
            later = torch.ones(7, 7, dtype=torch.bool).triu(1)
            return states + (states @ states.mT).masked_fill(later, -torch.inf).softmax(-1) @ states

    trace = trace_of(Stack(Attends(), Causal()))
    masked = [trace_map(trace, site, 0).masked for site in map_sites(trace)]
    assert not masked[0].any() and masked[1].tolist() == torch.ones(7, 7).triu(1).bool().tolist()
