"""The gallery of the docs shows every picture, and says under which link it was taken."""

from __future__ import annotations

import re
from pathlib import Path

from docs.pictures.make import PICTURES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_gallery_shows_every_picture_and_its_link() -> None:
    gallery = (DOCS / "gallery.md").read_text("utf-8")
    shown = re.findall(r"!\[[^]]+\]\(pictures/(\S+)\)", gallery)
    assert sorted(shown) == sorted(path.name for path in (DOCS / "pictures").glob("*.png")) != []
    for name, address in PICTURES.items():
        section = next(part for part in gallery.split("\n## ") if f"pictures/{name}-light.png" in part)
        assert f"`/{address}`" in section
