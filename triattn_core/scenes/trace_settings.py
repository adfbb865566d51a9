"""What is chosen in the views of a trace alone, which no checkpoint stands behind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from triattn_core.scenes.settings import CellSettings, HidingSettings, TextSettings, Unit, ViewSettings
from triattn_core.trace.token_grouping import TokenGrouping

Head = Annotated[int, Field(ge=1)] | Literal["mean"] | None  # from 1; None is the first, where there are heads
Measure = Literal["entropy", "query_information", "context_information", "distance", "sink", "special"]


class CubeSettings(HidingSettings):
    """site: None is that of the layer, from 1, and of the first without one.  query, key, context: to what each folds.
    cell: positions of the three axes."""

    site: str | None = None
    layer: int | None = Field(None, ge=1)
    head: Head = None
    query: Unit = "tokens"
    key: Unit = "tokens"
    context: Unit = "tokens"

    def grouping(self) -> TokenGrouping:
        """To what each axis folds, and what is hidden."""
        return self.group_tokens(query=self.query, key=self.key, context=self.context)


class GridSettings(CellSettings):
    """measure: below each thumbnail.  cell: layer and head that are framed, from 0."""

    measure: Measure = "query_information"


class MapSettings(TextSettings):
    """site: without its quantity, or `rollout`; None is that of the layer, from 1, and of the first without one.
    cell: positions of query and key."""

    site: str | None = None
    layer: int | None = Field(None, ge=1)
    head: Head = None
    quantity: Literal["weight", "relevance"] = "weight"


class ContextSettings(ViewSettings):
    """layer, head: from 1, of a cube; None is what context redirects most."""

    layer: int | None = Field(None, ge=1)
    head: int | None = Field(None, ge=1)
