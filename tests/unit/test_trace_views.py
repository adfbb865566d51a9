"""Views of a trace alone: all heads, one map, two side by side; figures carry the numbers of the trace."""

from __future__ import annotations

import json
from zipfile import ZipFile

import numpy as np
import pytest

import triattn_core
from tests.support.figure_arrays import sent_array
from triattn_core.analysis.maps.head_measures import head_table, rollout
from triattn_core.analysis.maps.trace_context import context_table
from triattn_core.errors import TraceError
from triattn_core.scenes.trace_pair import TraceSide, build_pair
from triattn_core.trace.from_array import trace_of
from triattn_core.trace.site import Site

LAYERS, HEADS, N = 2, 3, 5
WORDS = ["[CLS]", "a", "cat", "sat", "[SEP]"]
DRAW = np.random.default_rng(17)
VALUES = DRAW.dirichlet(np.ones(N), (LAYERS, HEADS, N)).astype(np.float32)
AXES = ("layer", "head", "query", "key")
TRACE = trace_of(VALUES, axes=AXES, tokens=WORDS, source="mine.npy")
FIRST, ONLY = Site(layer=0, role="attention"), Site(role="attention")


def titles(payload) -> list[str]:
    """What a figure calls its axes."""
    return [axis["title"] for axis in payload["axes"].values()]


def test_all_heads_at_once():
    view = triattn_core.draw("heads", TRACE, cell=(1, 2))
    payload, table = view.figure.payload, head_table(TRACE)
    cells = payload["panels"][0]["cells"]
    assert payload["axes"]["layer"]["label"] == ["1", "2"] and payload["coordinates"] == [["layer", 2], ["head", HEADS]]
    assert payload["cell"] == [1, 2] and cells["down"] == cells["across"] == [N, N] and not payload["notes"]
    levels = [sent_array(payload, 0, name).reshape(HEADS, N, N) for name in cells["levels"]]
    assert np.argmax(levels[1][2]) == np.argmax(VALUES[1, 2])
    for name in ("entropy", "distance", "special", "query_information"):
        np.testing.assert_allclose(sent_array(payload, 0, name)[1], table[table["layer"] == 1][name], rtol=1e-6)
    assert "context_information" not in payload["panels"][0]["arrays"]
    best = table.loc[table["query_information"].idxmax()]
    for name in ("layer", "head"):  # counted from 1, as the figure and --set do
        assert view.table[name].tolist() == (table[name] + 1).tolist()
    assert f"most in layer {best['layer'] + 1}, head {best['head'] + 1}, " in view.figure.alt
    with pytest.raises(triattn_core.errors.InputError, match="no cell 1.3"):
        triattn_core.draw("heads", TRACE, cell=(1, 3))


def test_a_long_text_has_blocks_as_thumbnails():
    given = DRAW.dirichlet(np.ones(90), 50)
    payload = triattn_core.draw("heads", trace_of(given)).figure.payload
    cells = payload["panels"][0]["cells"]
    assert cells["down"] == cells["across"] == [48] and "largest number of each block" in payload["notes"]


def test_one_map():
    view = triattn_core.draw("map", TRACE, site="layer.1/attention", head=3)
    payload = view.figure.payload
    np.testing.assert_allclose(sent_array(payload, 0, "weights"), VALUES[1, 2], rtol=1e-6)
    assert payload["panels"][0]["title"] == "Layer 2, head 3" and titles(payload) == ["query", "key"]
    np.testing.assert_allclose(view.table["weight"], VALUES[1, 2].ravel(), rtol=1e-6)
    assert b"<svg" in view.picture().svg()
    first = triattn_core.draw("map", TRACE)
    assert first.settings.head == 1 and first.figure.payload["caption"] == "mine.npy, attention, layer 1, head 1"
    np.testing.assert_allclose(first.table["weight"], VALUES[0, 0].ravel(), rtol=1e-6)
    second = triattn_core.draw("map", TRACE, layer=2)
    np.testing.assert_allclose(second.table["weight"], VALUES[1, 0].ravel(), rtol=1e-6)
    mean = triattn_core.draw("map", TRACE, site="layer.0/attention", head="mean").figure.payload
    np.testing.assert_allclose(sent_array(mean, 0, "weights"), VALUES[0].mean(0), rtol=1e-6)
    rolled = triattn_core.draw("map", TRACE, site="rollout").figure.payload
    np.testing.assert_allclose(sent_array(rolled, 0, "weights"), rollout(TRACE).values, rtol=1e-6)
    for settings, reason in (
        ({"head": 4}, "there is no head 4"),
        ({"layer": 3}, "there is no layer 3 in this trace: it has 1, 2"),
        ({"site": "layer.5/attention"}, "no site"),
        ({"quantity": "relevance"}, "no relevance"),
    ):
        with pytest.raises(TraceError, match=reason):
            triattn_core.draw("map", TRACE, **settings)


