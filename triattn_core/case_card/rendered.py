"""A scene as a notebook shows it, and as it is saved: with what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triattn_core.cached import cached_property
from triattn_core.case_card import archive
from triattn_core.case_card.paper_figure import PaperFigure
from triattn_core.errors import ConfigError
from triattn_core.scenes.figures import Picture, Printed
from triattn_core.scenes.printing.settings import PrintSettings
from triattn_core.scenes.scene import RequestedScene
from triattn_core.text.atomic_write import write_whole
from triattn_core.views.lib.canvas import Canvas

if TYPE_CHECKING:
    from triattn_core.scenes.figures import Figure


@dataclass(frozen=True, repr=False)
class RenderedView(RequestedScene):
    """What `draw` returns: a scene whose figures can be printed, shown and saved.

    `figure` is that of the page, `figures` all of them by name, `table` every cell as a row, `settings` what is chosen
    with nothing left open, `sentences` what each figure shows in words.  In a notebook it shows its figure.

    >>> view = draw("map", trace_of([[0.75, 0.25], [0.0, 1.0]], tokens=["red", "car"]))
    >>> view.table["weight"].tolist()
    [0.75, 0.25, 0.0, 1.0]
    >>> view.picture().svg()[:5]
    b'<?xml'
    """

    @cached_property
    def figures(self) -> Mapping[str, Figure]:
        """The figures by name, that of the page first."""
        return {
            name: Printed.of(figure) if isinstance(figure, Canvas) else figure for name, figure in self.draw().items()
        }

    def __repr__(self) -> str:
        chosen = self.settings.model_dump(exclude_defaults=True, exclude_none=True)
        names = dict.fromkeys(explanation.entry.name for explanation in self.explanations)
        return f"RenderedView({self.view!r}, {', '.join(map(repr, names))}, {chosen})"

    def _repr_html_(self) -> str:
        """For notebooks: the figure of the page."""
        return self.figure._repr_html_()

    @property
    def figure(self) -> Figure:
        """The figure of the page, the first."""
        return next(iter(self.figures.values()))

    def picture(self, name: str | None = None) -> Picture:
        """A figure as a picture that shows itself, by default the page's; `svg()` and `png()` are its files."""
        return Picture(self.figures[name] if name else self.figure)

    def case_card(self) -> bytes:
        """The case card: a zip of all that can be taken away.  See `archive`."""
        return archive.pack(self, self.figures)

    def save(self, path: str | Path) -> None:
        """Writes the case card, a .zip; or, by the ending of the name, the figure of the page as .html, .svg, .png or
        .pdf.  Raises DataError where the file cannot be written, ConfigError for another ending or nothing to print."""
        path = Path(path)
        writes: Mapping[str, Callable[[], bytes]] = {
            ".zip": self.case_card,
            ".html": lambda: self.figure.html().encode(),
            ".svg": lambda: self.figure.svg(),
            ".png": lambda: self.figure.png(),
            ".pdf": lambda: PaperFigure.of_view(self, "").file("pdf", PrintSettings()),
        }
        if path.suffix not in writes:
            raise ConfigError(f"{path}: name a file that ends in {', '.join(writes)}")
        write_whole(path, writes[path.suffix]())
