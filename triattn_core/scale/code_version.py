"""What code this is: two checkouts of one version may compute differently."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from triattn_core import __version__

PACKAGE = Path(__file__).parents[1]


@cache
def code_version() -> str:
    """The version of triattn with a digest of its Python files: "0.1.0, code 1f3a5c7e"."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{__version__}, code {digest.hexdigest()[:8]}"