def test_more_keys_than_queries_and_masked_scores():
    scores = DRAW.normal(size=(3, 4))
    scores[1, 2:] = -np.inf
    view = triattn_core.draw("map", trace_of(scores, quantity="relevance"), quantity="relevance")
    masked = sent_array(view.figure.payload, 0, "masked")
    np.testing.assert_array_equal(masked, np.isneginf(scores))
    np.testing.assert_allclose(sent_array(view.figure.payload, 0, "scores")[0], scores[0], rtol=1e-6)


def test_two_heads_side_by_side():
    sides = [TraceSide(f"head {head + 1}", TRACE, FIRST, head) for head in (0, 1)]
    pair = build_pair(*sides)
    payload = pair.screen.payload
    np.testing.assert_allclose(sent_array(payload, -1, "values"), VALUES[0, 1] - VALUES[0, 0], atol=1e-6)
    assert payload["panels"][0]["answer"]["share"] == "" and "says" not in pair.screen.alt
    other = trace_of(VALUES[0, 0], tokens={"query": list("abcde"), "key": list("abcde")})
    with pytest.raises(TraceError, match="head 1 and other are not of the same tokens, nor of the same texts"):
        build_pair(sides[0], TraceSide("other", other, ONLY))


def test_two_tokenizers_meet_in_the_parts_that_they_share():
    pieces = trace_of(DRAW.dirichlet(np.ones(4), 4), tokens=["un", "##happy", "cat", "s"])
    words = trace_of(DRAW.dirichlet(np.ones(3), 3), tokens=["unhappy", "cat", "s"])
    pair = build_pair(TraceSide("pieces", pieces, ONLY), TraceSide("words", words, ONLY))
    assert pair.notes and pair.panels[0].weights.sizes == {"query": 3, "key": 3}
    left = pieces.site("attention/weight").values.astype(float)
    expected = np.concatenate([left[:, :2].sum(1, keepdims=True), left[:, 2:]], 1)
    expected = np.concatenate([expected[:2].mean(0, keepdims=True), expected[2:]])
    np.testing.assert_allclose(pair.panels[0].weights.values, expected, atol=1e-6)


CUBE = DRAW.dirichlet(np.ones(12), (2, 4)).reshape(2, 4, 3, 4).astype(np.float32)
LABELS = {"query": "residue i", "key": "residue j", "context": "residue k"}


def test_a_cube_opens_on_the_first_head_and_says_so():
    trace = trace_of(CUBE, source="mine.npy")
    assert triattn_core.draw("cube", trace).figure.title == "Attention cube: mine.npy"
    opened, mean = triattn_core.draw("cube", trace), triattn_core.draw("cube", trace, head="mean")
    assert opened.settings.head == 1 and opened.figure.payload["caption"] == "mine.npy, attention, head 1, weight"
    assert mean.figure.payload["caption"] == "mine.npy, attention, mean of heads, weight"
    for drawn, expected in ((opened, CUBE[0]), (mean, CUBE.mean(0))):
        table = drawn.table
        values = expected[table["query_at"], table["key_at"], table["context_at"]]
        np.testing.assert_allclose(table["weight"], values, rtol=1e-5)
    alone = triattn_core.draw("cube", trace_of(CUBE[0], tokens={"context": list("abcd")}))
    assert alone.settings.head is None and "head" not in alone.figure.payload["caption"]


def test_your_names_of_axes_stand_where_ours_would():
    trace = trace_of(CUBE, names=LABELS)
    cube, map_view = triattn_core.draw("cube", trace), triattn_core.draw("map", trace)
    assert list(cube.table)[:6] == [*LABELS.values(), *(f"{label}_at" for label in LABELS.values())]
    assert list(map_view.table)[1:5] == ["residue i", "residue i_at", "residue j", "residue j_at"]
    payload, told = cube.figure.payload, cube.figure.payload["inspector"]
    assert {axis: one["title"] for axis, one in payload["axes"].items()} == LABELS
    assert "4 residue i × 3 residue j × 4 residue k" in payload["alt"]
    assert "over residue j × residue k, for each residue i" in told["check"]
    assert b"residue i" in cube.figure.svg() and told["says"]["query"].startswith("Residue i is the query axis. ")
    assert titles(map_view.figure.payload) == ["residue i", "residue j"]
    assert map_view.figure.payload["panels"][0]["note"] == "summed over residue k"
    sides = [TraceSide(f"head {head + 1}", trace, ONLY, head) for head in (0, 1)]
    pair = build_pair(*sides)
    assert pair.screen.payload["readout"]["columns"][-1][0] == "strongest residue j of this residue i"
    assert pair.screen.payload["panels"][0]["note"] == "residue i × residue j, summed over residue k"
    assert "4 residue i by 3 residue j positions" in pair.screen.alt and "residue j_at" in pair.table
    other = build_pair(sides[0], TraceSide("plain", trace_of(CUBE), ONLY, 1))
    assert other.screen.payload["readout"]["columns"][-1][0] == "strongest key of this query"


