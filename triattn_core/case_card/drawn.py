"""What a page shows of an example, made without the page: figures, the table of their numbers, the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from triattn_core.analysis.reading import Reading
from triattn_core.case_card.explained import Explained
from triattn_core.errors import InputError
from triattn_core.shelf import Card
from triattn_core.trace import AttentionTrace, Choice

if TYPE_CHECKING:
    import pandas as pd

    from triattn_core.case_card.figures import Figure


Way = Literal["tokens", "words", "phrases", "sentences"]  # to what an axis folds


class Settings(BaseModel):
    """What is chosen on a page.  None is what the page opens on; `Drawn.settings` has what that was.

    Numbers that a reader sees count from 1 (head, option, layer in words); positions of cells and sites from 0.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def of(cls, choice: Choice, **more: Any) -> Mapping[str, Any]:
        """A page's choice of a site, and the head that it picks, as settings."""
        head = next((at + 1 for axis, at in choice.index if axis == "head"), None)
        return {"site": choice.site, "head": head, **more}


class Cell(Settings):
    """Of a view in which a cell is chosen."""

    cell: tuple[int, ...] | None = None


class Folds(Cell):
    """Of a view whose axes fold.  phrases: the reader's own."""

    phrases: tuple[str, ...] = ()

    def reading(self, **ways: str) -> Reading:
        """To what each axis folds, and what is hidden."""
        return Reading.of(self.phrases, **ways)


class Texts(Folds):
    """Of texts that attend to themselves.  read: to what both axes fold."""

    read: Literal["tokens", "words", "phrases"] = "tokens"

    def as_read(self) -> Reading:
        return self.reading(query=self.read, key=self.read)


class Read(Folds):
    """Of a view that hides tokens.  hide: leave out special tokens, and sinks, which receive more than so many times an
    even share."""

    hide: bool = False
    sinks: float | None = Field(None, gt=0)

    def reading(self, **ways: str) -> Reading:
        return Reading.of(self.phrases, self.hide, self.sinks, **ways)


@dataclass(frozen=True)
class Drawn:
    """The figures by name, that of the page first; every cell as a row; all that was recorded.

    view, task, row: what was asked: the page by its file, the task, the example in its file format.
    settings: with nothing left open.  found: what each checkpoint said.  seeds: the checkpoints of other seeds that
    the spread between seeds is of.
    """

    view: str
    task: str
    row: Mapping[str, Any] = field(repr=False)
    settings: Settings
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
        from triattn_core.case_card.figures import Picture

        return Picture(self.figures[name or next(iter(self.figures))])

    def card(self) -> bytes:
        """The case card: a zip of all that can be taken away.  See `pack`."""
        from triattn_core.case_card.pack import packed

        return packed(self)

    def save(self, path: str | Path) -> None:
        """Writes the case card.  Raises DataError where the file cannot be written."""
        from triattn_core.case_card.pack import write

        write(self, Path(path))


def input_line(found: Explained) -> str:
    """The texts that went in, as they stand after what a caption says."""
    return ". " + " / ".join(text if len(text) <= 160 else text[:159] + "…" for text in found.trace.texts.values())


def placed(cells: pd.DataFrame) -> pd.DataFrame:
    """Rows of `grids.cells_of` with words as `query` and `key`, positions as `query_at` and `key_at`."""
    return cells.rename(columns={"query": "query_at", "key": "key_at", "query_word": "query", "key_word": "key"})


def stacked(**tables: pd.DataFrame) -> pd.DataFrame:
    """The tables of several figures as one, the name of its figure in the first column of each row."""
    import pandas as pd

    found = pd.concat([table.assign(figure=name) for name, table in tables.items()], ignore_index=True)
    kinds = {"integer": "Int64", "bool": "boolean"}  # where a row has none they would be floats, or objects
    whole = {name: to for table in tables.values() for kind, to in kinds.items() for name in table.select_dtypes(kind)}
    return found.astype(whole)[["figure", *found.columns.drop("figure")]]


def choice(site: str, head: int | None) -> Choice:
    """A site, and its head from 1; None is the mean of heads."""
    if head is None:
        return Choice(site, reduce=(("head", "mean"),))
    return Choice(site, index=(("head", head - 1),))


def inside(cell: Sequence[int] | None, known: Sequence[Sequence[int]], first: Sequence[int]) -> tuple[int, ...]:
    """A cell, by default the first to look at.  known: the positions of each axis.  Raises InputError: not there."""
    if cell is None:
        return tuple(map(int, first))
    if len(cell) != len(known) or not all(i in axis for i, axis in zip(cell, known)):
        has = ", ".join(f"{min(axis)}…{max(axis)}" for axis in known)
        raise InputError(f"there is no cell {'.'.join(map(str, cell))}: positions are {has}")
    return tuple(cell)
