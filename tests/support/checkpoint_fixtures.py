"""Small checkpoints that a module of page tests is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from triattn_core.checkpoint.registry import VARIABLE


def checkpoint_fixtures(make: Callable[[Path], Path], **environment: str) -> tuple:
    """Two fixtures, for a module to name `checkpoint_folder` and `use_checkpoints`: the folder, made once, and, for
    every test of the module, an app that lists its checkpoints.  environment: variables besides."""

    @pytest.fixture(scope="module")
    def checkpoint_folder(tmp_path_factory) -> Path:
        return make(tmp_path_factory.mktemp("checkpoints"))

    @pytest.fixture(autouse=True)
    def use_checkpoints(checkpoint_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {VARIABLE: str(checkpoint_folder), **environment}.items():
            monkeypatch.setenv(name, value)

    return checkpoint_folder, use_checkpoints
