"""Does context matter, as its page draws it: the parts of the relevance of each head, and the three-way residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from pydantic import Field

from triattn_core.cached import cached_property
from triattn_core.checkpoint.registry import Entry
from triattn_core.scenes import scene
from triattn_core.scenes.charts import Chart
from triattn_core.scenes.head_shares import PARTS, HeadShares, head_row
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import CellSettings
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.sources.models import Models, Question
from triattn_core.trace.axis_labels import axis_labels
from triattn_core.trace.site import Site
from triattn_core.views.charts import anova as view
from triattn_core.views.charts import anova_text
from triattn_core.views.lib import strongest

REDIRECTED = "What context redirects, on a scale of its own"
STRONG = ("key_context", "three_way")  # the parts that context redirects


class Settings(CellSettings):
    """layer, head: from 1; None is what context redirects most.  by: heads by number, or by what context redirects.
    option: of a task that chooses among texts, from 1.  cell: position of the context token of the residual."""

    direction: Literal["a_over_b", "b_over_a"] = "a_over_b"
    layer: int | None = Field(None, ge=1)
    head: int | None = Field(None, ge=1)
    by: Literal["number", "context"] = "number"
    option: int | None = Field(None, ge=1)


@dataclass(frozen=True)
class Residual:
    """What no two axes explain at one context token.  cells: [query, key]; words: what each axis reads; bits: [query],
    the information of the whole head; position: of the token."""

    cells: xr.DataArray
    words: Mapping[str, Sequence[str]]
    bits: np.ndarray
    position: int

    @property
    def labels(self) -> tuple[Sequence[str], Sequence[str]]:
        return self.words["query"], self.words["key"]

    @property
    def rows(self) -> pd.DataFrame:
        """A row for each cell, with the bits of its query."""
        cells = view.cells_of(self.cells, self.labels).assign(bits=np.repeat(self.bits, len(self.words["key"])))
        return scene.with_positions(cells)

    @property
    def sentence(self) -> str:
        return anova_text.residual(self.cells, self.words["context"][self.position], *self.labels, self.bits)

    def draw(self, theme: str = "light", width: int | None = None) -> partial:
        """What draws it: see `views.charts.anova.residual`."""
        return partial(view.residual, self.cells, self.bits, self.labels, theme, width)


@dataclass(frozen=True)
class HeadParts(HeadShares):
    """What is drawn of one head beside all others, at the settings of a scene.

    part: [query, key, context], the three-way residual of the chosen head; bits: [query], its information.
    """

    settings: Settings = field(kw_only=True)
    explanation: Explanation = field(kw_only=True)
    part: xr.DataArray = field(kw_only=True)
    bits: np.ndarray = field(kw_only=True)

    @property
    def selected_residual(self) -> Residual:
        """The residual at the chosen context token."""
        assert self.settings.cell  # `build` fills it
        return self.residual(self.settings.cell[0])

    @cached_property
    def words(self) -> Mapping[str, Sequence[str]]:
        """The labels of each axis; a repeated token has a small number."""
        texts = dict(self.explanation.trace.texts)
        return {axis: strongest.numbered(strongest.labels(self.part, texts, axis)) for axis in view.AXES}

    def residual(self, position: int) -> Residual:
        """What no two axes explain at a context token."""
        return Residual(self.part.isel(context=position).transpose("query", "key"), self.words, self.bits, position)

    def charts(self) -> dict[str, Chart]:
        """The figures of the page, as they are exported."""
        name, direction = self.explanation.entry.name, self.settings.direction.replace("_", " ")
        texts, residual = scene.input_line(self.explanation), self.selected_residual
        place = f"{name}, {direction}, layer {self.settings.layer}, head {self.settings.head}{texts}"
        axes = {axis: axis for axis in view.AXES}
        bars, redirected = self.draw_bars(axes=axes)(), self.draw_bars(only=STRONG, axes=axes)()
        return {
            "parts": Chart.of(bars, PARTS, self.sentence, f"{name}, {direction}{texts}"),
            "redirected": Chart.of(redirected, REDIRECTED, self.sentence, f"{name}, {direction}{texts}"),
            "residual": Chart.of(residual.draw()(), "Three-way residual", residual.sentence, place),
        }

    def rows(self) -> pd.DataFrame:
        """The numbers of all figures."""
        return scene.stack_tables(
            parts=self.shares.rename(columns={name: f"{name}, share" for name in view.PARTS}),
            residual=self.selected_residual.rows,
        )


@dataclass(frozen=True)
class ContextScene(Scene):
    """parts: what its figures and sentences are made of; of a checkpoint with the residual, `HeadParts`."""

    parts: HeadShares = field(kw_only=True, repr=False)


def build_of_traces(
    explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens
) -> ContextScene:
    """The scene of the parts alone, of the cubes of any trace.  Raises TraceError: no cube; ConfigError: no such layer
    or head."""
    from triattn_core.analysis.maps.trace_context import context_table

    trace = explanations[0].trace
    table = context_table(trace)
    first, asked = anova_text.most_redirected(table), (settings.layer, settings.head)
    layer, head = (number - 1 if number else most for number, most in zip(asked, first))
    parts, labels, name = HeadShares(table, layer, head), axis_labels(trace), str(trace.meta.get("checkpoint", ""))
    sentence = parts.sentence
    numbered = table.assign(head=table["head"] + 1)
    numbered.insert(1, "layer", anova_text.layers_of(table) + 1)
    return ContextScene(
        settings=settings.model_copy(update={"layer": layer + 1, "head": head + 1}),
        draw=lambda: {"context": Chart.of(parts.draw_bars(axes=labels)(), PARTS, sentence, name)},
        tabulate=lambda: numbered,
        trace=trace,
        explanations=explanations,
        parts=parts,
    )


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> ContextScene:
    """The scene.  Raises TraceError where the checkpoint has no cube, ConfigError for no such layer or head."""
    question = Question.put(models, entries[0], example, settings.option and settings.option - 1)
    shares, first = direction_shares(question, settings.direction), most_redirecting(question, settings.direction)
    layer, head = settings.layer or first[0], settings.head or first[1]
    head_row(shares, layer - 1, head - 1)
    part, bits = three_way(question, Site(layer=layer - 1, role=settings.direction), head - 1)
    cell = scene.valid_cell(settings.cell, [range(part.sizes["context"])], (anova_text.strongest(part),))
    option = None if question.option is None else question.option + 1
    resolved = settings.model_copy(update={"layer": layer, "head": head, "cell": cell, "option": option})
    place = (shares, layer - 1, head - 1, settings.by)
    parts = HeadParts(*place, settings=resolved, explanation=question.explanation, part=part, bits=bits)
    return ContextScene(
        resolved, parts.charts, parts.rows, question.explanation.trace, (question.explanation,), parts=parts
    )


def direction_shares(question: Question, direction: str) -> pd.DataFrame:
    """The shares of each head of one direction."""
    table = share_table(question)
    return table[[Site.parse(site).role == direction for site in table["site"]]]


def most_redirecting(question: Question, direction: str) -> tuple[int, int]:
    """Layer and head that context redirects most, from 1."""
    layer, head = anova_text.most_redirected(direction_shares(question, direction))
    return layer + 1, head + 1


def share_table(question: Question) -> pd.DataFrame:
    """Shares of every site and head: see `anova.share_table`."""

    def run(bundle):
        from triattn_core.analysis.maps import anova

        return anova.share_table(question.explanation.trace)

    return question.answer("Taking the cube apart", run)


def three_way(question: Question, site: Site, head: int) -> tuple[xr.DataArray, np.ndarray]:
    """The three-way part of one head, and the bits of each query."""

    def run(bundle):
        from triattn_core.analysis.maps import anova
        from triattn_core.trace.information import mutual_information

        sites = question.explanation.trace.sites
        relevance, weights = (sites[site.with_quantity(name)].isel(head=[head]) for name in ("relevance", "weight"))
        part = anova.three_way_residual(relevance, weights).isel(head=0)
        return part, mutual_information(weights.transpose(..., *anova.AXES).values[0])

    return question.answer("Taking the cube apart", run, site, head)
