"""Links: what is typed on one page is on the next; the link is copied; what a link says in vain is said."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from pages.shared.navigation import PLACES

pytestmark = pytest.mark.browser
PAIR = {"a": "Cats sleep on mats", "b": "Dogs never sleep"}
expect.set_options(timeout=60_000)  # a busy machine
LINK = "/cube?a=Cats+sleep+on+mats&b=Dogs+never+sleep"


def texts(page) -> None:
    """Waits until both boxes hold the pair."""
    for name, text in PAIR.items():
        expect(page.get_by_label(f"Sentence {name.upper()}", exact=True)).to_have_value(text)


def go(page, name: str) -> None:
    """By the bar and the tabs of its place."""
    place, tabs = next((place, tabs) for place, tabs in PLACES.items() if name in tabs.values())
    page.get_by_test_id("stTopNav").get_by_role("link", name=place, exact=True).click()
    page.locator(".st-key-tabs").get_by_role("link", name=name, exact=True).click()
    page.locator(".st-key-tab-here").get_by_text(name, exact=True).wait_for()


def test_the_pair_goes_along_through_the_menu_and_into_the_link(page, app):
    page.goto(app + LINK)
    texts(page)
    for name in ("Side by side", "COIN", "MTSA", "Cube"):
        go(page, name)
        if name != "MTSA":  # which takes no pair
            texts(page)
            page.wait_for_function("location.search.includes('Cats')")
            assert {key: parse_qs(urlsplit(page.url).query)[key][0] for key in PAIR} == PAIR
    go(page, "Side by side")
    expect(page.get_by_text("English", exact=True).first).to_be_visible()
    assert "checkpoints" not in page.url or "quora" in page.url  # not the Chinese ones that the page opens on


def test_open_in_and_copy_link(page, app):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=app)
    page.goto(app + LINK)
    texts(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert "Dogs+never+sleep" in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Open in").click()
    page.get_by_role("link", name="Open in Intervene").click()
    expect(page.get_by_role("heading", name="Intervene", level=1)).to_be_visible()
    texts(page)


def test_what_a_link_says_in_vain_is_said(page, app):
    page.goto(f"{app}{LINK}&clusters=3&colour=red&head=99")
    for message in ("The link says 'clusters'", "The link says 'colour'", "The link asks for head '99'"):
        expect(page.get_by_text(message).first).to_be_visible()


def test_a_click_in_the_strip_of_all_heads_chooses_the_head(page, app):
    page.goto(app + LINK)
    strip = page.locator(".strip canvas")
    expect(strip).to_have_attribute("data-head", re.compile(r"^\d+\.\d+$"))
    strip.click(position={"x": 180, "y": 40})  # beyond the names, the second thumbnail
    expect(strip).to_have_attribute("data-head", "0.1")
    page.wait_for_function("new URLSearchParams(location.search).get('head') === '2'")
    expect(page.get_by_label("Head", exact=True)).to_have_value("2")
