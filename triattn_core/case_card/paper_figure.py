"""Figures for papers: a figure at a stated width with its caption and its data beside it, of a scene or of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from triattn_core.errors import ConfigError, choices
from triattn_core.importers import trace_store
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.printing import chart
from triattn_core.scenes.printing.from_canvas import sheet_from_canvas
from triattn_core.scenes.printing.settings import DOTS, FORMATS, PrintSettings
from triattn_core.scenes.printing.sheet import Sheet
from triattn_core.text.atomic_write import write_whole
from triattn_core.views.lib.canvas import Canvas

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.scenes.scene import RequestedScene
    from triattn_core.sources.explanation import Explanation

DIGEST = 12  # letters of a digest in a caption


@dataclass(frozen=True)
class PaperFigure:
    """What is printed of a canvas or a chart.

    table: every cell as a row, asked for when it is written.  models: each checkpoint or file, by name its digest.
    command: what makes it again.
    """

    figure: Canvas | Chart = field(repr=False)
    table: Callable[[], pd.DataFrame] = field(repr=False)
    models: Mapping[str, str]
    command: str

    @classmethod
    def of_view(cls, rendered: RequestedScene, command: str, name: str | None = None) -> PaperFigure:
        """Of a scene the figure with this name, by default the first with maps, else the first.  Raises ConfigError:
        there is no such figure."""
        printable = {
            key: figure
            for key, figure in rendered.figures.items()
            if isinstance(figure, Canvas | Chart) and can_print(figure)
        }
        if name is not None and name not in printable:
            raise ConfigError(f"no figure {name!r} to print; {choices(name, printable)}")
        if not printable:
            raise ConfigError(f"{rendered.view} has no figure to print")
        maps = [key for key, figure in printable.items() if figure.maps]
        models = {explanation.entry.name: _digest(explanation) for explanation in rendered.explanations}
        return cls(printable[name or [*maps, *printable][0]], lambda: rendered.table, models, command)

    def sheet(self, theme: str = "light") -> Sheet:
        """Its maps; the titles of `plates` are what a user chooses among.  Where a chart is printed, none."""
        if is_chart(self.figure):
            return Sheet(self.figure.title, self.figure.caption, "", self.figure.alt, (), ())
        return sheet_from_canvas(self.figure, theme)

    def file(self, kind: str, settings: PrintSettings, dots: int = DOTS) -> bytes:
        """A PDF, SVG or PNG.  Raises ConfigError where a panel is not there, or a chart has no room."""
        if is_chart(self.figure):
            return chart.paper_chart(self.figure, settings, kind, dots)
        from triattn_core.scenes.printing.paper import paper_figure  # Matplotlib, only where something is printed

        return paper_figure(self.sheet(settings.theme), settings, kind, dots)

    def caption(self, settings: PrintSettings) -> str:
        """What is drawn, of which input and weights, in numbers; and the command.  Plain text."""
        from triattn_core.scenes.printing.letters import families, texts_of, without_shape
        from triattn_core.scenes.printing.paper import lettered

        sheet = self.sheet(settings.theme)
        letter = "({}) ".format if "letters" in settings.show else lambda _: ""
        plates = [plate for plate in lettered(settings.pick(sheet.plates)) if not plate.thumb]
        panels = "; ".join((letter(plate.letter) if plate.letter else "") + plate.heading for plate in plates)
        models = "; ".join(
            f"{name}, SHA-256 {digest[:DIGEST]}" if digest else name for name, digest in self.models.items()
        )
        _, lacking = families(texts_of(sheet))
        score = "; ".join(dict.fromkeys(plate.score for plate in sheet.plates if plate.score))
        parts = [
            f"{sheet.title}: {panels}." if panels else f"{sheet.title}.",
            f"{sheet.sentence.rstrip('.')}.",
            f"Input: {sheet.texts}" if sheet.texts else "",
            f"Shown: {sheet.caption.rstrip('.')}." if sheet.caption else "",
            f"Labels: {note}." if (note := self._label_note(sheet, settings)) else "",
            f"In PDF and PNG {without_shape(lacking)}." if lacking else "",
            f"Weights: {models}." + (f" {score}." if score else "") if models else "",
            f"Made by: {self.command}",
        ]
        return "\n".join(filter(None, parts)) + "\n"

    def _label_note(self, sheet: Sheet, settings: PrintSettings) -> str:
        from triattn_core.scenes.printing.paper import label_note

        return chart.label_note(self.figure, settings) if is_chart(self.figure) else label_note(sheet, settings)

    def data(self) -> bytes:
        """Every cell as a row, CSV."""
        return self.table().to_csv(index=False).encode("utf-8-sig")

    def archive(self, name: str, settings: PrintSettings) -> bytes:
        """A zip of all formats, the caption and the data."""
        from triattn_core.case_card.archive import zip_files

        files = [(f"{name}.{kind}", self.file(kind, settings)) for kind in FORMATS]
        files += [(f"{name}.caption.txt", self.caption(settings).encode()), (f"{name}.csv", self.data())]
        return zip_files(files)

    def save(self, path: Path, settings: PrintSettings) -> Sequence[Path]:
        """Writes the figure, in the format of its ending, and beside it caption and data; what was written.

        Raises ConfigError for another ending, DataError where it cannot be written.
        """
        kind = path.suffix.removeprefix(".")
        if kind not in FORMATS:
            raise ConfigError(f"{path}: {choices(kind, FORMATS)}")
        contents = {
            path: self.file(kind, settings),
            path.with_suffix(".caption.txt"): self.caption(settings).encode(),
            path.with_suffix(".csv"): self.data(),
        }
        for place, content in contents.items():
            write_whole(place, content)
        return list(contents)


def _digest(explanation: Explanation) -> str:
    """That of its weights; of a trace alone, if it says none, that of its numbers."""
    digest = explanation.entry.digest
    return trace_store.digest(explanation.trace) if explanation.is_file and not digest else digest


def is_chart(figure: Canvas | Chart) -> TypeGuard[Chart]:
    """Whether its specification is printed, not maps."""
    return isinstance(figure, Chart) and not figure.maps


def can_print(figure: object) -> bool:
    """Whether it has maps, or is a chart."""
    return isinstance(figure, Chart) or isinstance(figure, Canvas) and figure.maps is not None
