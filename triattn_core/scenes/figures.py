"""The figures of a scene, for screen and print; all that a case card knows of them is `Figure`.

There are canvases, and charts (`charts`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from triattn_core.scenes.charts import DOTS
from triattn_core.scenes.printing.from_canvas import sheet_from_canvas
from triattn_core.views.lib.canvas import Canvas

SCREEN = 90  # an inch, of a picture in a notebook


@runtime_checkable
class Figure(Protocol):
    """A figure that can be saved in each format."""

    @property
    def title(self) -> str:
        """Plain text."""

    @property
    def caption(self) -> str:
        """What of which source it shows, plain text."""

    @property
    def alt(self) -> str:
        """The figure in a sentence, plain text."""

    def html(self) -> str:
        """One document that needs no network."""

    def svg(self) -> bytes:
        """A drawing whose text is text."""

    def png(self, dots: int = DOTS) -> bytes:
        """dots: an inch."""

    def _repr_html_(self) -> str: ...


class Printed(Canvas):
    """A canvas whose maps can be printed: see `plates`."""

    @classmethod
    def of(cls, canvas: Canvas) -> Printed:
        return cls(**vars(canvas))

    def svg(self) -> bytes:
        return self._print("svg", DOTS)

    def png(self, dots: int = DOTS) -> bytes:
        return self._print("png", dots)

    def _print(self, kind: str, dots: int) -> bytes:
        from triattn_core.scenes.printing.paper import render_sheet  # Matplotlib, which no page needs to be drawn

        return render_sheet(sheet_from_canvas(self), kind, dots)


@dataclass(frozen=True)
class Picture:
    """A figure as a picture that shows itself in a notebook."""

    figure: Figure = field(repr=False)

    def svg(self) -> bytes:
        return self.figure.svg()

    def png(self, dots: int = DOTS) -> bytes:
        return self.figure.png(dots)

    def _repr_png_(self) -> bytes:
        return self.png(SCREEN)
