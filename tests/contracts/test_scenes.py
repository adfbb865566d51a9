"""Every view is built by its scene alone: on its page, in a case card and in a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from triattn_core.scenes.catalogue import SCENES

PAGES = Path(__file__).parents[2] / "pages"


@pytest.mark.parametrize("view", [view for view, builder in SCENES.items() if builder.page])
def test_a_page_shows_what_its_scene_builds(view: str) -> None:
    source = "\n".join(path.read_text("utf-8") for path in (PAGES / view).glob("*.py"))
    assert any(
        f'PageScene.{method}(\n        "{view}"' in source or f'PageScene.{method}("{view}"' in source
        for method in ("build", "stream")
    )
