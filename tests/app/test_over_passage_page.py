"""On Similarity, weights over the passage are offered where all chosen readers have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.test_pages import sound, visible_text
from tests.app.test_similarity_pages import blocks, quantity
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.pages import app_test, at_page
from tests.support.reader_checkpoints import make_system


def make_readers(root: Path) -> Path:
    for mechanism in ("baseline", "bidaf", "qanet"):
        make_system(root, mechanism, "trilinear")
    return root


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_readers)


@pytest.mark.parametrize(("first", "offered"), [("bidaf", True), ("baseline", False)])
def test_both_flows_are_shown(first: str, offered: bool) -> None:
    app = app_test(110)
    app.query_params["functions"] = [f"squad-{first}-trilinear", "squad-qanet-trilinear"]
    app.query_params["quantity"] = "over passage"
    app = sound(at_page(app, "similarity").run())
    quantities = next(group for group in app.get("button_group") if group.label == "Quantity")
    assert ("over passage" in quantities.options) == offered
    assert (quantity(app).startswith("weight, over passage")) == offered
    note = "Over passage is not offered: trilinear has no flow question → passage."
    assert (note in visible_text(app)) == (not offered)
    assert ["question → passage" in str(block["lines"]) for block in blocks(app)] == [offered, True]
