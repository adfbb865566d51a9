"""Nine places in the bar, tabs between the pages of a place, and addresses that lead there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from pages.shared import navigation
from pages.shared.navigation import FIRST, PLACES, TABS, mark_current
from tests.app.test_pages import opened, sound, texts
from tests.support.pages import APP


def test_there_are_nine_places_and_every_page_is_in_one():
    assert len(PLACES) == 9
    assert sorted(TABS) == sorted(path.parent.name for path in (APP.parent / "pages").glob("*/page.py"))
    assert sum(len(tabs) for tabs in PLACES.values()) == len(TABS)


def test_the_bar_lists_the_first_page_of_each_place_and_hides_the_others(monkeypatch):
    monkeypatch.setattr(st, "Page", lambda page, **settings: settings)
    pages = navigation.make_pages()
    shown = [page["title"] for page in pages.values() if page["visibility"] == "visible"]
    assert shown == list(PLACES)
    assert pages[FIRST]["url_path"] == "" and pages["side_by_side"]["url_path"] == "side_by_side"


@pytest.mark.parametrize(("name", "place"), [("cube", None), ("side_by_side", 2), ("checkpoints", 9)])
def test_a_hidden_page_marks_its_place_in_the_bar(name, place, monkeypatch):
    written, pages = [], {name: SimpleNamespace(title=name) for name in TABS}
    monkeypatch.setattr(st, "html", written.append)
    monkeypatch.setattr(st, "session_state", {})
    mark_current(pages, pages[name])
    assert len(written) == (place is not None)
    assert all(f"nth-child({place})" in style for style in written)


def test_a_page_links_to_the_other_pages_of_its_place():
    app = sound(opened("case_book"))
    tabs = [link.proto.label for link in app.get("page_link")][:3]
    assert tabs == list(PLACES["Rows"].values())


def test_the_address_of_a_page_that_moved_opens_what_it_was():
    app = sound(opened("efficiency", **{"pass": "inference"}))
    assert "<h1>Results</h1>" in texts(app) and "memory and time of inference" in texts(app)


@pytest.mark.parametrize(("address", "page"), [("rows", "compare"), ("explore", "cube")])
def test_the_address_of_a_place_opens_its_first_page_with_the_link(address, page):
    app = sound(opened(address, a="A red car.", b="A blue car.") if page == "cube" else opened(address))
    assert f"<h1>{navigation.TITLES[page]}</h1>" in texts(app)
    if page == "cube":
        assert app.text_area(key="a").value == "A red car."
