"""What is no selection, no heads and no example: refused in a line."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from triattn_core.errors import ConfigError, InputError, TraceError
from triattn_core.recording.replace import replace
from triattn_core.recording.tape import record


def blocks():
    """A model of three numbered layers, and its input."""
    layer = nn.TransformerEncoderLayer(8, 2, 9, batch_first=True)
    return nn.TransformerEncoder(layer, 3).eval(), torch.randn(2, 7, 8)


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        (1.5, "select 1.5: expected a layer"),
        (2j, "select 2j: expected a layer"),
        (True, "select True: expected a layer"),
        ([0, 1.5], "select 1.5: expected a layer"),
        ("", "nothing was selected"),
    ],
    ids=str,
)
def test_a_selection_of_another_kind_is_refused_in_a_line(select, reason):
    model, _ = blocks()
    for block in (lambda: record(model, select), lambda: replace(model, "even", select)):
        with pytest.raises(ConfigError, match=reason), block():
            pass


def test_a_block_that_selects_nothing_says_so():
    model, states = blocks()
    with record(model, []) as tape:
        model(states)
    with pytest.raises(TraceError, match="nothing was selected"):
        tape.trace()


def test_heads_and_examples_of_another_kind_are_refused_in_a_line():
    model, _ = blocks()
    for heads in (1, "0", [0.5], [True]):
        with pytest.raises(ConfigError, match="expected a list of numbers"), replace(model, "even", heads=heads):
            pass
    for example in (-1, 0.5, True):
        with pytest.raises(InputError, match="expected the number of a row"), record(model, example=example):
            pass
