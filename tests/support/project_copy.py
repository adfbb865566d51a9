"""A copy of the project with packages of its own, to which a test adds what a user would add."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.pages import APP

ROOT = APP.parent


def copy_project(folder: Path, *packages: Path) -> None:
    """Fills an empty folder with links to the project; `packages`, such as `triattn_core/tasks`, are copies."""
    for path in (*ROOT.glob("*.py"), ROOT / "pages", ROOT / "tests", ROOT / "checkpoints", ROOT / "requirements.txt"):
        (folder / path.name).symlink_to(path)
    (library,) = {package.parent for package in packages}
    (folder / library).mkdir()
    for path in (ROOT / library).iterdir():
        if library / path.name not in packages:
            (folder / library / path.name).symlink_to(path)
    for package in packages:
        shutil.copytree(ROOT / package, folder / package)
