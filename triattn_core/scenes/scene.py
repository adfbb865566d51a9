"""A scene: all that a view shows of an example, made without a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triattn_core.cached import cached_property
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import InputError
from triattn_core.scenes.settings import ViewSettings
from triattn_core.sources.explanation import Explanation
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.distribution import Distribution
from triattn_core.trace.site import Site

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.scenes.figures import Figure
    from triattn_core.views.lib.canvas import Canvas


@dataclass(frozen=True)
class Scene:
    """What a view shows, its figures and its table made when they are asked for.

    settings: with nothing left open.  draw: makes the figures by name, that of the page first, at the chosen cell.
    tabulate: makes the table, a row for each cell.  trace: all that was recorded.  explanations: the predictions.
    seeds: the checkpoints of other seeds that the spread between seeds is of.  screen: the first figure as a page shows
    it, at the cell on which it opens and without the exact numbers of all others.  axes: of a cell, the positions of
    each axis.  shown: the array of a cube or tensor that a cell is of.
    """

    settings: ViewSettings
    draw: Callable[[], Mapping[str, Canvas | Figure]] = field(repr=False)
    tabulate: Callable[[], pd.DataFrame] = field(repr=False)
    trace: AttentionTrace = field(repr=False)
    explanations: Sequence[Explanation] = field(repr=False)
    seeds: Sequence[Entry] = field(default=(), repr=False)
    screen: Canvas | None = field(default=None, repr=False)
    axes: Sequence[Sequence[int]] = field(default=(), repr=False)
    shown: Distribution | None = field(default=None, repr=False)

    @cached_property
    def figures(self) -> Mapping[str, Canvas | Figure]:
        """The figures by name, that of the page first."""
        return self.draw()

    @cached_property
    def table(self) -> pd.DataFrame:
        """Every cell as a row."""
        return self.tabulate()

    @property
    def sentences(self) -> dict[str, str]:
        """What each figure shows, in words."""
        return {name: figure.alt for name, figure in self.figures.items()}


@dataclass(frozen=True)
class RequestedScene(Scene):
    """A scene and what was asked for: the view by its name, the task, the example in its file format; of a trace alone
    task and row are empty."""

    view: str = field(kw_only=True)
    task: str = field(kw_only=True, default="")
    row: Mapping[str, Any] = field(kw_only=True, default_factory=dict, repr=False)


def input_line(explanation: Explanation) -> str:
    """The texts that went in, as they stand after what a caption says."""
    return ". " + " / ".join(
        text if len(text) <= 160 else text[:159] + "…" for text in explanation.trace.texts.values()
    )


def with_positions(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows of `grids.cells_of` with words as `query` and `key`, positions as `query_at` and `key_at`."""
    return cells.rename(columns={"query": "query_at", "key": "key_at", "query_word": "query", "key_word": "key"})


def stack_tables(**tables: pd.DataFrame) -> pd.DataFrame:
    """The tables of several figures as one, the name of its figure in the first column of each row."""
    import pandas as pd

    stacked = pd.concat([table.assign(figure=name) for name, table in tables.items()], ignore_index=True)
    kinds = {"integer": "Int64", "bool": "boolean"}  # where a row has none they would be floats, or objects
    integer_types = {
        name: to for table in tables.values() for kind, to in kinds.items() for name in table.select_dtypes(kind)
    }
    return stacked.astype(integer_types)[["figure", *stacked.columns.drop("figure")]]


def traced_option(explanation: Explanation) -> dict[str, int]:
    """The setting `option`, from 1, of a task that chooses among texts; empty in other tasks."""
    return {"option": explanation.prediction.option + 1} if "option" in explanation.trace.meta else {}


def head_choice(site: Site, head: int | None) -> Choice:
    """A site, and its head from 1; None is the mean of heads."""
    if head is None:
        return Choice(site, reduce=(("head", "mean"),))
    return Choice(site, index=(("head", head - 1),))


def valid_cell(cell: Sequence[int] | None, positions: Sequence[Sequence[int]], first: Sequence[int]) -> tuple[int, ...]:
    """A cell, by default the first to look at.  positions: those of each axis.  Raises InputError: not there."""
    if cell is None:
        return tuple(map(int, first))
    if len(cell) != len(positions) or not all(i in axis for i, axis in zip(cell, positions)):
        has = ", ".join(f"{min(axis)}…{max(axis)}" for axis in positions)
        raise InputError(f"there is no cell {'.'.join(map(str, cell))}: positions are {has}")
    return tuple(cell)
