"""The picker of readers on Similarity and Distributions: systems by themselves, and what is drawn of odd choices."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.test_pages import opened, sound, visible_text
from tests.app.test_similarity_pages import titles
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.pages import at_page
from tests.support.reader_checkpoints import make_system

OWN = {"bidaf": "trilinear", "dcn": "dot", "qanet": "trilinear"}
BUTTONS = ["BiDAF", "DCN", "QANet"]


def make_readers(root: Path) -> Path:
    for mechanism, own in {"baseline": "dot", **OWN}.items():
        for similarity in (own, "t_trilinear"):
            make_system(root, mechanism, similarity)
    return root


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_readers)


def system_buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button if str(button.key).startswith("system-")]


@pytest.mark.parametrize(("page", "more"), [("similarity", []), ("distributions", ["All of these"])])
def test_systems_stand_together_own_function_first(page: str, more: list[str]) -> None:
    app = sound(opened(page))
    assert app.multiselect(key="functions").options == [
        "dot-product", "T-trilinear",
        "BiDAF trilinear, its own", "BiDAF T-trilinear",
        "DCN dot-product, its own", "DCN T-trilinear",
        "QANet trilinear, its own", "QANet T-trilinear",
    ]  # fmt: skip
    assert system_buttons(app) == [*BUTTONS, *more]
    app = sound(app.button(key="system-DCN").click().run())
    assert app.multiselect(key="functions").value == ["squad-dcn-dot", "squad-dcn-t-trilinear"]


def test_maps_of_one_system_stand_side_by_side() -> None:
    names = [f"squad-{name}" for name in ("dcn-t-trilinear", "bidaf-trilinear", "dcn-dot", "bidaf-t-trilinear")]
    assert titles(sound(opened("similarity", functions=names))) == [
        "BiDAF trilinear", "BiDAF T-trilinear", "DCN dot-product", "DCN T-trilinear",
    ]  # fmt: skip


def test_an_emptied_picker_says_what_is_drawn() -> None:
    app = sound(opened("similarity"))
    first = titles(app)
    app = sound(app.multiselect(key="functions").set_value([]).run())
    assert titles(app) == first
    assert [info.value.replace("\\", "") for info in app.info] == [
        f"No function is chosen. Shown instead: {', '.join(first)}."
    ]


def test_a_page_that_takes_fewer_shows_the_first_ones_and_says_so() -> None:
    app = sound(opened("distributions"))
    assert app.multiselect(key="functions").proto.select_all  # all eight fit
    app = sound(app.button(key="system-All of these").click().run())
    app = sound(at_page(app, "similarity").run())
    kept = ["BiDAF trilinear", "BiDAF T-trilinear", "DCN dot-product", "DCN T-trilinear"]
    assert titles(app) == kept and not app.multiselect(key="functions").proto.select_all
    assert f"At most 4 functions are drawn here. Shown instead: {', '.join(kept)}." in visible_text(app)
