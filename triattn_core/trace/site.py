"""Site: where in a model an array of a trace was recorded.  The only code that reads or writes the text of a site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args

from triattn_core.errors import TraceError
from triattn_core.trace.axes import QUANTITIES

_LAYER = re.compile(r"layer\.(0|[1-9][0-9]*|none)")
_VISIT = re.compile(r"visit\.([1-9][0-9]*)")
_SIDES = re.compile(r"(?:^|/)([ab])_over_([ab])(?:/|$)")
_NUMBER = re.compile(r"([0-9]+)")
Side = Literal["encoder", "decoder", "cross"]  # the roles of an encoder-decoder
SIDES: tuple[Side, ...] = get_args(Side)

Value = TypeVar("Value")


@dataclass(frozen=True)
class Site:
    """Where an array was recorded: the module, its layer, which attention there, which of its calls, and what of it.

    module: the path of the module in the model, or the name of the text that our model reads; may be empty.
    layer: the model's own number of the layer, from 0; None where it has none.
    role: what attends over what, such as `a_over_b`; `attention` or `self` where the model has one attention in a
        layer; a part of it after a slash.
    visit: how many times the module had run before in the same example.
    quantity: of `axes.QUANTITIES`; empty for all that was recorded there.

    Its text, in links, files, settings and on the command line, is `[module/]layer.N[/visit.V][/role][/quantity]`;
    without a layer that part is left out, or is `layer.none` after a module:

        layer.0/a_over_b/weight, premise/layer.1/token2token/relevance, attention/weight,
        model.layers.3.self_attn/layer.3/visit.1/attention/weight, encoder.attn/layer.none/self/weight
    """

    module: str = ""
    layer: int | None = None
    role: str = ""
    visit: int = 0
    quantity: str = ""

    @classmethod
    def of(cls, site: Site | str) -> Site:
        """The site itself, or the one that a text means.  Raises TraceError for neither."""
        if isinstance(site, Site):
            return site
        if not isinstance(site, str):
            raise TraceError(f"a site is a text, such as attention/weight, or layer.0 for a layer; got {site!r}")
        return cls.parse(site)

    @classmethod
    @lru_cache(maxsize=4096)
    def parse(cls, text: str) -> Site:
        """The site of a text; `str` writes it again.  A text in no known form is a role."""
        parts = [part for part in text.split("/") if part]
        quantity = parts.pop() if parts and parts[-1] in QUANTITIES else ""
        place = next((i for i in reversed(range(len(parts))) if _LAYER.fullmatch(parts[i])), None)
        module, layer = "", None
        if place is not None:
            number = parts[place].removeprefix("layer.")
            module, layer = "/".join(parts[:place]), None if number == "none" else int(number)
            parts = parts[place + 1 :]
        visit = _VISIT.fullmatch(parts[0]) if parts else None
        return cls(module, layer, "/".join(parts[bool(visit) :]), int(visit[1]) if visit else 0, quantity)

    def __str__(self) -> str:
        layer = "none" if self.layer is None and self.module else self.layer
        parts = (
            self.module,
            "" if layer is None else f"layer.{layer}",
            f"visit.{self.visit}" if self.visit else "",
            self.role,
            self.quantity,
        )
        return "/".join(filter(None, parts))

    def __lt__(self, other: Site) -> bool:
        """By text, numbers by their size: layer 2 comes before layer 10."""
        return self._order < other._order

    def __truediv__(self, part: str) -> Site:
        """The site of a part of this one: `Site(layer=0) / "a_over_b"`."""
        return replace(self, role=f"{self.role}/{part}" if self.role else part)

    def with_quantity(self, quantity: str) -> Site:
        """Another quantity of the same attention."""
        return replace(self, quantity=quantity)

    @property
    def attention(self) -> Site:
        """The site without its quantity."""
        return self.with_quantity("")

    def under(self, name: str) -> Site:
        """The site in a trace of several models or texts, by the name of its own."""
        return self.parse(f"{name}/{self}")

    def is_under(self, name: Site | str) -> bool:
        """Whether the site is within a text, a model, a layer or an attention."""
        return f"{self}/".startswith(f"{name}/")

    @property
    def sides(self) -> tuple[str, str] | None:
        """Which of the texts a and b are query and key, such as ("a", "b") of `a_over_b`; None for other roles."""
        match = _SIDES.search(self.role)
        return (match[1], match[2]) if match else None

    @property
    def layer_name(self) -> str:
        """The layer as people read it, from 1: `layer 1`; empty without one."""
        return "" if self.layer is None else f"layer {self.layer + 1}"

    @property
    def place_name(self) -> str:
        """The layer, how many times it has run, and which of the attentions of an encoder-decoder: `layer 3, cross`."""
        parts = (
            self.layer_name,
            f"run {self.visit + 1}" if self.visit else "",
            self.role if self.role in SIDES else "",
        )
        return ", ".join(filter(None, parts))

    @property
    def file_name(self) -> str:
        """The text without slashes."""
        return str(self).replace("/", "-")

    @property
    def _order(self) -> tuple[str | int, ...]:
        return tuple(int(part) if i % 2 else part for i, part in enumerate(_NUMBER.split(str(self))))


class Sites(dict[Site, Value]):
    """Values by their site; the text of a site is read as that site."""

    def __init__(self, values: Mapping[Site, Value] | Mapping[str, Value] | None = None):
        super().__init__((Site.of(site), value) for site, value in (values or {}).items())

    def __getitem__(self, site: Site | str) -> Value:
        return super().__getitem__(Site.of(site))

    def __setitem__(self, site: Site | str, value: Value) -> None:
        super().__setitem__(Site.of(site), value)

    def __contains__(self, site: object) -> bool:
        return isinstance(site, Site | str) and super().__contains__(Site.of(site))

    def get(self, site: Site | str, default: Any = None) -> Any:
        """The value, or the default where there is none."""
        return super().get(Site.of(site), default)
