"""What is chosen in a view: validated, as the page, the command line and the manifest of a case card have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
)

from triattn_core.errors import ConfigError, choices
from triattn_core.trace import Choice
from triattn_core.trace.site import Site
from triattn_core.trace.token_grouping import TokenGrouping


def _site(value: Any) -> Site:
    if not isinstance(value, Site | str):
        raise ValueError("a site is a text, such as attention/weight")
    return Site.of(value)


# A site, or its text, with which it is written.
SiteSetting = Annotated[Site, PlainValidator(_site), PlainSerializer(str, return_type=str)]
# A head, from 1; None is the mean of heads, which may be written "mean", and is what an array without heads has.
MeanOrHead = Annotated[
    Annotated[int, Field(ge=1)] | None, BeforeValidator(lambda head: None if head == "mean" else head)
]
# Positions on axes; of one axis its position alone.
Positions = Annotated[tuple[int, ...], BeforeValidator(lambda given: (given,) if isinstance(given, int) else given)]
Unit = Literal["tokens", "words", "phrases", "sentences"]  # to what an axis folds


class ViewSettings(BaseModel):
    """What is chosen on a page.  None is what the page opens on; the settings of a `Scene` hold the resolved value.

    Numbers that a user sees count from 1 (head, option, layer in words); positions of cells and sites from 0.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def of(cls, choice: Choice, **other: Any) -> Mapping[str, Any]:
        """A page's choice of a site, and the head that it picks, as settings."""
        head = next((head_index + 1 for axis, head_index in choice.index if axis == "head"), None)
        return {"site": choice.site, "head": head, **other}


class CellSettings(ViewSettings):
    """Of a view in which a cell is chosen."""

    cell: tuple[int, ...] | None = None


class GroupingSettings(CellSettings):
    """Of a view whose axes fold.  phrases: the user's own."""

    phrases: tuple[str, ...] = ()

    def group_tokens(self, **units: str) -> TokenGrouping:
        """To what each axis folds, and what is hidden."""
        return TokenGrouping(tuple(units.items()), self.phrases)


class TextSettings(GroupingSettings):
    """Of texts that attend to themselves.  tokens: to what both axes fold."""

    tokens: Literal["tokens", "words", "phrases"] = "tokens"

    def grouping(self) -> TokenGrouping:
        return self.group_tokens(query=self.tokens, key=self.tokens)


class HidingSettings(GroupingSettings):
    """Of a view that hides tokens.  hide: leave out special tokens, and sinks, which receive more than so many times an
    even share."""

    hide: bool = False
    sinks: float | None = Field(None, gt=0)

    def group_tokens(self, **units: str) -> TokenGrouping:
        return TokenGrouping.of(self.phrases, self.hide, self.sinks, **units)


Kind = TypeVar("Kind", bound=ViewSettings)


def validate_settings(kind: type[Kind], settings: Mapping[str, Any], where: str) -> Kind:
    """Settings that fit.  Raises ConfigError naming the first that does not."""
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        if first["type"] == "extra_forbidden":
            raise ConfigError(f"{where}: no setting {name!r}; {choices(name, kind.model_fields)}") from None
        raise ConfigError(f"{where}: {name}: {first['msg']}") from None
