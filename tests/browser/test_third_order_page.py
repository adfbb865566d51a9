"""Third order in a real browser: what AppTest cannot see, the choices that stand in the boxes."""

from __future__ import annotations

import pytest

from triattn_core.checkpoint.registry import laboratory_checkpoints

NAMES = {entry.name for entry in laboratory_checkpoints()}
pytestmark = pytest.mark.skipif("false-friends-tri-tree" not in NAMES, reason="not trained")


def test_other_cards_bring_another_cell_into_its_boxes(page, app):
    page.goto(f"{app}/third_order")
    key = page.locator(".st-key-third-order-key")
    key.get_by_text("ombe (white)").wait_for(timeout=240_000)
    cards = page.get_by_label("Cards", exact=True)
    cards.fill("pirt (red), vena (black)")
    cards.press("Enter")
    page.wait_for_function(
        """() => ["pirt (red)", "vena (black)"].includes(
            document.querySelector(".st-key-third-order-key [data-baseweb=select]").innerText.trim())"""
    )
