"""Where a table is stored, as it is typed: a slash in the end means a folder."""

from __future__ import annotations

import os
from pathlib import Path


class FolderPath(type(Path())):  # type: ignore[misc]
    """A path that was typed with a slash in the end, which a Path does not keep."""


def out_path(text: str) -> Path:
    """The path of a typed name; of one that ends in a slash, a FolderPath."""
    is_folder = text.endswith(tuple(filter(None, (os.sep, os.altsep))))
    return FolderPath(text) if is_folder else Path(text)
