"""Living checkpoints, whose sequences are encoded apart, on every page that takes a TAN."""

from __future__ import annotations

import pytest

from tests.app.test_pages import opened, payloads, sound, texts
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.living_checkpoints import DATA, MECHANISMS, make_checkpoints
from triattn_core.tasks import TASKS

PLACES = (  # every page, every task, every mechanism: page, task, and of one checkpoint its mechanism
    ("side_by_side", "dialogue", ""),
    ("side_by_side", "reading", ""),
    ("compare", "pairs", ""),
    ("cases", "reading", ""),
    ("cube", "dialogue", "tri"),
    ("context", "reading", "tri"),
    ("intervene", "pairs", "bi_joint"),
    ("intervene", "dialogue", "tri"),
    ("attribute", "pairs", "tri"),
    ("attribute", "reading", "bi_joint"),
)


checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


@pytest.mark.parametrize(("page", "task", "mechanism"), PLACES)
def test_pages_take_living_checkpoints(page: str, task: str, mechanism: str) -> None:
    link = {"task": TASKS[task].LABEL}
    if mechanism:
        link["checkpoint"] = f"{DATA[task]}-{mechanism.replace('_', '-')}-dot"
    app = sound(opened(page, **link))
    if mechanism:
        assert app.selectbox(key="checkpoint").value.name == link["checkpoint"]
    if page == "intervene":
        assert 'class="t-outcome"' in texts(app)
    if page == "cube":  # neither the candidate nor special tokens are context
        (rest,) = (payload["sections"][0]["foot"] for payload in payloads(app) if "sections" in payload)
        assert rest.startswith("Share over an even share by tokens: T1 ×") and "[CLS]" not in rest


def test_the_part_of_bi_joint_that_is_shown_is_said() -> None:
    app = sound(opened("side_by_side"))
    drawn = next(payload for payload in payloads(app) if "panels" in payload)
    assert [panel["ink"] for panel in drawn["panels"][:-1]] == list(MECHANISMS)
    assert "quora-bi-joint-dot attends to keys and context in one softmax" in drawn["notes"]


def test_another_task_opens_on_its_own_units() -> None:
    app = sound(opened("intervene", task=TASKS["pairs"].LABEL, unit="tokens"))
    app = sound(app.segmented_control(key="task").set_value("dialogue").run())
    assert app.segmented_control(key="unit").value == "turns"
