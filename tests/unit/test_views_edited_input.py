"""Side by side of two inputs: what only one has, gaps and signs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.support.figure_arrays import sent_array
from tests.unit.test_views_side_by_side import TEXTS, arrays, three
from triattn_core.analysis.maps import compare, token_alignment
from triattn_core.scenes import side_by_side_panels as scene
from triattn_core.views import side_by_side as view
from triattn_core.views.side_by_side import panels as parts
from triattn_core.views.side_by_side.described import chance


def test_a_difference_no_greater_than_between_seeds_is_marked():
    panels, gap = three()
    noise = np.full((3, 5), 0.0)
    noise[1, 2], noise[2, 0] = abs(gap.values.values[1, 2]), abs(gap.values.values[2, 0]) * 0.999
    noisy = replace(gap, noise=noise, noisy="grey: seeds differ as much (3 + 1)")
    payload = view.figure(panels, noisy, TEXTS, (0, 0)).payload
    expected = np.zeros((3, 5), np.uint8)
    expected[1, 2] = 1
    np.testing.assert_array_equal(sent_array(payload, -1, "within"), expected)
    assert payload["panels"][-1]["lines"][-1] == "grey: seeds differ as much (3 + 1)"
    table = view.table(panels, noisy, TEXTS)
    np.testing.assert_allclose(table["between seeds"].to_numpy().reshape(3, 5), noise)
    plain = view.figure(panels, gap, TEXTS, (0, 0)).payload["panels"][-1]
    assert "within" not in plain["arrays"] and len(plain["lines"]) == 2


def test_the_strongest_keys_that_are_the_same_are_told_with_chance():
    panels, gap = three()
    shared = compare.overlap(panels[2].weights, panels[0].weights, 2)
    difference = replace(gap, overlap=shared, top=2)
    payload = view.figure(panels, difference, TEXTS, (0, 0)).payload
    assert sent_array(payload, -1, "overlap").tolist() == shared.tolist()
    assert payload["panels"][-1]["marks"][1]["counted"] == "top 2"
    said = payload["readout"]["sentences"][-1]["cases"][-1]["text"]
    assert "Of their 2 strongest keys {overlap:count} are the same" in said
    assert chance(difference, panels) == pytest.approx(4 / 5) and "(by chance {=0.8000})" in said
    assert view.table(panels, difference, TEXTS)["same of top 2"].tolist() == np.repeat(shared, 5).tolist()


def edited() -> tuple[list[parts.Panel], parts.Gap, dict[str, str]]:
    """Two inputs: the second has no "nap", and another word at the end."""
    first = arrays(0).mean("head").assign_attrs(quantity="weight")
    after = first.isel(key=[0, 1, 2, 4]).assign_coords(key_token=("key", ["can", "<b>", "cats", "doze"]))
    after = (after / after.sum("key")).assign_attrs(quantity="weight")
    after = after.assign_coords(key_start=("key", [0, 4, 7, 16]), key_end=("key", [3, 7, 11, 20]))
    panels = []
    for name, weights in zip(("Before", "Edited"), token_alignment.align_maps(first, after)):
        numbers = (compare.entropy(weights), compare.rank(weights))
        panels.append(parts.Panel(name, "tri", "additive", weights, weights, *numbers, "paraphrase", 0.7, None))
    texts = TEXTS | {"edited b": "Can <b>cats</b> doze?"}
    values = compare.difference(panels[1].map_values, panels[0].map_values)
    bits = compare.jensen_shannon(panels[1].weights, panels[0].weights)
    return panels, parts.Gap(1, 0, values, bits, compare.overlap(panels[1].weights, panels[0].weights)), texts


def test_where_all_keys_are_among_the_strongest_nothing_is_said_of_it():
    panels, _ = three()
    few = [
        replace(
            panel,
            weights=panel.weights[:, : compare.TOP],
            map_values=panel.map_values[:, : compare.TOP],
            rank=panel.rank[:, : compare.TOP],
        )
        for panel in panels
    ]
    assert scene.difference(panels, 2, 0).overlap is not None
    difference = scene.difference(few, 2, 0)
    drawn = view.figure(few, difference, TEXTS, (0, 0)).payload
    assert difference.overlap is None and "overlap" not in drawn["panels"][-1]["arrays"]


def test_maps_of_two_inputs_have_gaps_and_signs():
    panels, gap, texts = edited()
    payload = view.figure(panels, gap, texts, (0, 0), distinguished_by="input").payload
    json.dumps(dict(payload), allow_nan=False)
    assert payload["axes"]["key"]["label"] == ["Can", "<b>", "cats", "−nap", "−🐈", "+doze"]
    assert payload["axes"]["key"]["also"] == [[0, 3], [4, 7], [7, 11], None, None, None]
    assert payload["axes"]["query"]["label"] == ["Do", "cats", "sleep"]
    before, after = (sent_array(payload, i, "weights") for i in range(2))
    assert np.isnan(before[:, 5]).all() and np.isnan(after[:, 3:5]).all()
    assert np.isfinite(before[:, :5]).all() and np.isfinite(after[:, [0, 1, 2, 5]]).all()
    values = sent_array(payload, -1, "values")
    assert np.isnan(values[:, 3:]).all() and np.isfinite(values[:, :3]).all()
    assert chance(gap, panels) == pytest.approx(9 * 3 / (5 * 4))
    assert payload["names"]["edited b"] == {"short": "B′", "long": "edited sentence B"}
    assert parts.first_cell(panels, gap)[1] < 6 and payload["readout"]["corner"] == "input"


def test_a_query_of_one_input_alone_has_no_row_to_compare():
    panels, gap, texts = edited()
    turned = [
        replace(panel, weights=w, map_values=w, entropy=compare.entropy(w), rank=compare.rank(w))
        for panel in panels
        for w in [panel.weights.rename({n: n.replace("key", "x") for n in panel.weights.coords} | {"key": "x"})]
        for w in [w.rename({n: n.replace("query", "key") for n in w.coords if "query" in n} | {"query": "key"})]
        for w in [w.rename({n: n.replace("x", "query", 1) for n in w.coords if n.startswith("x_")} | {"x": "query"})]
        for w in [w.transpose("query", "key")]
    ]
    bits = compare.jensen_shannon(turned[1].weights, turned[0].weights)
    values = compare.difference(turned[1].map_values, turned[0].map_values)
    payload = view.figure(turned, parts.Gap(1, 0, values, bits), texts, (0, 0)).payload
    assert np.isnan(sent_array(payload, -1, "divergence")).tolist() == [False] * 3 + [True] * 3
    assert np.isnan(sent_array(payload, 0, "entropy")).tolist() == [False] * 5 + [True]
    assert parts.first_cell(turned, parts.Gap(1, 0, values, bits))[0] < 3
