"""The models of all sessions, as the library asks for them; and case cards made with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pages.shared import ablation, models
from triattn_core.case_card import RenderedView, draw
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import cli_settings
from triattn_core.scenes.runner import Explanation, Models
from triattn_core.tasks import TASKS
from triattn_core.trace.token_grouping import TokenGrouping


class Shared(Models):
    """All is kept, and shared by all sessions."""

    def load(self, entry: Entry) -> Any:
        return models.load(entry)

    def explain(self, entry: Entry, example: Any, option: int | None = None) -> Explanation:
        return models.explain(entry, example, option)

    def answer(self, entry: Entry, title: str, then: Callable[[Any], Any], *arguments: Any) -> Any:
        return models.answer(entry, title, then, *arguments)

    def read(self, explanation: Explanation, reading: TokenGrouping, site: str = "") -> Explanation:
        return models.read(explanation, reading, site)

    def without(self, entry: Entry, example: Any) -> dict[str, Explanation]:
        return ablation.explain_ablations(entry, example)


SHARED = Shared()


@dataclass(frozen=True)
class Saved:
    """A case card that is made when it is called.

    settings: what is chosen, asked for then too: a click may have chosen another cell since the page ran.
    """

    view: str
    entries: Sequence[Entry]
    example: Any
    settings: Callable[[], Mapping[str, Any]]

    def __call__(self) -> bytes:
        return self.draw().case_card()

    def draw(self) -> RenderedView:
        """The view as it is chosen now."""
        return draw(self.view, [entry.name for entry in self.entries], self.example, SHARED, **self.settings())

    @property
    def row(self) -> str:
        """The example as a row of its task, JSON."""
        return json.dumps(TASKS[self.entries[0].config["task"]].row(self.example), ensure_ascii=False, indent=1) + "\n"

    def command(self, without: str = "", *tail: str) -> str:
        """What makes the same card without a page, but for one setting; tail: what else it is asked."""
        settings = {name: value for name, value in self.settings().items() if name != without}
        return cli_settings.command(self.view, [entry.name for entry in self.entries], settings, *tail)
