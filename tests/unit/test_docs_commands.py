"""The commands in the code blocks of the documentation are commands of the program: each can be parsed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from triattn_core.__main__ import parser

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"(?:^|[\s'])(?:triattn|python -m triattn_core) ([a-z][^'<>&|]*)")


def commands(text: str) -> list[str]:
    """The arguments of each command in the blocks of a page, but of none with optional parts or some left out."""
    blocks = re.findall(r"```\w*\n(.*?)```", text.replace("\\\n", " "), re.S)
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for block in blocks for line in block.splitlines()]
    found = [match[1] for line in lines for match in COMMAND.finditer(line)]
    return [command for command in found if not set(command) & set("…[")]


PAGES = [page for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))) if commands(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_in_a_block_can_be_parsed(page: Path) -> None:
    for command in commands(page.read_text("utf-8")):
        parser().parse_args(shlex.split(command))


def test_a_command_that_does_not_parse_is_seen() -> None:
    """Twin: the option of a verb before it, as the guide once had it."""
    block = "```sh\nexec app sh -c 'python -m triattn_core book --book URL import \\\n    cases.jsonl'  # all\n```"
    assert [shlex.split(command) for command in commands(block)] == [["book", "--book", "URL", "import", "cases.jsonl"]]
    with pytest.raises(SystemExit):
        parser().parse_args(shlex.split(commands(block)[0]))


def test_the_pages_of_commands_are_read() -> None:
    assert {"README.md", "commands.md", "deploy.md", "guide.md", "scale.md"} <= {page.name for page in PAGES}
