"""A Hugging Face model in Side by side: picked as a checkpoint of ours is, drawn on the same scale."""

from __future__ import annotations

import pytest

from tests.support.figure_arrays import is_comparison, sent_messages
from tests.support.pages import app_test, at_page
from tests.support.tiny_transformers import make
from triattn_core.checkpoint.registry import VARIABLE, roots


@pytest.fixture
def small_bert(tmp_path, monkeypatch):
    make("bert", tmp_path / "mine" / "small-bert")
    monkeypatch.setenv(VARIABLE, f"{roots()[0]}:{tmp_path / 'mine'}")


def panels(app) -> list[dict]:
    """The maps that the page draws."""
    payloads = (message.get("payload", {}) for message in sent_messages(app))
    drawn = next(payload["panels"] for payload in payloads if is_comparison(payload))
    return drawn[:-1]  # without their difference


def test_it_is_picked_and_drawn(small_bert):
    app = at_page(app_test(), "side_by_side")
    app.query_params["checkpoints"] = ["quora-tri-living", "small-bert"]
    app.run()
    assert not app.exception and not app.error
    assert app.multiselect(key="checkpoints").value == ["quora-tri-living", "small-bert"]
    assert [panel["title"] for panel in panels(app)] == ["Tri", "small-bert"]
    app.text_area(key="a").set_value("Which movies can cats play?").run()
    assert not app.exception and not app.error and len(panels(app)) == 2


def test_without_one_the_page_is_what_it_was():
    app = at_page(app_test(), "side_by_side").run()
    assert not app.exception and "multi-head" not in {panel["title"] for panel in panels(app)}
