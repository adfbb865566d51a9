"""Every view is built by its scene alone: on its page, in a case card and in a notebook."""

from __future__ import annotations

import pytest

from pages.shared.page_scene import PageScene
from tests.app.test_pages import opened, sound
from triattn_core.scenes.catalogue import SCENES


@pytest.mark.parametrize("view", [view for view, builder in SCENES.items() if builder.page])
def test_a_page_shows_what_its_scene_builds(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, begin = [], PageScene.__init__
    monkeypatch.setattr(
        PageScene, "__init__", lambda page, **parts: shown.append(parts["view"]) or begin(page, **parts)
    )
    sound(opened(view))
    assert view in shown
