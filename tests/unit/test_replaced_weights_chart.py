"""How far the attention of each head moves: a map of few heads has room for its labels, and layers count from 1."""

from __future__ import annotations

import pandas as pd

from triattn_core.views.charts.replaced_weights import moved


def drawn(sites):
    heads = [(site, layer, head) for site, layer in sites for head in (1, 2)]
    table = pd.DataFrame(heads, columns=["site", "layer", "head"]).assign(bits=0.2, changed=True)
    chart = moved(table).to_dict()
    (rows,) = chart["datasets"].values()
    return chart, list(dict.fromkeys(row["row"] for row in rows))


def test_two_by_two_heads_have_room_beside_their_labels():
    chart, rows = drawn([("layer.0/attention/weight", 1), ("layer.1/attention/weight", 2)])
    assert rows == ["layer 1", "layer 2"]
    assert chart["width"] >= 2 * 30 + 110 and chart["height"] >= 120


def test_several_attentions_of_a_layer_are_named_from_1():
    _, rows = drawn([("layer.0/cross/weight", 1), ("layer.0/decoder/weight", 1), ("layer.1/cross/weight", 2)])
    assert rows == ["layer 1, cross", "layer 1, decoder", "layer 2, cross"]
