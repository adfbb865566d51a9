"""The bar of pages names the page that is open."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from pages.shared.navigation import name_current

HOME, CUBE, CASES = (SimpleNamespace(title=title) for title in ("Home", "Cube", "Cases"))
PAGES = {"": [HOME], "Attention": [CUBE], "Evidence": [CASES]}


@pytest.mark.parametrize(("page", "place"), [(HOME, None), (CUBE, 2), (CASES, 3)])
def test_a_page_is_named_beside_its_section(page, place, monkeypatch):
    written = []
    monkeypatch.setattr(st, "html", written.append)
    name_current(PAGES, page)
    assert len(written) == (place is not None)
    for style in written:
        assert f"nth-child({place})" in style and f"content: ': {page.title}'" in style
