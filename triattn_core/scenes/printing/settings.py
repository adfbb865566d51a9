"""How a figure is printed for a paper: its width, its ground, and what stands on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from triattn_core.errors import ConfigError
from triattn_core.scenes.settings import ViewSettings, validate_settings

COLUMN, PAGE = 3.3, 7.0  # inches: of one column of a paper, of both
NARROWEST, WIDEST = 2.0, 20.0
GROUNDS = ("white", "none", "dark")
Part = Literal["letters", "titles", "badges", "predictions", "accuracy", "crosshair", "scale"]
PARTS = {
    "letters": "letters of the panels",
    "titles": "titles",
    "badges": "badges of the mechanism",
    "predictions": "predictions",
    "accuracy": "accuracy of the model",
    "crosshair": "crosshair of the chosen cell",
    "scale": "colour bar",
}
SHOWN: tuple[Part, ...] = ("letters", "titles", "badges", "predictions", "crosshair", "scale")
FORMATS = ("pdf", "svg", "png")
DOTS = 300  # an inch, of a PNG


class PrintSettings(ViewSettings):
    """width: inches, on paper.  ground: behind the figure.  show: of PARTS.  panels: from 1, in this order; none are
    all of them.  Type is never below seven points, at any width."""

    width: float = Field(PAGE, ge=NARROWEST, le=WIDEST)
    ground: Literal["white", "none", "dark"] = "white"
    show: tuple[Part, ...] = SHOWN
    panels: tuple[int, ...] = ()

    @property
    def theme(self) -> str:
        """Of `palette.THEMES`."""
        return "dark" if self.ground == "dark" else "light"

    def options(self, out: str) -> tuple[str, ...]:
        """How `triattn card` is asked for this figure in the file `out`."""
        typed: list[str] = []
        for name, value in self.model_dump(exclude_defaults=True).items():
            values = map(str, value) if isinstance(value, tuple) else [f"{value:g}" if name == "width" else value]
            typed += [f"--{name}", *values]
        return (*typed, "--out", out)

    def pick(self, panels: Sequence) -> list:
        """Those that are printed.  Raises ConfigError: there is no such panel."""
        if wrong := next((number for number in self.panels if not 1 <= number <= len(panels)), None):
            raise ConfigError(f"there is no panel {wrong}: this figure has {len(panels)}, from 1")
        return [panels[number - 1] for number in self.panels] or list(panels)


def print_settings(settings: Mapping[str, Any]) -> PrintSettings:
    """Settings that fit.  Raises ConfigError naming the first that does not."""
    return validate_settings(PrintSettings, settings, "figure for a paper")
