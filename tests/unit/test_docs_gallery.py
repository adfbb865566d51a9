"""The gallery of the docs shows every picture, and says under which link it was taken."""

from __future__ import annotations

import ast
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_gallery_shows_every_picture_and_its_link() -> None:
    gallery = (DOCS / "gallery.md").read_text("utf-8")
    shown = re.findall(r"!\[[^]]+\]\(pictures/(\S+)\)", gallery)
    assert sorted(shown) == sorted(path.name for path in (DOCS / "pictures").glob("*.png")) != []
    source = ast.parse((DOCS / "pictures" / "make.py").read_text("utf-8"))
    addresses = next(
        ast.literal_eval(node.value)
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PICTURES"
    )
    for name, address in addresses.items():
        section = next(part for part in gallery.split("\n## ") if f"pictures/{name}-light.png" in part)
        assert f"`/{address}`" in section
