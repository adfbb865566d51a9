"""A module's name says what the file holds: the same name in many folders is that of a role or of a topic."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from triattn_core.kinds import KINDS

ROOT = Path(__file__).parents[2]
# What each of several sibling folders has: every page its `page`, every figure its `sentences`.
ROLES = {"__init__", "__main__", "page", "pickers", "figure", "sentences", "trainer", "features", "model_card"}
# What one name follows through the rooms: settings, equations, model, records, page.
TOPICS = {*KINDS, "efficiency"}


def repeated_names(paths: list[Path]) -> set[str]:
    """The names of more than two files."""
    return {name for name, count in Counter(path.stem for path in paths).items() if count > 2}


def test_a_name_of_more_than_two_files_is_a_role_or_a_topic():
    paths = [path for folder in ("triattn_core", "pages") for path in (ROOT / folder).rglob("*.py")]
    assert repeated_names(paths) - ROLES - TOPICS == set()
    assert repeated_names(paths) >= ROLES | TOPICS  # none stands here in vain


def test_three_files_of_one_name_are_seen():
    assert repeated_names([Path(f"{folder}/words.py") for folder in "abc"] + [Path("a/rows.py")]) == {"words"}
