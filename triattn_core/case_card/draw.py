"""A view of an example under checkpoints, by the names of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from triattn_core.case_card.rendered import RenderedView
from triattn_core.errors import ConfigError, choices
from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.runner import Models, find_entries
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import validate_settings
from triattn_core.tasks import TASKS, check


def draw(
    view: str, checkpoints: Sequence[str], example: Any, models: Models | None = None, **settings: Any
) -> RenderedView:
    """A view of SCENES of an example under checkpoints (names or folders), all of one task.

    settings: of the view, see its module; what is left out is as the page opens.  models: who runs the checkpoints.
    Raises TriattnError in one line: no such view, checkpoint or setting, an example that does not fit.
    """
    if view not in SCENES:
        raise ConfigError(f"no view {view!r}; {choices(view, SCENES)}")
    scene_type, names = SCENES[view], [checkpoints] if isinstance(checkpoints, str) else list(checkpoints)
    validated = validate_settings(scene_type.settings, settings, view)
    if not 1 <= len(names) <= scene_type.most:
        shows = "one checkpoint" if scene_type.most == 1 else f"one to {scene_type.most} checkpoints"
        raise ConfigError(f"{view} shows {shows}, got {len(names)}")
    entries = find_entries(names)
    called = [entry.name for entry in entries]
    if twice := next((name for name in called if called.count(name) > 1), None):
        raise ConfigError(f"two of these checkpoints are called {twice}: name each once, or rename a folder")
    task = entries[0].config["task"]
    if other := next((entry for entry in entries if entry.config["task"] != task), None):
        raise ConfigError(
            f"checkpoints must share a task: {entries[0].name} is {task}, {other.name} is {other.config['task']}"
        )
    check(TASKS[task], example, entries[0].name)
    scene = scene_type.build(models or Models(), entries, example, validated)
    parts = {part.name: getattr(scene, part.name) for part in fields(Scene)}
    return RenderedView(**parts, view=view, task=task, row=TASKS[task].row(example))
