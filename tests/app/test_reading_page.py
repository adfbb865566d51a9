"""The cube read as a person: words and phrases on any axis, sinks hidden, and what the page says of both."""

from __future__ import annotations

import pytest

from pages.studies import links
from tests.app.test_choices import figure
from tests.app.test_pages import opened, sound, texts

PAIR = {"a": "Which browsers, if any, play movies?", "b": "Which browser downloads movies?"}
PUBLISHED = {**PAIR, "checkpoint": "quora-tri-published"}  # its context has special tokens
WORDS = {"query-as": "words", "key-as": "words", "context": "phrases"}


def test_all_axes_fold_and_the_mass_is_said() -> None:
    drawn = figure(sound(opened("cube", **PUBLISHED, **WORDS)), "cube")
    names = {axis: drawn["axes"][axis]["name"] for axis in ("query", "key", "context")}
    assert names["query"] == ["Which", "browsers", ",", "if", "any", ",", "play", "movies", "?"]
    assert names["key"] == ["Which", "browser", "downloads", "movies", "?"]
    assert names["context"] == ["[CLS]", "Which browsers,", "if any,", "play movies?", "[SEP]", PAIR["b"], "[SEP]"]
    assert "over query averaged, mass before 1.000000 and after 1.000000" in drawn["inspector"]["check"]


def test_phrases_of_the_reader_s_own_and_those_that_are_not_there() -> None:
    app = sound(opened("cube", **PAIR, **WORDS, phrases="play movies | a bat"))
    context = figure(app, "cube")["axes"]["context"]["name"]
    assert "play movies" in context and "Which" in context and "Which browsers," not in context
    assert any("“a bat” is in none of the texts" in one.value for one in (*app.info, *app.warning)) or (
        "“a bat” is in none of the texts" in texts(app)
    )


def test_what_is_hidden_is_said_with_its_mass_and_the_sentence_stands_below_the_figure() -> None:
    app = sound(opened("cube", **PUBLISHED, hide="true", sinks="1.5 × even"))
    drawn = figure(app, "cube")
    assert "[CLS]" not in drawn["axes"]["context"]["name"]
    assert "% of the mass. Sums still count them, and nothing is renormalised" in drawn["inspector"]["hidden"]
    assert drawn["alt"].startswith("Of ") and drawn["alt"] in texts(app).replace("&quot;", '"')


@pytest.mark.parametrize("name", ["query-as", "key-as", "context", "sinks"])
def test_a_link_that_asks_for_what_is_not_there_says_so(name: str) -> None:
    app = sound(opened("cube", **PAIR, **{name: "verses"}))
    assert "'verses'" in texts(app)


def test_studies_link_every_page_that_answers_a_question() -> None:
    app = sound(opened("studies"))
    pages = {link.proto.page for link in app.get("page_link")}
    for page in links.ASK["Ask about one example"] | links.ASK["Other attention, drawn"]:
        assert any(page in one for one in pages), page
    page_links = [link.proto for link in app.get("page_link") if link.proto.page.endswith("side_by_side")]
    assert any("compare=inputs" in link.query_string for link in page_links)
