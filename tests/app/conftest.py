"""What several tests of pages use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.choices_checkpoints import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE


@pytest.fixture(scope="module")
def small_checkpoints(tmp_path_factory) -> Path:
    """A folder of small checkpoints of pairs, dialogues and reading."""
    return make_checkpoints(tmp_path_factory.mktemp("checkpoints"))


@pytest.fixture
def use_small_checkpoints(small_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The app lists these checkpoints."""
    monkeypatch.setenv(VARIABLE, str(small_checkpoints))
