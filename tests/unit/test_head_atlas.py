"""The head atlas against loops: profiles, overlaps, examples, words, heads ablated."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

from tests.oracles import head_atlas as oracle
from tests.support import tiny
from tests.support.mtsa_traces import make_trace
from triattn_core.analysis.intervention import head_ablation
from triattn_core.analysis.maps import head_atlas
from triattn_core.analysis.maps.head_clusters import head_distances
from triattn_core.analysis.maps.head_profiles import group_of, profile_table
from triattn_core.analysis.maps.mtsa_tensor import head_tensor
from triattn_core.analysis.maps.word_weights import find_words, list_places, split_words, weigh_words
from triattn_core.analysis.measures import measure_rows
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import load
from triattn_core.errors import InputError
from triattn_core.inference.explain import explain
from triattn_core.trace.from_array import trace_of
from triattn_core.trace.site import Site
from triattn_core.views.charts import head_atlas as view

LAYERS, HEADS, N, I, J = 2, 3, 5, 4, 7
DRAW = np.random.default_rng(23)
AXES = ("layer", "head", "query", "key", "context")
QUERY, KEY = ["a", "cat", "is", "not", "red"], ["it", "never", "was", "red"]
CONTEXT = ["not", "a", "big", "blue", "cat", "never", "."]


def cubes() -> np.ndarray:
    values = DRAW.random((LAYERS, HEADS, N, I, J)) ** 4
    return values / values.sum((-1, -2), keepdims=True)


def table_of(*rows: np.ndarray) -> pd.DataFrame:
    traces = [
        trace_of(row, axes=AXES, tokens={"query": QUERY, "key": KEY, "context": CONTEXT}, quantity="weight")
        for row in rows
    ]
    return pd.concat([profile_table(trace).assign(row=i, id=f"r{i}") for i, trace in enumerate(traces, 1)])


def test_profiles_and_overlaps_are_those_of_the_loops():
    given = cubes()
    given[1, 2, 3] *= 0.5  # a row counts as shares of its own sum
    table = table_of(given)
    flat = given.reshape(-1, N, I, J)
    assert len(table) == LAYERS * HEADS and table["group"].nunique() == 1
    for place, (_, row) in enumerate(table.iterrows()):
        cube = flat[place]
        np.testing.assert_allclose(row["to_key"], oracle.to_key(cube), atol=1e-5)
        np.testing.assert_allclose(row["to_context"], oracle.to_context(cube), atol=1e-5)
        np.testing.assert_allclose(row["from_query"], oracle.from_query(cube), atol=1e-5)
        np.testing.assert_allclose(row["overlaps"], [oracle.overlap(cube, other) for other in flat], atol=1e-5)
        assert row["tokens of context"] == CONTEXT and row["by_feature"] is None


def test_heads_that_are_alike_stand_together():
    given = cubes()
    given[1, 1], given[0, 2] = given[0, 0], given[0, 0]  # three heads with one map
    likeness = head_distances(table_of(given, given), group_of(Site.parse(_site(table_of(given)))))
    places = [
        i for i, (layer, head) in enumerate(np.ndindex(LAYERS, HEADS)) if (layer, head) in ((0, 0), (0, 2), (1, 1))
    ]
    assert likeness.distances[np.ix_(places, places)] == pytest.approx(0, abs=1e-3)
    at = sorted(list(likeness.order).index(place) for place in places)
    assert at[2] - at[0] == 2 and sorted(likeness.order) == list(range(LAYERS * HEADS))
    assert set(likeness.nearest(places[0], 2)) == set(places[1:])
    overlap, other = oracle.overlap(given[0, 0], given[0, 1]), likeness.distances[0, 1]
    assert other == pytest.approx(np.sqrt(1 - overlap), abs=1e-5)


def _site(table: pd.DataFrame) -> str:
    return table["site"].iloc[0]


def test_words_are_found_with_their_pieces_and_not_inside_others():
    words = split_words("Not, never， 没有,not")
    assert words == ("not", "never", "没有")
    tokens, glued = ["NOT", "a", "k", "not", "no", "t", "没", "有", "nothing", "not", "ed"], [False] * 11
    glued[3] = glued[7] = glued[10] = True  # "knot", "没有", "noted"; "no t" are two words
    assert find_words(tokens, glued, words).nonzero()[0].tolist() == [0, 6, 7]
    glued[5] = True
    assert find_words(tokens, glued, words).nonzero()[0].tolist() == [0, 4, 5, 6, 7]
    with pytest.raises(InputError, match="at least one word"):
        split_words(" , ")


def test_weights_of_words_are_those_of_the_loop():
    given = [cubes(), cubes()]
    table = table_of(*given)
    bands = weigh_words(table, ("not", "never"), draws=4000)
    for direction, profile, places in (
        ("to_key", oracle.to_key, [1]),
        ("to_context", oracle.to_context, [0, 5]),
        ("from_query", oracle.from_query, [3]),
    ):
        (band,) = bands[(bands["site"] == _site(table)) & (bands["head"] == 2) & (bands["way"] == direction)].to_dict(
            "records"
        )
        rows = [(profile(cube[0, 2]), places) for cube in given]
        assert band["mean"] == pytest.approx(oracle.mean_over_places(rows), abs=1e-5)
        assert band["even"] == pytest.approx(oracle.mean_over_all_draws(rows), rel=0.03)
        assert band["places"] == 2 * len(places) and band["rows"] == 2 and band["low"] <= band["even"] <= band["high"]
    behind = list_places(table, ("not", "never"), _site(table), 2, "to_context")
    assert sorted(zip(behind["row"], behind["word"], behind["place"])) == [
        (1, "never", 6),
        (1, "not", 1),
        (2, "never", 6),
        (2, "not", 1),
    ]
    assert behind["value"].mean() == pytest.approx(
        bands[(bands["site"] == _site(table)) & (bands["head"] == 2) & (bands["way"] == "to_context")]["mean"].iloc[0]
    )
    with pytest.raises(InputError, match="None of these words"):
        weigh_words(table, ("purple",))


def test_a_head_that_looks_at_the_word_is_beyond_the_band_and_one_that_does_not_is_within():
    values = np.full((1, 2, N, I, J), 1.0)
    values[0, 0, :, 1] *= 50  # the first head, at "never"
    values /= values.sum((-1, -2), keepdims=True)
    bands = weigh_words(table_of(*[values] * 8), ("never",))
    first, second = (bands[(bands["way"] == "to_key") & (bands["head"] == head)].iloc[0] for head in (0, 1))
    assert first["mean"] > first["high"] and first["p"] < 0.01
    assert second["mean"] == pytest.approx(second["even"]) and second["p"] == 1


def test_by_feature_is_that_of_the_tensor():
    trace = make_trace()
    table = profile_table(trace)
    row = table.iloc[1]
    layer = Site.parse(row["site"].removesuffix("/token2token/weight"))
    tensor = head_tensor(trace, layer, int(row["head"])).site(f"{layer}/tensor/weight")
    np.testing.assert_allclose(
        row["by_feature"], oracle.by_feature(tensor.transpose("query", "key", "feature").values), atol=1e-6
    )
    word = row["tokens of key"][1]
    bands = weigh_words(table.assign(row=1, id="r"), (word.casefold(),))
    of = bands[(bands["way"] == "by_feature") & (bands["site"] == row["site"]) & (bands["head"] == row["head"])]
    marked = find_words(row["tokens of key"], row["glued of key"], (word.casefold(),))
    np.testing.assert_allclose(of["mean"], row["by_feature"][marked].mean(0), atol=1e-6)
    assert of["feature"].tolist() == list(range(tensor.sizes["feature"]))


def test_examples_are_the_strongest_and_those_at_the_deciles():
    table = pd.DataFrame({"site": "s", "head": 0, "row": range(1, 102), "id": "", "entropy": np.arange(101.0)})
    examples = head_atlas.pick_examples(table, "s", 0, "entropy")
    assert examples["rank"].tolist() == [
        "strongest 1",
        "strongest 2",
        "strongest 3",
        *(f"{d} %" for d in range(90, 0, -10)),
    ]
    assert examples["value"].tolist() == [100, 99, 98, 90, 80, 70, 60, 50, 40, 30, 20, 10]
    assert head_atlas.pick_examples(table.assign(entropy=np.nan), "s", 0, "entropy").empty
    assert head_atlas.pick_examples(table[:2], "s", 0, "entropy")["value"].tolist() == [1, 0]


@pytest.fixture
def checkpoint_folder(tmp_path, monkeypatch):
    tiny.make_world(tmp_path, ())
    for mechanism in ("bi", "tri"):
        tiny.make_checkpoint(tmp_path, f"pairs-{mechanism}", mechanism, seed=3)
    monkeypatch.setenv("TRIATTN_CHECKPOINTS", str(tmp_path / "checkpoints"))
    return tmp_path


@pytest.mark.parametrize("mechanism", ["bi", "tri"])
def test_an_ablated_head_is_one_whose_output_weights_are_zero(checkpoint_folder, mechanism):
    bundle = load(f"pairs-{mechanism}")
    examples = [bundle.task.Example("who is red", "who is blue", 1), bundle.task.Example("play a film", "watch", 0)]
    rows = list(enumerate(examples, 1))
    site, head = "layer.1/b_over_a/weight", 1
    changes = head_ablation.measure_rows(bundle, rows, [(site, 0), (site, head)])
    for line, example in rows:
        before = explain(bundle, example)[0].probabilities
        with replacing(lambda at, weights, keeps: _emptied(weights, head) if str(at) == site else weights):
            after = explain(bundle, example)[0].probabilities
        change = _odds(after, example.label) - _odds(before, example.label)
        ablation = changes[(changes["row"] == line) & (changes["head"] == head)].iloc[0]
        assert ablation["change"] == pytest.approx(change, abs=1e-5) and abs(change) > 1e-5
        assert ablation["right"] == (np.argmax(after) == example.label)
        assert ablation["own"] == (np.argmax(before) == example.label)


def _odds(probabilities, label: int) -> float:
    return float(np.log(probabilities[label]) - np.log1p(-probabilities[label]))


def _emptied(weights: torch.Tensor, head: int) -> torch.Tensor:
    """No weights, no values: what the head passes on is zero."""
    weights = weights.clone()
    weights[:, head] = 0
    return weights


def test_heads_that_cost_most_come_first():
    own, without = [True] * 8 + [False] * 2, {0: [True] * 8 + [False] * 2, 1: [False] * 8 + [True, False]}
    rows = [
        {"site": "s", "head": head, "own": a, "right": b, "change": -float(head), "row": i}
        for head, right in without.items()
        for i, (a, b) in enumerate(zip(own, right))
    ]
    summary = head_ablation.summarize(pd.DataFrame(rows))
    assert summary["head"].tolist() == [1, 0] and summary["points"].tolist() == [70, 0]
    first = summary.iloc[0]
    assert (first["lost"], first["won"], first["rows"]) == (8, 1, 10)
    assert first["p"] == pytest.approx(2 * 2 * 10 / 2**9)  # two-sided binomial of 1 in 9, twice for two heads


def test_what_cannot_be_ablated_and_rows_without_a_label_are_said(checkpoint_folder):
    bundle = load("pairs-bi")
    example = bundle.task.Example("who", "what", None)
    over = partial(head_ablation.measure_rows, bundle, heads=[("layer.0/a_over_b/weight", 0)])
    (part,) = measure_rows(over, [(4, example)])
    assert part.table.empty and "line 4: no label" in part.aside[0]
    with pytest.raises(InputError, match="cannot be ablated"):
        head_ablation.measure_rows(bundle, [(1, bundle.task.Example("who", "what", 1))], [("pool/weight", 0)])


def test_the_map_of_heads_is_in_order_and_sends_the_head_of_a_row():
    given = cubes()
    alike = head_distances(table_of(given), group_of(Site.parse(_site(table_of(given)))))
    names = [f"head {i + 1}" for i in range(len(alike.heads))]
    spec = view.likeness(alike.distances, alike.order, names, 2).to_dict()
    cells = list(spec["datasets"].values())
    rows = next(cell for cell in cells if len(cell) == len(names) ** 2)
    assert [one["head"] for one in rows if one["across"] == 0] == alike.order.tolist()
    for row in rows:
        at = alike.order[row["down"]], alike.order[row["across"]]
        assert row["distance"] == pytest.approx(alike.distances[at]) and row["one"] == names[at[0]]
    (framed,) = next(cell for cell in cells if len(cell) == 1)
    assert framed["head"] == 2 and framed["one"] == framed["other"] == "head 3"
    sentence = view.describe_likeness(alike.distances, names)
    off = alike.distances + 2 * np.eye(len(names))
    assert f"{off.min():.2f} apart" in sentence and "Most distinct: " in sentence
    assert "none to compare" in view.describe_likeness(np.zeros((1, 1)), names[:1])


def test_the_bands_of_words_are_drawn_and_said():
    columns = ("name", "mean", "even", "low", "high", "p", "places", "rows")
    rows = pd.DataFrame(
        [("head 1", 0.5, 0.2, 0.1, 0.3, 0.01, 6, 4), ("head 2", 0.2, 0.2, 0.1, 0.3, 1, 6, 4)], columns=columns
    )
    spec = view.bands(rows, "weight", "bits").to_dict()
    (drawn,) = spec["datasets"].values()
    assert [one["beyond"] for one in drawn] == [True, False] and "weight, bits" in str(spec)
    sentence = view.describe_bands(rows, ["not"], "heads")
    assert "6 places in 4 rows. Beyond the band: 1 of 2 heads, where chance gives 0.1" in sentence
    assert "Farthest: head 1, 0.5, 2.50 times the mean of other places (p 0.01)" in sentence
