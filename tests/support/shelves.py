"""Small checkpoints that a module of page tests is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from triattn_core.checkpoint.registry import VARIABLE


def shelf_fixtures(make: Callable[[Path], Path], **environment: str) -> tuple:
    """Two fixtures, for a module to name `every` and `shelf`: the folder with checkpoints, made once, and, for every
    test of the module, an app that lists them.  environment: variables besides."""

    @pytest.fixture(scope="module")
    def every(tmp_path_factory) -> Path:
        return make(tmp_path_factory.mktemp("shelf"))

    @pytest.fixture(autouse=True)
    def shelf(every: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {VARIABLE: str(every), **environment}.items():
            monkeypatch.setenv(name, value)

    return every, shelf
