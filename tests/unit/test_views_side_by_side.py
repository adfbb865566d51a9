from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from tests.support.figure_arrays import sent_array
from triattn_core.analysis.maps import compare
from triattn_core.errors import TraceError
from triattn_core.views import side_by_side as view
from triattn_core.views.charts import grids
from triattn_core.views.lib.palette import DIFFERENCE
from triattn_core.views.lib.strongest import labels
from triattn_core.views.side_by_side import panels as parts

TEXTS = {"a": "Do cats sleep?", "b": "Can <b>cats</b> nap 🐈?"}
WORDS = {
    "query": [("do", 0, 2), ("cats", 3, 7), ("sleep", 8, 13)],
    "key": [("can", 0, 3), ("<b>", 4, 7), ("cats", 7, 11), ("nap", 16, 19), ("🐈", 20, 21)],
}


def arrays(seed: int, quantity: str = "weight", heads: int = 2) -> xr.DataArray:
    rng = np.random.default_rng(seed)
    values = rng.dirichlet(np.full(5, 0.4), (heads, 3)) if quantity == "weight" else rng.normal(0, 2, (heads, 3, 5))
    coords = {}
    for axis, text in (("query", "a"), ("key", "b")):
        words = WORDS[axis]
        for i, name in enumerate(("token", "start", "end")):
            coords[f"{axis}_{name}"] = (axis, [word[i] for word in words])
        coords[f"{axis}_text"] = (axis, [text] * len(words))
        coords[f"{axis}_special"] = (axis, [0] * len(words))
    return xr.DataArray(values, coords, ("head", "query", "key"), attrs={"quantity": quantity})


def panel(seed: int, mechanism: str, quantity: str = "weight", **more) -> parts.Panel:
    weights = compare.two_way_map(arrays(seed))
    drawn = weights if quantity == "weight" else compare.two_way_map(arrays(seed, quantity))
    numbers = {"entropy": compare.entropy(weights), "rank": compare.rank(weights)}
    prediction = {"label": "paraphrase", "probability": 0.742, "right": True, "score": "Quora test accuracy 85.1 %"}
    name = f"quora-{mechanism}-additive"
    return parts.Panel(name, mechanism, "additive", drawn, weights, **numbers, **(prediction | more))


def gap_of(panels, left: int = -1, right: int = 0) -> parts.Gap:
    values = compare.difference(panels[left].map_values, panels[right].map_values)
    divergence = compare.jensen_shannon(panels[left].weights, panels[right].weights)
    return parts.Gap(left % len(panels), right, values, divergence)


def three(quantity: str = "weight"):
    panels = [panel(seed, kind, quantity) for seed, kind in enumerate(("bi", "cbi", "tri"))]
    return panels, gap_of(panels)


@pytest.mark.parametrize("quantity", ["weight", "relevance"])
def test_payload_holds_the_exact_numbers_and_the_levels_of_one_scale(quantity):
    panels, gap = three(quantity)
    payload = view.figure(panels, gap, TEXTS, (1, 2)).payload
    scale = view.scale_of(panels)
    drawn = "weights" if quantity == "weight" else "values"
    for i, given in enumerate(panels):
        np.testing.assert_array_equal(sent_array(payload, i, drawn), given.map_values.values.astype("<f4"))
        np.testing.assert_array_equal(sent_array(payload, i, "weights"), given.weights.values.astype("<f4"))
        np.testing.assert_array_equal(sent_array(payload, i, "levels"), scale.levels(given.map_values.values))
        np.testing.assert_array_equal(sent_array(payload, i, "ranks"), given.rank)
        np.testing.assert_allclose(sent_array(payload, i, "entropy"), given.entropy, atol=1e-6)
    np.testing.assert_array_equal(sent_array(payload, -1, "values"), gap.values.values.astype("<f4"))
    np.testing.assert_allclose(sent_array(payload, -1, "divergence"), gap.divergence, atol=1e-7)
    kind = payload["scales"]["main"]["kind"]
    assert payload["cell"] == [1, 2] and kind == ("log" if quantity == "weight" else "signed")


def test_an_even_share_is_one_of_the_whole_softmax():
    """Also where it runs over more tokens than the map shows, as Bi-joint's does over the context."""
    panels = [panel(seed, kind) for seed, kind in enumerate(("bi", "bi_joint", "tri"))]
    panels[1].weights.attrs["keys_beside"] = 17
    payload = view.figure(panels, gap_of(panels), TEXTS, (1, 2)).payload
    even = [sent_array(payload, i, "even") for i in range(3)]
    np.testing.assert_allclose(even, [[1 / keys] * 3 for keys in (5, 22, 5)], rtol=1e-6)


