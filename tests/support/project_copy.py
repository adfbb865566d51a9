"""A copy of the project with one package of its own, to which a test adds what a user would add."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.pages import APP

ROOT = APP.parent


def copy_project(folder: Path, package: Path) -> None:
    """Fills an empty folder with links to the project; `package`, such as `triattn_core/tasks`, is a copy."""
    for path in (*ROOT.glob("*.py"), ROOT / "pages", ROOT / "tests", ROOT / "checkpoints", ROOT / "requirements.txt"):
        (folder / path.name).symlink_to(path)
    (folder / package.parent).mkdir()
    for path in (ROOT / package.parent).iterdir():
        if path.name != package.name:
            (folder / package.parent / path.name).symlink_to(path)
    shutil.copytree(ROOT / package, folder / package)
