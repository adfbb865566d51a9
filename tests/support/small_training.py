"""A config that trains in seconds, and commands on it with runs of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.tiny import change, make_world


def make_small(root: Path) -> Path:
    """`root`, with the config `small-bi` in its `checkpoints`."""
    world = make_world(root, ("bi",))
    change(world / "checkpoints" / "small-bi", model={"dropout": 0.0}, training={"epochs": 8, "rate": 0.01})
    return world


def command_line(world: Path, command: str, folder: str, *more: str) -> list[str]:
    """A command on the config of a world, with its own copy of the config and its own runs."""
    shutil.copytree(world / "checkpoints" / "small-bi", world / folder / "small-bi")
    config, runs = world / folder / "small-bi" / "config.json", world / folder / "runs"
    return [command, str(config), "--data", str(world / "data"), "--runs", str(runs), *more]
