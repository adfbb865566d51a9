"""Old names of options keep working: each is in one table, and the command takes what it becomes."""

from __future__ import annotations

import argparse

import pytest

from triattn_core.__main__ import main, parser
from triattn_core.commands.aliases import OPTIONS, current_spelling

RENAMED = [(command, old, new) for command, names in OPTIONS.items() for old, new in names.items()]


def options_of(command: str) -> set[str]:
    """The options that a command takes."""
    (commands,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return set(commands.choices[command]._option_string_actions)


@pytest.mark.parametrize(("command", "old", "new"), RENAMED)
def test_the_table_leads_from_what_is_gone_to_what_is_there(command: str, old: str, new: str) -> None:
    assert new in options_of(command) and old not in options_of(command)


def test_old_names_parse_to_the_same_options_as_new_ones() -> None:
    old = ["explain", "m", "row.json", "--off", "layer.0", "--off=context", "--read", "query=words"]
    new = ["explain", "m", "row.json", "--ablate", "layer.0", "--ablate=context", "--group-by", "query=words"]
    parsed = parser().parse_args(current_spelling(old))
    assert vars(parsed) == vars(parser().parse_args(new))
    assert parsed.ablate == ["layer.0", "context"] and parsed.group_by == ["query=words"]
    overlap = parser().parse_args(current_spelling(["evaluate", "m", "rows.jsonl", "--apart", "others.jsonl"]))
    assert [path.name for path in overlap.exclude_overlap] == ["others.jsonl"]


def test_only_options_of_the_command_are_renamed() -> None:
    for kept in (["train", "--off"], ["explain", "--", "--off"], ["explain", "off", "--offer"], []):
        assert current_spelling(kept) == kept


def test_an_old_name_runs(capsys: pytest.CaptureFixture) -> None:
    """A missing checkpoint is what is wrong, not the option."""
    assert main(["explain", "no-such-checkpoint", "row.json", "--off", "layer.0"]) == 1
    assert "no-such-checkpoint" in capsys.readouterr().err
