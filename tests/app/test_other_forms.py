"""A text is typed, then a task or checkpoint chosen that reads others: the page opens on its own text."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.app.test_pages import opened, sound
from triattn_core.checkpoint.registry import list_checkpoints
from triattn_core.tasks import TASKS

NAMES = ("trec-mtsa", "snli-mtsa", "roles-mtsa", "tatoeba-mtsa")
TYPED = "Dogs chase cats."
pytestmark = pytest.mark.skipif(
    not {*NAMES} <= {entry.name for entry in list_checkpoints()}, reason="no trained checkpoints here"
)


def type_into_first(app):
    """What is typed goes into the first box that takes a text; returns its key."""
    box = next(box for box in app.text_area if box.value)
    sound(box.set_value(TYPED).run())
    assert app.query_params[box.key] == TYPED
    return box.key


@pytest.mark.parametrize(("one", "other"), [*permutations(NAMES, 2)])
def test_another_kind_of_model_on_mtsa(one: str, other: str) -> None:
    app = sound(opened("mtsa", checkpoint=one))
    key = type_into_first(app)
    sound(app.selectbox(key="checkpoint").set_value(other).run())
    boxes = {box.key: box.value for box in app.text_area if box.value}
    assert boxes
    assert (app.query_params.get(key) == TYPED) == (key in boxes)


@pytest.mark.parametrize("other", ["dialogue", "reading"])
def test_another_task_on_intervene(other: str) -> None:
    app = sound(opened("intervene", task=TASKS["pairs"].LABEL))
    type_into_first(app)
    app = sound(app.segmented_control(key="task").set_value(other).run())
    assert not {"a", "b"} & {*app.query_params}
