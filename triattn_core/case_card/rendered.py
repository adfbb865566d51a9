"""A scene as a notebook shows it, and as it is saved: with what was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triattn_core.checkpoint.registry import Card
from triattn_core.scenes.figures import Picture
from triattn_core.scenes.runner import Explained
from triattn_core.scenes.settings import ViewSettings
from triattn_core.trace import AttentionTrace

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.scenes.figures import Figure


@dataclass(frozen=True)
class RenderedView:
    """The figures by name, that of the page first; every cell as a row; all that was recorded.

    view, task, row: what was asked: the page by its file, the task, the example in its file format.
    settings: with nothing left open.  found: what each checkpoint said.  seeds: the checkpoints of other seeds that
    the spread between seeds is of.
    """

    view: str
    task: str
    row: Mapping[str, Any] = field(repr=False)
    settings: ViewSettings
    figures: Mapping[str, Figure] = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    trace: AttentionTrace = field(repr=False)
    found: Sequence[Explained] = field(repr=False)
    seeds: Sequence[Card] = field(default=(), repr=False)

    def _repr_html_(self) -> str:
        """For notebooks: the figure of the page."""
        return next(iter(self.figures.values()))._repr_html_()

    def picture(self, name: str | None = None) -> Any:
        """A figure as a picture that shows itself, by default the page's; `svg()` and `png()` are its files."""
        return Picture(self.figures[name or next(iter(self.figures))])

    def card(self) -> bytes:
        """The case card: a zip of all that can be taken away.  See `pack`."""
        from triattn_core.case_card.archive import packed

        return packed(self)

    def save(self, path: str | Path) -> None:
        """Writes the case card.  Raises DataError where the file cannot be written."""
        from triattn_core.case_card.archive import write

        write(self, Path(path))