def test_a_name_that_is_taken_renames_no_column():
    for names in ({"query": "token", "key": "token"}, {"query": "weight"}, {"key": "query"}):
        table = triattn_core.draw("cube", trace_of(CUBE, names=names)).table
        assert list(table)[:3] == ["query", "key", "context"], names


def test_a_model_says_a_label_and_a_head_says_none():
    sides = [TraceSide(f"layer 1, head {h + 1}", TRACE, FIRST, h, "duplicate", 0.924) for h in (0, 1)]
    alt = build_pair(*sides).screen.alt
    assert alt.count("says duplicate") == 1 and " mine.npy says duplicate with probability 0.924." in alt


@pytest.mark.parametrize("view", ["cube", "map"])
def test_a_view_of_a_trace_is_saved_as_its_case_card(view, tmp_path):
    drawn = triattn_core.draw(view, trace_of(CUBE, source="mine.npy"), head=2)
    drawn.save(tmp_path / "card.zip")
    with ZipFile(tmp_path / "card.zip") as card:
        names, about = set(card.namelist()), json.loads(card.read("manifest.json"))
    assert {f"{view}.html", f"{view}.svg", f"{view}.png", "data.csv", "trace.nc"} <= names
    assert about["trace"] == "mine.npy" and about["settings"]["head"] == 2
    with pytest.raises(triattn_core.errors.DataError):
        drawn.save(tmp_path / "none" / "card.zip")


def test_what_an_axis_folds_to_is_a_setting_of_the_view(tmp_path):
    """As on the page, so after --set: two tokens of a phrase are one row, their mean, and one column, their sum."""
    square = DRAW.dirichlet(np.ones(4), 4)
    trace = trace_of(square, tokens=["a", "small", "cat", "sat"])
    whole = triattn_core.draw("map", trace)
    drawn = triattn_core.draw("map", trace, tokens="phrases", phrases=("small cat",))
    summed = np.stack([square[:, 0], square[:, 1] + square[:, 2], square[:, 3]], 1)
    expected = np.stack([summed[0], summed[1:3].mean(0), summed[3]])
    np.testing.assert_allclose(drawn.table["weight"], expected.ravel(), rtol=1e-6)
    assert len(whole.table) == 16 and drawn.trace is trace  # what is saved with it is whole
    assert drawn.settings.phrases == ("small cat",)
    drawn.save(tmp_path / "card.zip")
    with ZipFile(tmp_path / "card.zip") as card:
        about = json.loads(card.read("manifest.json"))
    assert "tokens=phrases" in about["command"] and about["settings"]["tokens"] == "phrases"


def test_a_cell_of_two_sides_is_chosen_or_is_where_they_differ_most():
    sides = [TraceSide(f"head {head + 1}", TRACE, FIRST, head) for head in (0, 1)]
    gap = np.abs(VALUES[0, 1] - VALUES[0, 0])[2:-1, 2:-1]  # special tokens and "a" are not looked at first
    assert build_pair(*sides).settings.cell == tuple(i + 2 for i in np.unravel_index(gap.argmax(), gap.shape))
    chosen = build_pair(*sides, (2, 4))
    assert chosen.settings.cell == (2, 4) and tuple(chosen.figures["side by side"].payload["cell"])[:2] == (2, 4)
    with pytest.raises(triattn_core.errors.InputError, match="no cell 9.9"):
        build_pair(*sides, (9, 9))


def test_what_context_adds_is_a_view_with_the_shares_of_each_head(tmp_path):
    trace = trace_of(CUBE, source="mine.npy")
    drawn, shares = triattn_core.draw("context", trace), context_table(trace)
    np.testing.assert_allclose(drawn.table["redirected"], shares["redirected"])
    most = int(shares["redirected"].argmax()) + 1
    assert (drawn.settings.layer, drawn.settings.head) == (1, most) and drawn.table["head"].tolist() == [1, 2]
    assert f"{shares['redirected'].max():.1%}".replace("%", " %") in drawn.figure.alt
    assert triattn_core.draw("context", trace, head=3 - most).figure.alt != drawn.figure.alt
    drawn.save(tmp_path / "card.zip")
    with ZipFile(tmp_path / "card.zip") as card:
        assert {"context.svg", "context.html", "trace.nc"} <= set(card.namelist())
    with pytest.raises(triattn_core.errors.ConfigError, match="no layer 1, head 3"):
        triattn_core.draw("context", trace, head=3)
    with pytest.raises(TraceError, match="no weights over query, key and context"):
        triattn_core.draw("context", TRACE)
