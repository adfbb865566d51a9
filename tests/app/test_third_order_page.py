"""The page Third order: scores side by side on one row, with the numbers of one cell and what each can learn."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import partial

import numpy as np
import pytest

from pages.third_order import cell_terms, export, pickers
from tests.app.test_pages import opened, sound, texts
from triattn_core.checkpoint.registry import laboratory_checkpoints
from triattn_core.inference.score_terms import ScoreTerms
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.printing.chart import paper_chart
from triattn_core.scenes.printing.settings import PrintSettings
from triattn_core.scenes.printing.third_order_table import caption
from triattn_core.tasks.laboratory.example import MOST
from triattn_core.views.charts import score_maps

NAMES = {entry.name for entry in laboratory_checkpoints()}
pytestmark = pytest.mark.skipif("false-friends-tri-tree" not in NAMES, reason="not trained")


def test_it_opens_on_false_friends_where_the_product_finds_the_cell_and_the_tree_does_not():
    page = texts(sound(opened("third_order")))
    rows = {name: page[page.index(f"<b>{name}</b>") :] for name in ("product", "determinant", "tree")}
    rows = {name: text[: text.index("</tr>")] for name, text in rows.items()}
    assert rows["product"].endswith("✓</td>") and rows["determinant"].endswith("✓</td>")
    assert rows["tree"].endswith("✗</td>") and ">0.0%<" in rows["tree"]  # of three-way share
    assert "q·k" in rows["tree"]


def test_the_maps_share_one_scale_and_one_pointer():
    app = sound(opened("third_order"))
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert len(spec["concat"]) == 4
    (under,) = spec["params"]
    assert len(set(under["views"])) == 4


def test_another_task_and_cell_by_link():
    link = {"third-order-task": "Function composition", "function-composition-scores": "tree"}
    page = texts(sound(opened("third_order", **link)))
    assert "Where is the animal of" in page and "<b>tree</b>" in page and "<b>determinant</b>" not in page


def test_the_table_says_who_learnt_what():
    page = texts(sound(opened("third_order")))
    table = page[page.index("Who can learn what") :]
    row = table[table.index("False friends</td>") :]
    assert row.index("<b>100, 100, 100</b>") < row.index("</tr>")
    assert "arXiv 2602.02422" in page


def test_an_unknown_word_gets_one_line():
    page = texts(opened("third_order", **{"false-friends-query": "whale"}))
    assert "unknown word 'whale'" in page


@pytest.mark.skipif("relation-composition-triangle" not in NAMES, reason="not trained")
def test_triangle_attention_has_a_map_of_its_own_each_row_of_which_is_framed():
    app = sound(opened("third_order", **{"third-order-task": "Relation composition"}))
    assert "each row is a softmax of its own" in texts(app)
    joint, rows = (json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")[:2])
    assert len(joint["concat"]) == 4 and len(rows["concat"]) == 1
    assert json.dumps(joint, ensure_ascii=False).count("Σ 1") == 4
    alone = {"third-order-task": "Relation composition", "relation-composition-scores": "triangle"}
    app = sound(opened("third_order", **alone))
    assert "each row is a softmax of its own" in texts(app) and "Who can learn what" in texts(app)
    assert "What it costs" in texts(app) and len(app.get("vega_lite_chart")) > 1
    assert [button.label for button in app.get("download_button")][0] == "Map of triangle, PDF, 6.75 in"


@pytest.mark.skipif("false-friends-tri-additive" not in NAMES, reason="not trained")
def test_every_chosen_score_has_a_map():
    chosen = ["product", "determinant", "additive", "Strassen", "tree"]
    app = sound(opened("third_order", **{"false-friends-scores": chosen}))
    assert len(json.loads(app.get("vega_lite_chart")[0].proto.spec)["concat"]) == 5


@pytest.mark.skipif("relation-composition-tri-strassen" not in NAMES, reason="not trained")
def test_a_score_that_is_on_another_true_cell_is_named():
    app = sound(opened("third_order", **{"third-order-task": "Relation composition"}))
    assert "More weight on another true cell: Strassen, Kyiv to Riga (white) and Riga to Rome (brown), 0.768." in texts(
        app
    )
    alone = {"third-order-task": "Relation composition", "relation-composition-scores": "Strassen"}
    page = texts(sound(opened("third_order", **alone)))
    assert "More weight on another" not in page and ">0.768<" in page


def test_terms_of_a_sum_do_not_read_as_products():
    one = np.ones((1, 1, 1))
    part = ScoreTerms(1.5 * one, one, {"q·k": -2.25 * one, "k·c": 3.75 * one}, np.zeros(1))
    assert cell_terms.numbers(part, (0, 0)) == "q·k = −2.25, k·c = 3.75; sum 1.50"


def test_proofs_stand_below_the_numbers():
    page = texts(sound(opened("third_order")))
    table = page[page.index("Who can learn what") :]
    row = table[table.index("False friends</td>") :]
    row = row[: row.index("</tr>")]
    assert row.count("weights cannot</span>") == 2 and "by counting" in row and ">C-Bi</span>" in row
    assert "Layers above, wide enough, may still find the answer" in table
    assert "Where training and proof differ. Function composition, Strassen: weights can" in table


def test_the_costs_name_their_command():
    assert "tests.bench.third_order" in export.cost_csv()


@pytest.mark.parametrize("sizes", [(6, 3), (6, 6), (4, 12), (8, 2), (3, MOST)])
@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_the_figure_is_exported_however_wide_its_maps_are(sizes, count):
    weights, truth = np.full(sizes, 1 / np.prod(sizes)), np.zeros(sizes, bool)
    maps = [score_maps.ScoreMap(f"Score number {i}", weights) for i in range(count)]
    names = [[f"{axis}-token-{i}" for i in range(size)] for axis, size in zip(("key", "context"), sizes)]
    draw = partial(score_maps.figure, maps, *names, truth, (0, 0), width=pickers.WIDTH)
    file = export.figure_file(draw, "maps")
    (box,) = re.findall(rb"/MediaBox \[([^]]*)\]", file)
    assert file.startswith(b"%PDF") and float(box.split()[2]) <= export.INCHES * 72 + 0.5


@pytest.mark.parametrize("each_row", [False, True])
def test_on_paper_a_frame_is_as_large_as_what_adds_up_to_one(each_row):
    """Cells take their room from the page; frames must follow."""
    sizes = 6, 3
    one = score_maps.ScoreMap("product", np.full(sizes, 1 / np.prod(sizes)), each_row)
    names = [[f"token-{i}" for i in range(size)] for size in sizes]
    draw = partial(score_maps.figure, [one], *names, np.zeros(sizes, bool), (0, 0))
    chart = Chart.of(draw(width=pickers.WIDTH, theme="light"), "Third-order scores on one row", "maps")
    drawing = paper_chart(chart, PrintSettings(width=5.0), "svg").decode()
    rects = [(float(w), float(h)) for w, h in re.findall(r' d="M[^"hv]*h([\d.]+)v([\d.]+)h-', drawing)]
    ((across, down), count), *_ = Counter(rects).most_common()
    assert count == np.prod(sizes)
    framed = across * sizes[1], down * (1 if each_row else sizes[0])
    assert sum(np.allclose(rect, framed) for rect in rects) == (sizes[0] if each_row else 2)  # the map's ground too


def test_the_largest_parts_of_a_product_are_named():
    one = np.ones((1, 1, 1))
    values = np.array([0.5, -3.0, 0.25, 2.0, 0.125])
    part = ScoreTerms(-0.125 * one, one, {}, np.zeros(1), values.reshape(1, 1, 1, 5), "feature")
    expected = "feature 2 = −3.00, feature 4 = 2.00, feature 1 = 0.50, 2 others = 0.38; sum −0.12"
    assert cell_terms.numbers(part, (0, 0)) == expected


def test_a_score_that_is_none_of_the_task_is_said_and_a_bad_row_leaves_the_tables():
    (said,) = sound(opened("third_order", **{"false-friends-scores": "nonsense"})).info
    assert "The link asks for scores 'nonsense'" in said.value
    app = opened("third_order", **{"false-friends-query": "unheard"})
    page = texts(app)
    assert "unknown" in app.error[0].value and "Who can learn what" in page and "What it buys" in page


def test_a_caption_names_the_row_the_sources_and_the_models():
    text = caption("Who has the fish?", [("tree", "false-friends-tri-tree")])
    assert "Who has the fish? Weights" in text and "arXiv 2602.02422" in text and "false-friends-tri-tree" in text
    assert text.startswith(r"\caption{") and text.count("{") == text.count("}")


def test_a_long_card_is_not_repeated_whole():
    page = texts(opened("third_order", **{"false-friends-keys": "word " * 300}))
    assert page.count("word ") <= 13 and "…'; known" in page
