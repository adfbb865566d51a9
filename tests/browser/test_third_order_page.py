"""Third order in a real browser: what AppTest cannot see, the choices that stand in the boxes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from triattn_core.checkpoint.registry import laboratory_checkpoints

NAMES = {entry.name for entry in laboratory_checkpoints()}
pytestmark = pytest.mark.skipif("false-friends-tri-tree" not in NAMES, reason="not trained")


def test_other_cards_bring_another_cell_into_its_boxes(page, app):
    page.goto(f"{app}/third_order")
    key = page.get_by_label("Key of the cell", exact=True)
    expect(key).to_have_value("ombe (white)", timeout=240_000)
    cards = page.get_by_label("Cards", exact=True)
    cards.fill("pirt (red), vena (black)")
    cards.press("Enter")
    expect(key).to_have_value(re.compile(r"^(pirt \(red\)|vena \(black\))$"), timeout=60_000)
