"""The description of figures: each keeps the schema, names only what it has, and is drawn on paper too."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from tests.support import dendrogram, mtsa_traces, similarity_traces
from tests.support.figure_arrays import sent_array
from tests.unit.test_map_marks import draw_sides
from tests.unit.test_views_side_by_side import TEXTS, three
from triattn_core.analysis.maps.head_measures import head_table
from triattn_core.scenes.printing.from_canvas import sheet_from_canvas
from triattn_core.scenes.printing.paper import label_note, paper_figure
from triattn_core.scenes.printing.settings import COLUMN, PrintSettings
from triattn_core.scenes.printing.sheet import Sheet
from triattn_core.trace.from_array import trace_of
from triattn_core.views import attention_maps, head_grid, side_by_side, similarity
from triattn_core.views.attention_maps.maps import maps
from triattn_core.views.lib import figure as room
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.figure import Figure, strongest_cells
from triattn_core.views.lib.marks import Cells
from triattn_core.views.lib.palette import LogScale
from triattn_core.views.lib.panel import Panel, Values
from triattn_core.views.lib.readout import Case, Number, Readout, Row, Sentence
from triattn_core.views.lib.tokens import named_axis

SCHEMA = json.loads((Path(room.__file__).parent / "figure.schema.json").read_text("utf-8"))
WORDS = {"title", "head", "help"}  # what a template can name besides axes and arrays


def draw_tree() -> Canvas:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), 6)
    trace = trace_of(weights, axes=("query", "key"))
    return dendrogram.figure(next(iter(trace.sites.values())), dict(trace.texts))


def draw_heads(quantity: str, features: bool) -> Canvas:
    trace = mtsa_traces.make_trace()
    orders = [[4, 2, 0, 1, 3], [1, 0, 2, 3, 4]] if features else None
    return attention_maps.figure(maps(trace, mtsa_traces.LAYER, [0, 2], quantity), trace.texts, orders)


def draw_all_heads(small: bool) -> Canvas:
    weights = np.random.default_rng(1).dirichlet(np.ones(5), (2, 3, 4))
    trace = trace_of(weights, axes=("layer", "head", "query", "key"))
    return (head_grid.strip if small else head_grid.figure)(trace, head_table(trace))


def draw_layers() -> Canvas:
    """A map of layers and heads, which are axes of no text."""
    bits, pair = np.arange(1.0, 7).reshape(2, 3), ("layer", "head")
    scale, says = LogScale.fit(bits, 1.0), Sentence([Case("Head {head} of {layer}: {bits}")])
    labels = (["layer 1", "layer 2"], ["1", "2", "3"])
    arrays = {"levels": Values(pair, scale.levels(bits)), "bits": Values(pair, bits)}
    return Figure(
        title="Entropy",
        alt="Entropy of 2 by 3 heads.",
        texts={"a": "a text"},
        axes={axis: named_axis(names) | {"ink": ink} for axis, names, ink in zip(pair, labels, ("query", "key"))},
        counts={},
        cell=(0, 1),
        scales={"main": scale},
        panels=[Panel("Entropy", *pair, Cells("levels", "main"), arrays)],
        readout=Readout("", [("bits", "")], [Row("{title}", 0, [Number("bits")])], [says], [says]),
        walk=strongest_cells(bits),
        keys=".",
        walks="The largest",
    ).canvas()


FACTS = {
    "terms": [["w_p·h", 0.5], ["w_q·u", -1.0]],
    "alike": ["w_p·h"],
    "alike_down": ["w_q·u"],
    "dimensions": [(1, 3, -0.5), (0, 2, 0.25)],
    "width": 4,
    "score": -0.5,
    "centred": 0.1,
    "weight": 0.4,
    "rank": 1,
    "of": 3,
    "sentinel": 0.05,
}


def draw_readers(shared: bool) -> Canvas:
    """Two similarity functions: each on a scale of its own and without exact numbers, or all that there is."""
    two = similarity_traces.panels()
    if not shared:
        return similarity.figure(two)
    pair = {"pair": {"at": [1, 2], "words": ["red", "left?"], "score": 2.0}}
    return similarity.figure(two, "weight", True, (4, 2, 1), facts=[FACTS, FACTS | pair], exact=True, counted="7 words")


FIGURES = {
    "readers": lambda: draw_readers(False),
    "readers on one scale": lambda: draw_readers(True),
    "layers": draw_layers,
    "tree": draw_tree,
    "all heads": lambda: draw_all_heads(False),
    "strip of heads": lambda: draw_all_heads(True),
    "two inputs": draw_sides,
    "seeds": lambda: draw_sides(np.full((2, 4), 0.12)),
    "side by side": lambda: side_by_side.figure(*three("relevance"), TEXTS, (1, 2)),
    "no difference": lambda: side_by_side.figure(three()[0], None, TEXTS, (1, 2)),
    **{
        f"heads, {quantity}, {features}": lambda q=quantity, f=features: draw_heads(q, f)
        for quantity in ("weight", "relevance")
        for features in (True, False)
    },
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_keeps_the_schema(name):
    drawn = dict(FIGURES[name]().payload)
    payload = json.loads(json.dumps(drawn, allow_nan=False))
    assert payload == drawn, "plain values of JSON alone"
    Draft202012Validator(SCHEMA).validate(payload)
    payload["panels"][0]["colour"] = "red"
    assert not Draft202012Validator(SCHEMA).is_valid(payload), "the schema lets through what no figure has"


def named(payload: dict) -> list[tuple[int, str]]:
    """(panel, array) for everything that marks and the readout ask for; below zero the chosen panel."""
    asked = []
    for i, panel in enumerate(payload["panels"]):
        host = -1 if "follows" in panel else i
        marks = [{name: value for name, value in panel["cells"].items() if name != "scale"}, *panel["marks"]]
        lists = [panel["cells"].get(name, []) for name in ("levels", "below") if panel["cells"]["mark"] == "thumbs"]
        asked += [(host, array) for names in lists for array in names]
        marks = marks[1:] if lists else marks
        fields = ("levels", "masked", "within", "values", "counts", "points", "flags")
        asked += [(host, mark[field]) for mark in marks for field in fields if field in mark]
        asked += [(host, panel["numbers"])] if "numbers" in panel else []
    readout = payload["readout"]
    for row in readout["rows"]:
        numbers = [number for number in readout["numbers"][row["numbers"]] if number]
        asked += [
            (row["panel"], number[part])
            for number in numbers
            for part in ("array", "over", "of", "best")
            if part in number
        ]
        asked += templates(payload, row["panel"], row["name"])
    for part in (*readout["sentences"], *readout["tip"]):
        for case in part["cases"]:
            asked += templates(payload, part["panel"], case.get("text", "") + case.get("bold", ""))
    return asked


def templates(payload: dict, panel: int, template: str) -> list[tuple[int, str]]:
    names = {name.partition(":")[0] for name in re.findall(r"\{([^}=][^}]*)\}", template)}
    return [(panel, name) for name in names - set(payload["axes"]) - WORDS]


@pytest.mark.parametrize("name", FIGURES)
def test_what_marks_and_sentences_name_is_there(name):
    payload = FIGURES[name]().payload
    hosts = [panel for panel in payload["panels"] if "follows" not in panel]
    asked = named(payload)
    assert asked
    for index, array in asked:
        for panel in hosts if index < 0 else [payload["panels"][index]]:
            assert array in panel["arrays"], (panel["title"], array)
    with pytest.raises(KeyError):
        sent_array(payload, 0, "no such array")


@pytest.mark.parametrize(
    "values", [np.arange(6) % 2 == 0, np.arange(6, dtype=np.uint8), np.arange(6, dtype=np.uint16), np.linspace(0, 1, 6)]
)
def test_arrays_come_back_as_they_were(values):
    sent = Values(("query", "key"), values.reshape(2, 3)).payload()
    payload = {"coordinates": [["query", 2], ["key", 3]], "panels": [{"arrays": {"one": sent}}]}
    back = sent_array(payload, 0, "one")
    np.testing.assert_array_equal(back, values.reshape(2, 3).astype(back.dtype))
    assert back.dtype == (np.float32 if values.dtype == float else values.dtype)


def test_the_strongest_come_first_and_what_is_no_number_not_at_all():
    sizes = np.array([[1.0, np.nan], [3.0, 1.0], [-np.inf, 2.0]])
    assert strongest_cells(sizes) == [(1, 0), (2, 1), (0, 0), (1, 1)] and strongest_cells(sizes, 1) == [(1, 0)]


def test_a_panel_that_follows_is_printed_for_each_it_follows():
    printed = draw_heads("weight", True).maps
    assert [mark.place for mark in printed] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert [[*mark.columns.texts] for mark in printed[1::2]] == [["5", "3", "1", "2", "4"], ["2", "1", "3", "4", "5"]]
    assert printed[1].title == "Head 1: source2token, features in order of likeness"


def test_a_tree_of_n_rows_has_three_lines_for_each_of_its_joints():
    drawn = draw_tree()
    points = sent_array(drawn.payload, 0, "tree").reshape(-1, 4)
    assert len(points) == 3 * 5 and points.min() == 0 and points[:, [0, 2]].max() == 1
    assert sorted(points[points[:, 0] == 0][:, 1].tolist()) == list(range(6)) and drawn.cell == (0, 0)


@pytest.mark.parametrize("n", [7, 18])
def test_in_one_column_every_label_is_drawn_and_panels_have_letters(n):
    trace = mtsa_traces.make_trace(n=n)
    sheet = sheet_from_canvas(attention_maps.figure(maps(trace, mtsa_traces.LAYER, [0, 2]), trace.texts))
    written = words_of(sheet, PrintSettings(width=COLUMN))
    assert all(written.count(f"w{i}") >= 3 for i in range(n)), "columns of two maps, and their rows"
    titles = [" ".join(word.split()) for word in written if "Head" in word]
    assert titles == ["(a) Head 1, forward", "(b) Head 3, window 2"] and not label_note(sheet, PrintSettings())
    alone = words_of(sheet, PrintSettings(width=COLUMN, panels=(1,)))
    assert "Head 1, forward" in alone, "one alone has no letter"


def words_of(sheet: Sheet, settings: PrintSettings) -> list[str]:
    """What is written on it."""
    drawing = paper_figure(sheet, settings, "svg").decode()
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing)


def test_the_caption_says_which_labels_are_left_out_or_shortened():
    trace = mtsa_traces.make_trace(n=70)
    sheet = sheet_from_canvas(attention_maps.figure(maps(trace, mtsa_traces.LAYER, [0]), trace.texts))
    note, first = label_note(sheet, PrintSettings(width=COLUMN)), ", those of the largest values first"
    rows, columns = map(
        int, re.fullmatch(rf"(\d+) of 70 rows are named{first}; (\d+) of 70 columns are named{first}", note).groups()
    )
    written = [word for word in words_of(sheet, PrintSettings(width=COLUMN)) if re.fullmatch(r"w\d+", word)]
    assert 15 <= columns < rows < 70 and len(written) == rows + columns
    (plate,) = sheet.plates
    strongest = plate.columns.order[0]
    assert written.count(f"w{strongest}") >= 1
    words = ["a word of many letters", *plate.columns.texts[1:]]
    long = replace(sheet, plates=[replace(plate, columns=replace(plate.columns, texts=words))])
    assert label_note(long, PrintSettings(width=20.0)).endswith("; longer labels end in …")


def test_a_tree_is_printed_beside_its_map():
    drawing = paper_figure(sheet_from_canvas(draw_tree()), PrintSettings(width=COLUMN), "svg").decode()
    (lines,) = re.findall(r'<g id="LineCollection_\d+">(.*?)</g>', drawing, re.DOTALL)
    assert lines.count("<path") == 3 * 5
    width = COLUMN * 72
    assert all(0 < float(x) < width for x in re.findall(r"[ML] ([\d.]+) ", lines))


def test_bars_are_printed_beside_their_map_with_a_number_each():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), 6)
    bits = -(weights * np.log2(weights)).sum(1)
    written = words_of(sheet_from_canvas(draw_tree()), PrintSettings(width=COLUMN))
    assert {f"{entropy:.2f}" for entropy in bits} <= set(written) and "bits" in written


def test_axes_of_any_name_are_printed_in_their_ink():
    drawn = draw_layers()
    assert [mark.axes for mark in drawn.maps or ()] == [("query", "key")]
    written = words_of(sheet_from_canvas(drawn), PrintSettings(width=COLUMN))
    assert {"layer 1", "layer 2", "1", "2", "3"} <= set(written)
