"""What is chosen on the page Intervene."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from triattn_core.analysis.catalogue import REPLACEMENTS
from triattn_core.literal import one_of
from triattn_core.scenes.settings import ViewSettings

DRAWS = 20  # random choices of as many units


class Settings(ViewSettings):
    """how: see `interventions`.  unit: to what the context is cut, None as the page opens; units: which, by name; None
    is the one that tells most alone, where each is asked alone, else the first.

    text: of replace, empty is [MASK].  order: of reorder; shuffle: its seed.  other: of swap the other example's row.
    direction, layer, head: of the maps, from 1; None is the mean of heads.  random: choices of as many units, drawn
    from `seed`; 0 leaves them out.  null: what attention becomes in `draws` draws from `seed`, along an axis; None
    leaves them out, for each draw asks the model again.  option: of a task that chooses among texts, from 1.
    """

    how: Literal["remove", "mask", "replace", "reorder", "swap"] = "remove"
    unit: Literal["tokens", "sentences", "turns"] | None = None
    units: tuple[str, ...] | None = None
    text: str = ""
    order: Literal["chosen first", "chosen last", "reversed", "shuffled"] = "chosen first"
    shuffle: int = 1
    other: dict[str, Any] | None = None
    direction: Literal["a_over_b", "b_over_a"] = "a_over_b"
    layer: int = Field(1, ge=1)
    head: int | None = Field(None, ge=1)
    random: int = Field(DRAWS, ge=0)
    null: Annotated[str, one_of(REPLACEMENTS)] | None = None
    along: Literal["key", "context"] = "key"
    draws: int = Field(40, ge=1)
    seed: int = 0
    option: int | None = Field(None, ge=1)
