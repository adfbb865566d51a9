"""The help of every command: each option is described, in one style."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from triattn_core.__main__ import COMMANDS, CommandParser, parser

DOCS = Path(__file__).parents[2] / "docs" / "commands.md"


def parsers(top: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """A parser and those of its commands, each with the words that lead to it."""
    if isinstance(top, CommandParser):
        top.complete()
    yield name, top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, command in action.choices.items():
                yield from parsers(command, f"{name} {word}")


PARSERS = dict(parsers(parser(), "triattn"))


def style_faults(text: str | None) -> list[str]:
    """What is wrong with the help of an option: a phrase without a full stop that states its default in brackets."""
    if not text:
        return ["no help"]
    faults = ["a fragment"] * text.startswith(("of ", "with "))
    faults += ["a full stop"] * text.endswith(".")
    faults += ["a default outside brackets"] * ("default" in text.replace("(default: ", ""))
    return faults


@pytest.mark.parametrize("name", PARSERS)
def test_every_option_is_described(name: str) -> None:
    options = [action for action in PARSERS[name]._actions if not isinstance(action, argparse._SubParsersAction)]
    assert {action.dest: style_faults(action.help) for action in options if style_faults(action.help)} == {}


@pytest.mark.parametrize(
    "text, fault",
    [
        (None, "no help"),
        ("of integrated gradients", "a fragment"),
        ("number of steps.", "a full stop"),
        ("rows; by default all", "a default outside brackets"),
    ],
)
def test_a_fault_of_style_is_seen(text: str | None, fault: str) -> None:
    """Twin: options as they once were described."""
    assert style_faults(text) == [fault]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_described_in_a_sentence_and_documented(command) -> None:
    assert command.text[0].isupper() and command.text.endswith((".", "?"))
    assert f"| `triattn {command.name}" in DOCS.read_text("utf-8")