def test_labels_are_the_untouched_text():
    panels, gap = three()
    axes = view.figure(panels, gap, TEXTS, (0, 0)).payload["axes"]
    assert axes["query"]["label"] == ["Do", "cats", "sleep"]
    assert axes["key"]["label"] == ["Can", "<b>", "cats", "nap", "🐈"]


def test_the_caption_says_what_was_done_to_the_cube():
    for quantity, words in (("weight", ["1/5", "summed over context"]), ("relevance", ["centred", "log-sum-exp"])):
        caption = " ".join(view.figure(*three(quantity), TEXTS, (0, 0)).payload["scale_lines"])
        assert all(word in caption for word in words)
    panels = three()[0][:2]
    assert "Tri" not in " ".join(view.figure(panels, gap_of(panels), TEXTS, (0, 0)).payload["scale_lines"])


def test_rounding_of_float32_is_no_difference():
    panels, gap = three()
    noise = replace(gap, values=gap.values * 0 + 9e-9)
    payload = view.figure(panels, noise, TEXTS, (0, 0)).payload
    assert not sent_array(payload, -1, "values").any() and payload["scales"]["difference"]["limit"] == 1


@pytest.mark.parametrize("peak", [0.05, 30.0])  # near uniform, and far from it
def test_a_map_of_weights_has_one_scale_everywhere(peak):
    array = compare.two_way_map(arrays(0))
    array = array.copy(data=array.values**peak)
    array = (array / array.sum("key")).assign_attrs(quantity="weight")
    scale = view.scale_of([replace(panel(0, "bi"), map_values=array, weights=array)] * 2)
    domain = grids.weights(array.values, array.sizes["key"], "light").to_dict()["scale"]["domain"]
    assert (domain[0], domain[-1]) == pytest.approx((scale.low, scale.high))
    gap = grids.signed_colour(0.4, "light", DIFFERENCE).to_dict()["scale"]["domain"]
    assert gap[20] == pytest.approx(0.4 * (4 / 16) ** (1 / DIFFERENCE))


def test_a_scale_of_flat_maps_is_not_stretched_over_noise():
    flat = compare.two_way_map(arrays(0)) * 0 + 0.2
    panels = [replace(panel(0, "bi"), map_values=flat.assign_attrs(quantity="weight")) for _ in range(2)]
    scale = view.scale_of(panels)
    assert scale.high == pytest.approx(0.4) and scale.low == pytest.approx(0.1) and scale.uniform == pytest.approx(0.2)


def test_masked_relevance_does_not_break_the_figure():
    panels, _ = three("relevance")
    hole = panels[0].map_values.copy()
    hole[1, 3] = -np.inf
    panels[0] = replace(panels[0], map_values=hole)
    payload = view.figure(panels, gap_of(panels), TEXTS, (0, 0)).payload
    assert all(np.isfinite(scale["limit"]) for scale in payload["scales"].values())
    json.dumps(dict(payload), allow_nan=False)


@pytest.mark.parametrize("count", [1, 5])
def test_two_to_four_maps(count):
    with pytest.raises(TraceError, match="2 to 4"):
        view.figure([panel(0, "bi")] * count, None, TEXTS, (0, 0))


def test_titles_are_as_short_as_they_can_be():
    one, two, three_ = (
        (name, kind, how, "published")
        for name, kind, how in (("x", "bi", "additive"), ("y", "tri", "additive"), ("z", "tri", "scaled_dot"))
    )
    assert parts.titles([one, two]) == ["Bi", "Tri"]
    assert parts.titles([one, two, three_]) == ["Bi additive", "Tri additive", "Tri scaled dot"]
    assert parts.titles([two, ("w", "tri", "additive", "published")]) == ["y", "w"]
    living, published = ("a", "tri", "dot", "living"), ("b", "tri", "additive", "published")
    assert parts.titles([published, living]) == ["Tri, published", "Tri, living"]
    assert parts.titles([published, living, ("c", "coin", "", "")]) == ["Tri, published", "Tri, living", "COIN"]
    assert parts.minus("Tri, living", "Tri, published") == "Tri, living − published"
    assert parts.minus("Tri", "Bi") == "Tri − Bi" and parts.forms("Bi, living", "COIN") == ("Bi, living", "COIN")
    same = ("d", "tri", "dot", "published")
    assert parts.titles([published, same, living]) == [
        "Tri additive, published",
        "Tri dot, published",
        "Tri dot, living",
    ]


