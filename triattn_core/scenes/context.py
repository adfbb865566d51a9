"""Does context matter, as its page draws it: the parts of the relevance of each head, and the three-way residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from pydantic import Field

from triattn_core.checkpoint.registry import Card
from triattn_core.errors import ConfigError
from triattn_core.scenes import scene
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.runner import Models, Question
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings
from triattn_core.views.charts import anova as view
from triattn_core.views.charts import anova_text as said
from triattn_core.views.lib import strongest

STRONG = ("key_context", "three_way")  # the parts that context redirects


class Settings(CellSettings):
    """layer, head: from 1; None is what context redirects most.  by: heads by number, or by what context redirects.
    option: of a task that chooses among texts, from 1.  cell: position of the context token of the residual."""

    way: Literal["a_over_b", "b_over_a"] = "a_over_b"
    layer: int | None = Field(None, ge=1)
    head: int | None = Field(None, ge=1)
    by: Literal["number", "context"] = "number"
    option: int | None = Field(None, ge=1)


@dataclass(frozen=True)
class Residual:
    """What no two axes explain at one context token.  cells: [query, key]; words: what each axis reads; bits: [query],
    the information of the whole head; at: position of the token."""

    cells: xr.DataArray
    words: dict[str, list[str]]
    bits: np.ndarray
    at: int

    @property
    def labels(self) -> tuple[list[str], list[str]]:
        return self.words["query"], self.words["key"]

    @property
    def rows(self) -> pd.DataFrame:
        """A row for each cell, with the bits of its query."""
        return view.cells_of(self.cells, self.labels).assign(bits=np.repeat(self.bits, len(self.words["key"])))

    @property
    def said(self) -> str:
        return said.residual(self.cells, self.words["context"][self.at], *self.labels, self.bits)


def build(models: Models, cards: Sequence[Card], example: Any, settings: Settings) -> Scene:
    """The scene.  Raises TraceError where the checkpoint has no cube, ConfigError for no such layer or head."""
    question = Question.put(models, cards[0], example, settings.option and settings.option - 1)
    table = select_direction(share_table(question), settings.way)
    asked = settings.layer, settings.head
    layer, head = (first if one is None else one - 1 for one, first in zip(asked, said.first(table)))
    row, found = head_row(table, layer, head), three_way(question, f"layer.{layer}/{settings.way}", head)
    known = [range(found[0].sizes["context"])]
    cell = scene.valid_cell(settings.cell, known, (said.strongest(found[0]),))
    residual = at_token(question, *found, cell[0])
    texts = scene.input_line(question.found)
    caption = f"{cards[0].name}, {settings.way.replace('_', ' ')}"
    heads, place = said.parts(table, row, layer, head), f"{caption}, layer {layer + 1}, head {head + 1}{texts}"
    caption += texts
    charts = {
        "parts": (view.parts(table, layer, head, by=settings.by, named=True), "Parts of the relevance", heads, caption),
        "redirected": (
            view.parts(table, layer, head, by=settings.by, only=STRONG, named=True),
            "What context redirects, on a scale of its own",
            heads,
            caption,
        ),
        "residual": (view.residual(residual.cells, residual.bits, residual.labels), "Three-way residual")
        + (residual.said, place),
    }
    option = None if question.option is None else question.option + 1
    at = {"layer": layer + 1, "head": head + 1, "cell": cell, "option": option}
    return Scene(
        settings=settings.model_copy(update=at),
        draw=lambda: {name: Chart.of(*told) for name, told in charts.items()},
        tabulate=lambda: scene.stack_tables(
            parts=table.rename(columns={name: f"{name}, share" for name in view.PARTS}),
            residual=scene.with_positions(residual.rows),
        ),
        trace=question.found.trace,
        found=(question.found,),
    )


def share_table(question: Question) -> pd.DataFrame:
    """Shares of every site and head: see `anova.share_table`."""

    def run(bundle):
        from triattn_core.analysis.maps import anova

        return anova.share_table(question.found.trace)

    return question.answer("Taking the cube apart", run)


def select_direction(table: pd.DataFrame, way: str) -> pd.DataFrame:
    """The rows of one direction."""
    return table[table["site"].str.endswith(f"/{way}")]


def head_row(table: pd.DataFrame, layer: int, head: int) -> pd.Series:
    """The row of a layer and head, from 0.  Raises ConfigError: not there."""
    rows = table[table["site"].str.startswith(f"layer.{layer}/") & (table["head"] == head)]
    if rows.empty:
        there = f"there are {table['site'].nunique()} layers of {table['head'].max() + 1} heads"
        raise ConfigError(f"context: no layer {layer + 1}, head {head + 1}: {there}")
    return rows.iloc[0]


def three_way(question: Question, site: str, head: int) -> tuple[xr.DataArray, np.ndarray]:
    """The three-way part of one head, and the bits of each query."""

    def run(bundle):
        from triattn_core.analysis.maps import anova

        sites = question.found.trace.sites
        relevance, weights = (sites[f"{site}/{name}"].isel(head=[head]) for name in ("relevance", "weight"))
        part = anova.three_way_residual(relevance, weights).isel(head=0)
        return part, anova.mutual_information(weights.transpose(..., *anova.AXES).values[0])

    return question.answer("Taking the cube apart", run, site, head)


def at_token(question: Question, part: xr.DataArray, bits: np.ndarray, at: int) -> Residual:
    """The residual at one context token."""
    texts = dict(question.found.trace.texts)
    words = {axis: strongest.numbered(strongest.labels(part, texts, axis)) for axis in view.AXES}
    return Residual(part.isel(context=at).transpose("query", "key"), words, bits, at)
