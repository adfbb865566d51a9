"""The page Third order: scores side by side on one row, with the numbers of one cell and what each can learn."""

from __future__ import annotations

import json

import pytest

from tests.app.test_pages import opened, sound, texts
from triattn_core.checkpoint.registry import laboratory_checkpoints

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
