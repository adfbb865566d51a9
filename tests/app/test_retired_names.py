"""Names of checkpoints that are no longer shipped lead to those that they stand for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.app.test_pages import opened, sound
from tests.support.two_languages import make_checkpoints
from triattn_core.checkpoint.registry import VARIABLE, current_name, find_checkpoint
from triattn_core.errors import CheckpointError


@pytest.fixture(scope="module")
def checkpoint_folder(tmp_path_factory) -> Path:
    """Of Quora the published triple alone; of LCQMC all under their old names, as a user's folder may have them."""
    root = make_checkpoints(tmp_path_factory.mktemp("checkpoints"))
    for mechanism in ("bi", "cbi", "tri"):
        (root / f"quora-{mechanism}-additive").rename(root / f"quora-{mechanism}-published")
        for similarity in ("dot", "scaled-dot", "bilinear"):
            shutil.rmtree(root / f"quora-{mechanism}-{similarity}")
    return root


@pytest.fixture(autouse=True)
def use_checkpoints(checkpoint_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(checkpoint_folder))


def test_a_retired_name_is_the_published_one_of_its_mechanism():
    assert current_name("quora-tri-scaled-dot") == "quora-tri-published"
    assert [current_name(name) for name in ("quora-tri-living", "my-tri-dot")] == ["quora-tri-living", "my-tri-dot"]


def test_commands_take_a_retired_name_unless_a_folder_has_it(checkpoint_folder: Path):
    assert find_checkpoint("quora-bi-dot") == checkpoint_folder / "quora-bi-published"
    assert find_checkpoint("lcqmc-bi-dot") == checkpoint_folder / "lcqmc-bi-dot"
    with pytest.raises(CheckpointError):
        find_checkpoint("race-bi-dot")


def test_a_link_with_a_retired_name_opens_and_says_so():
    app = sound(opened("cube", checkpoint="quora-tri-dot"))
    assert app.session_state["checkpoint"].name == "quora-tri-published"
    notices = [info.value.replace("\\", "") for info in app.info]
    assert notices == ["No longer shipped: quora-tri-dot. Shown instead: quora-tri-published."]


def test_a_link_with_several_retired_names_opens_and_says_so():
    app = sound(opened("side_by_side", checkpoints=["quora-bi-dot", "quora-tri-dot"], language="English"))
    assert app.session_state["checkpoints"] == ["quora-bi-published", "quora-tri-published"]
    assert any("No longer shipped: quora-bi-dot, quora-tri-dot" in info.value.replace("\\", "") for info in app.info)
