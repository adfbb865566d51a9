"""The pickers of Side by side: what is compared, under which checkpoints, and how tokens are grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from pages.shared import checkpoint_picker, choice_input, token_grouping, url_state
from pages.shared.task_picker import TaskLabels
from pages.side_by_side import edited_input, option_picker
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes.side_by_side import Settings
from triattn_core.tasks import TASKS, InputForm, form

MECHANISMS, OPTIONS, INPUTS = "mechanisms", "options", "inputs"
EDITS = (
    "One model on a text and on the same text edited, tokens aligned by their difference: what does the change do? "
    "Rows of both maps share one scale."
)


def pick(task: str, words: TaskLabels, entries: Sequence[Entry]) -> tuple[list[Entry], Settings]:
    """The chosen checkpoints and settings, without the edited input."""
    pairs = form(task) is InputForm.PAIR
    compare = url_state.pick("Compare", [MECHANISMS, *[OPTIONS] * (not pairs), INPUTS], "compare", width=112)
    choices: dict[str, Any] = {"compare": compare}
    if compare == MECHANISMS:
        selected_entries, choice, gap = checkpoint_picker.settings(entries, words)
        choices["difference"] = (gap[0] + 1, gap[1] + 1)
    elif compare == OPTIONS:
        entry, choice, choices["context"] = option_picker.settings(task, words)
        selected_entries = [entry]
    else:
        entry, choice = edited_input.settings(entries, words)
        selected_entries = [entry]
    if not pairs:
        current = choice_input.current_input(task)
        choices["option"] = None if current.option is None else current.option + 1
        choices["other"] = current.other + 1 if compare == OPTIONS and current.other is not None else None
    grouping = token_grouping.controls(*token_grouping.BESIDE[compare])
    return selected_entries, Settings(**Settings.of(choice, **choices, **grouping.settings))


def with_edit(settings: Settings, place: DeltaGenerator, task: str, example: Any) -> Settings:
    """The same with the edited input, whose fields stand at `place`; unchanged where no inputs are compared."""
    if settings.compare != INPUTS:
        return settings
    with place:
        other = edited_input.edited_example(task, example)
    return settings.model_copy(update={"edited": TASKS[task].row(other)})
