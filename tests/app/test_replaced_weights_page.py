"""Intervene with a Hugging Face model: its attention is changed, of one text or two; ours can be asked so too."""

from __future__ import annotations

import re

import pytest

from tests.support.pages import app_test, at_page
from tests.support.tiny_transformers import make, make_type
from triattn_core.case_card import draw
from triattn_core.checkpoint.registry import VARIABLE, roots
from triattn_core.errors import InputError
from triattn_core.scenes.links import write_link
from triattn_core.scenes.weights import Settings
from triattn_core.sources.weight_change import WAYS


@pytest.fixture
def models(tmp_path, monkeypatch):
    make("bert", tmp_path / "mine" / "small-bert")
    make("bert", tmp_path / "mine" / "bare-bert", head=False)
    make_type("marian", tmp_path / "mine" / "small-marian", "MarianMTModel")
    make_type("bert", tmp_path / "mine" / "small-reader", "BertForQuestionAnswering")
    monkeypatch.setenv(VARIABLE, f"{roots()[0]}:{tmp_path / 'mine'}")


def open_page(**query):
    app = at_page(app_test(), "intervene")
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def said(app) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def test_each_way_is_answered(models):
    app = open_page(checkpoint="small-bert")
    assert not app.exception and not app.error
    assert "With even weights in all 12 heads" in said(app)
    assert "small-bert has no context axis: its attention is changed here, not its text." in said(app)
    for way in WAYS:
        app.selectbox(key="becomes").set_value(way).run()
        assert not app.exception and not app.error, way
    app.multiselect(key="in_layers").set_value(["2"]).run()
    app.multiselect(key="in_heads").set_value(["1", "3"]).run()
    assert "in 2 of 12 heads" in said(app) and "as many other heads (2) at random" in said(app)


def test_one_text_is_enough(models):
    app = open_page(checkpoint="small-bert", a="Which browsers can play movies?", b=" ")
    assert not app.exception and not app.error and "in all 12 heads" in said(app)
    card = draw("weights", "small-bert", {"text": "Which browsers can play movies?"})
    assert "in all 12 heads" in card.figure.alt and card.task == "sentences"


def test_what_cannot_is_said_in_a_line(models):
    app = open_page(checkpoint="bare-bert")
    texts = [str(element.value) for kind in ("warning", "info", "error") for element in getattr(app, kind)]
    assert any("cannot take other attention weights" in text for text in [*texts, said(app)])


def test_ours_can_be_asked_so_too(models):
    app = open_page(checkpoint="quora-tri-living", change="attention", becomes="off", in_layers="1")
    assert not app.exception and not app.error and "Switched off in" in said(app)


def test_the_link_says_settings_as_the_command_does(models):
    wanted = Settings(becomes="off", in_layers=(1, 2), in_heads=(3,), layer=2, head=1)
    link = write_link(wanted, "pairs")
    assert link["in_layers"] == "1,2"
    app = open_page(checkpoint="small-bert", **link)
    assert not app.exception and not app.error and not app.warning
    assert "Switched off in 2 of 12 heads" in said(app)
    chosen = {box.key: box.value for kind in (app.selectbox, app.multiselect) for box in kind}
    assert chosen["in_layers"] == ["1", "2"] and chosen["in_heads"] == ["3"] and chosen["becomes"] == "off"
    pickers = {key for key in chosen if not key.startswith("tags-")} - {"checkpoint", "change", "word"}
    assert pickers <= Settings.model_fields.keys()


def test_a_later_word_of_a_translation_is_chosen_and_the_text_written_anew(models):
    app = open_page(checkpoint="small-marian", a="unhappy cats sat on mats")
    assert not app.exception and not app.error
    assert [box.label for box in app.text_area][0] == "Text to translate"
    assert not any(box.key == "b" for box in app.text_area)
    assert "It writes" in said(app)
    words = app.selectbox(key="word")
    assert words.options[0].startswith("1 ") and len(words.options) > 2
    words.set_value(words.options[1] if isinstance(words.value, str) else 1).run()
    assert not app.exception and not app.error and "With even weights in all" in said(app)
    app.selectbox(key="in_sides").set_value("cross").run()
    assert not app.exception and not app.error
    found = re.search(r"With even weights in (\d+) of (\d+) heads", said(app))
    assert found and 3 * int(found[1]) == int(found[2])
    settings = {"becomes": "off", "in_sides": ("encoder",), "in_layers": (2,), "side": "encoder"}
    card = draw("weights", "small-marian", {"text": "unhappy cats sat on mats"}, **settings)
    changed = card.table[card.table["changed"] == True]  # noqa: E712
    assert len(changed) == 4 and all("/encoder/weight" in site for site in changed["site"])
    assert set(changed["layer"]) == {2}
    with pytest.raises(InputError, match="there is no cross"):
        draw("weights", "small-bert", {"text": "unhappy cats"}, in_sides=("cross",))


def test_a_span_is_asked_of_a_question_and_a_passage(models):
    app = open_page(checkpoint="small-reader", a="Which browsers can play movies?", b="unhappy cats sat on mats")
    assert not app.exception and not app.error
    assert [box.label for box in app.text_area][:2] == ["Question", "Passage"]
    assert "With even weights in all" in said(app)
