"""Attribute with a Hugging Face model: its words under six methods, their faithfulness, and what cannot be asked."""

from __future__ import annotations

import pytest

from tests.support.pages import app_test, at_page
from tests.support.tiny_transformers import make
from triattn_core.analysis.catalogue import JOINT_METHODS
from triattn_core.case_card import draw
from triattn_core.checkpoint.registry import VARIABLE, roots


@pytest.fixture
def models(tmp_path, monkeypatch):
    make("bert", tmp_path / "mine" / "driven-bert")
    make("gpt2", tmp_path / "mine" / "driven-gpt2")
    make("bert", tmp_path / "mine" / "bare-bert", head=False)
    monkeypatch.setenv(VARIABLE, f"{roots()[0]}:{tmp_path / 'mine'}")


def open_page(**query):
    app = at_page(app_test(), "attribute")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def said(app) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def test_a_pair_is_attributed_by_every_method(models):
    app = open_page(checkpoint="driven-bert", method="norms")
    assert not app.exception and not app.error
    html = said(app)
    assert all(f"<b>{name}</b>" in html for name in JOINT_METHODS)
    assert '<span class="as">A</span>' in html and '<span class="as">context</span>' not in html
    assert "[CLS]" not in html and "Special tokens are left out" in " ".join([html, *(c.value for c in app.caption)])


def test_one_text_of_a_decoder_is_attributed(models):
    app = open_page(checkpoint="driven-gpt2", a="Which browsers can play movies?", b=" ")
    assert not app.exception and not app.error
    assert '<span class="as">text</span>' in said(app) and '<span class="as">B</span>' not in said(app)
    card = draw("attribute", "driven-gpt2", {"text": "Which browsers can"}, draws=2, steps=4)
    assert card.task == "sentences"


def test_a_model_that_predicts_nothing_is_said_to_give_no_gradients(models):
    app = open_page(checkpoint="bare-bert")
    texts = [str(element.value) for kind in ("warning", "info", "error") for element in getattr(app, kind)]
    assert any("cannot give gradients" in text for text in [*texts, said(app)])
