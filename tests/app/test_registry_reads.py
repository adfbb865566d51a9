"""A click that runs no model asks the folders of checkpoints a few times, not once for every page and task."""

from __future__ import annotations

import pytest

from tests.app.test_pages import opened, sound
from tests.support.choices_checkpoints import make_checkpoints
from triattn_core.checkpoint import registry
from triattn_core.checkpoint.registry import VARIABLE


def test_a_rerun_lists_the_checkpoints_a_few_times(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(make_checkpoints(tmp_path / "checkpoints")))
    app = sound(opened("cube", wait=400))
    calls, list_checkpoints = [], registry.list_checkpoints

    def count(*roots):
        calls.append(roots)
        return list_checkpoints(*roots)

    monkeypatch.setattr(registry, "list_checkpoints", count)
    sound(app.run())
    assert 0 < len(calls) <= 8