def describe_verdict(*rows: tuple[str, bool | None]) -> str:
    kinds = ("bi", "cbi", "tri", "mtsa")
    return "".join(
        parts.verdict([panel(0, kind, label=label, right=right) for kind, (label, right) in zip(kinds, rows)])
    )


@pytest.mark.parametrize(
    "rows, sentence",
    [
        ([("no", True)] * 3, "All three predictno, the gold label"),
        ([("no", False)] * 3, "All three predictno; the gold label differs"),
        ([("no", None)] * 2, "Both predictno"),
        ([("yes", False), ("yes", False), ("no", True)], "Only Tri predictsno, the gold label"),
        ([("yes", False), ("no", True), ("no", True)], "Only Bi predictsyes; the gold label is no"),
        ([("yes", False), ("no", False), ("no", False)], "Only Bi predictsyes; none predicts the gold label"),
        ([("yes", False), ("no", True)], "C-Bi predictsno, the gold label"),
        ([("yes", True), ("no", False), ("no", False), ("yes", True)], "Bi and MTSA predictyes, the gold label"),
        ([("yes", None), ("no", None), ("no", None)], "Only Bi predictsyes"),
    ],
)
def test_verdict(rows, sentence):
    assert describe_verdict(*rows) == sentence


def test_the_first_cell_is_where_they_differ_most_and_a_word():
    panels, gap = three()
    named = {"query_token": ("query", ["dog"] * 3), "key_token": ("key", [*["cat"] * 4, "."])}
    panels = [replace(panels[0], weights=panels[0].weights.assign_coords(named)), *panels[1:]]
    query, key = parts.first_cell(panels, gap)
    assert query == gap.divergence.argmax()
    moved = np.abs(panels[2].weights.values - panels[0].weights.values)[query]
    assert key == np.where([True, True, True, True, False], moved, -1).argmax()
    marks = panels[0].weights.assign_coords(query_token=("query", ["?", "!", "."]), key_token=("key", list("?!.,;")))
    assert parts.first_cell([replace(panels[0], weights=marks), *panels[1:]], gap)[0] == gap.divergence.argmax()


def test_the_first_cell_is_of_content_words():
    panels, gap = three()
    names = ["dog", "dog", "dog"]
    names[gap.divergence.argmax()] = "The"
    words = panels[0].weights.assign_coords(query_token=("query", names))
    query, _ = parts.first_cell([replace(panels[0], weights=words), *panels[1:]], gap)
    assert query == np.argsort(gap.divergence)[-2]


def test_table_has_every_cell():
    panels, gap = three("relevance")
    rows = view.table(panels, gap, TEXTS)
    assert len(rows) == 15 and list(rows.query("query_at == 1 and key_at == 4")["key"]) == ["🐈"]
    row = rows.query("query_at == 2 and key_at == 3").iloc[0]
    assert row["Tri weight"] == panels[2].weights.values[2, 3] and row["C-Bi rank"] == panels[1].rank[2, 3]
    assert row["Bi relevance"] == panels[0].map_values.values[2, 3] and row["Tri − Bi"] == gap.values.values[2, 3]
    assert row["divergence, bits"] == gap.divergence[2]


def test_the_offline_page_stands_alone_and_escapes_tokens():
    panels, gap = three()
    page = view.figure(panels, gap, {**TEXTS, "b": "</script><script>alert(1)</script>"}, (0, 0)).html()
    assert "</script><script>alert" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_the_alt_text_names_who_says_what():
    panels, gap = three()
    words = view.alt(panels, gap, TEXTS)
    assert "3 query by 5 key" in words and "Tri says paraphrase with probability 0.742" in words
    most = labels(panels[0].map_values, TEXTS, "query")[gap.divergence.argmax()]
    assert f"differ most for query “{most}”" in words
    equal = view.alt(panels, replace(gap, divergence=np.zeros_like(gap.divergence)), TEXTS)
    assert equal.endswith("are equal.") and "differ most" not in equal


def test_where_a_fold_leaves_one_key_there_is_nothing_to_compare():
    panels, _ = three()
    panels = [
        replace(
            side,
            map_values=side.map_values.isel(key=[0]),
            weights=side.weights.isel(key=[0]) * 0 + 1,
            rank=side.rank[:, :1],
        )
        for side in panels
    ]
    gap = gap_of(panels)
    words = view.alt(panels, gap, TEXTS)
    assert "As this is read there is one key: nothing to compare." in words and "differ" not in words
    assert "nothing to compare" in view.figure(panels, gap, TEXTS, (0, 0)).html().split("</title>")[1]
