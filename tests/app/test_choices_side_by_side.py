"""Options of a dialogue or a passage beside each other, and what leads to them."""

from __future__ import annotations

import re

import pytest

from tests.app.test_choices import PASSAGES, TALK, TALKS, TEXT, block, figure
from tests.app.test_pages import opened, sound, visible_text
from tests.support import listed
from tests.support.checkpoint_fixtures import checkpoint_fixtures
from tests.support.choices_checkpoints import make_checkpoints

checkpoint_folder, use_checkpoints = checkpoint_fixtures(make_checkpoints)


def test_two_options_stand_side_by_side() -> None:
    app = sound(opened("side_by_side", **TALK, compare="options", option="1"))
    payload, drawn = block(app), figure(app, "side_by_side")
    assert listed.chosen(payload) == 0 and listed.pinned(payload) == [TALKS[0].label]
    *maps, _ = drawn["panels"]
    assert [panel["title"] for panel in maps] == ["Candidate 1", f"Candidate {TALKS[0].label + 1}"]
    assert [panel["answer"]["right"] for panel in maps] == [False, True]
    assert drawn["axes"]["key"]["ink"] == "context" and drawn["axes"]["key"]["label"] == ["[ ]", "T1", "T2", "T3", "R"]
    assert "no mass is lost" in " ".join(drawn["scale_lines"])
    app = sound(opened("side_by_side", **TALK, compare="options", option="1", other="4", context="sentences"))
    assert [panel["title"] for panel in figure(app, "side_by_side")["panels"][:2]] == ["Candidate 1", "Candidate 4"]


def test_an_option_is_not_compared_with_itself() -> None:
    app = sound(opened("side_by_side", **TEXT, compare="options", option="2", other="2"))
    titles = [panel["title"] for panel in figure(app, "side_by_side")["panels"]]
    assert titles[0] == "Option B" and titles[1] != "Option B"
    alone = opened("side_by_side", **TALK, compare="options", turns="and now?", candidates="only one")
    assert [error.value for error in alone.error] == [r"There is one candidate\: type another to compare it with\."]


def test_all_mechanisms_show_the_same_option() -> None:
    drawn = figure(sound(opened("side_by_side", **TEXT, option="2")), "side_by_side")
    assert len(drawn["panels"]) == 4 and drawn["axes"]["key"]["ink"] == "key"
    assert drawn["texts"]["option"] == PASSAGES[0].options[1]
    assert "".join(drawn["axes"]["key"]["name"]) == PASSAGES[0].options[1].replace(" ", "")


def test_studies_lead_to_dialogues_and_passages() -> None:
    app = sound(opened("studies"))
    assert "Dialogues to try" in visible_text(app) and "Questions to try" in visible_text(app)
    links = [link.proto.label for link in app.get("page_link")]
    assert any(PASSAGES[0].question.rstrip("?") in label for label in links)


@pytest.mark.parametrize(
    ("link", "roles"),
    [
        ({**TALK}, "Last turn query, candidate key"),
        ({**TALK, "direction": "candidate over turn"}, "Candidate query, last turn key"),
        ({"direction": "B over A"}, "query token of B gives to one key token of A"),
    ],
)
def test_the_cube_names_its_roles(link: dict, roles: str) -> None:
    assert roles in re.sub("<.*?>", "", visible_text(sound(opened("cube", **link))))
