"""A scene as a notebook shows it, and as it is saved: with what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.cached import cached_property
from triattn_core.case_card import archive
from triattn_core.scenes.figures import Picture, Printed
from triattn_core.scenes.scene import RequestedScene
from triattn_core.views.lib.canvas import Canvas

if TYPE_CHECKING:
    from triattn_core.scenes.figures import Figure


@dataclass(frozen=True, repr=False)
class RenderedView(RequestedScene):
    """A scene whose figures can be printed, shown and saved."""

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures by name, that of the page first."""
        return {
            name: Printed.of(figure) if isinstance(figure, Canvas) else figure for name, figure in self.draw().items()
        }

    def __repr__(self) -> str:
        return f"RenderedView(view={self.view!r}, task={self.task!r}, settings={self.settings!r})"

    def _repr_html_(self) -> str:
        """For notebooks: the figure of the page."""
        return next(iter(self.figures.values()))._repr_html_()

    def picture(self, name: str | None = None) -> Picture:
        """A figure as a picture that shows itself, by default the page's; `svg()` and `png()` are its files."""
        return Picture(self.figures[name or next(iter(self.figures))])

    def case_card(self) -> bytes:
        """The case card: a zip of all that can be taken away.  See `archive`."""
        return archive.pack(self, self.figures)

    def save(self, path: str | Path) -> None:
        """Writes the case card.  Raises DataError where the file cannot be written."""
        archive.write(self, self.figures, Path(path))
