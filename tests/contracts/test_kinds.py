"""Promises that every kind of checkpoint keeps: walks the table, so that a new kind is asked too."""

from __future__ import annotations

from typing import get_args

import pytest

from triattn_core.configs.parts import CheckpointConfig
from triattn_core.kinds import KINDS, NO_KIND, Kind, listed_kind, load_kind
from triattn_core.kinds.text_kind import TextKind
from triattn_core.tasks import TASKS, tasks_of

# What a kind must define itself; the frozen part by either.
OWN = (("section",), ("frozen", "load_frozen"), ("model",), ("train",), ("card",))
FACTS = [name for name, value in vars(Kind).items() if isinstance(value, bool | int) and not name.startswith("_")]


def lacks(kind: Kind) -> list[tuple[str, ...]]:
    """The methods that a kind leaves to classes in which they raise or know nothing."""
    return [names for names in OWN if all(getattr(type(kind), name) is getattr(TextKind, name) for name in names)]


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_has_what_the_library_asks_for(name: str) -> None:
    kind = load_kind(name)
    assert isinstance(kind, Kind) and lacks(kind) == []
    section = kind.section()
    assert issubclass(section, CheckpointConfig)
    assert get_args(section.model_fields["kind"].annotation) == (name,)
    assert {"format", "task", "language", "model", "data", "training", "digest"} <= set(section.model_fields)
    assert listed_kind({"kind": name}) is kind
    assert type(kind).task is not TextKind.task or tasks_of(name)  # else it has a table of its own
    assert {field for field in vars(type(kind)) if isinstance(getattr(kind, field), bool | int)} <= set(FACTS)


def test_what_a_kind_lacks_is_seen() -> None:
    assert lacks(TextKind()) == list(OWN)


@pytest.mark.parametrize("settings", ({}, {"kind": "of another version"}, {"kind": 3}), ids=str)
def test_of_a_config_without_a_kind_no_fact_holds(settings: dict) -> None:
    assert listed_kind(settings) is NO_KIND
    assert not any(getattr(NO_KIND, fact) for fact in FACTS) and NO_KIND.pages("tri") == ()


def test_every_task_is_of_a_kind() -> None:
    assert {kind for task in TASKS.values() for kind in task.KINDS} <= set(KINDS)
    assert all(task.KINDS for task in TASKS.values())
