"""What is chosen in a view as a link of its page says it, and back: one table of both spellings.

A setting is named as in `Settings`, on the command line and in the manifest of a case card.  Where a link has another
name or another text for it, both are read, on the pages too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triattn_core.errors import ConfigError
from triattn_core.scenes.settings import ViewSettings
from triattn_core.tasks import CHOICES
from triattn_core.trace.site import Site
from triattn_core.views.coin.blocks import ablation_label

ALIASES: Mapping[str, str] = {  # by its name in a link, the setting
    "query-as": "query",
    "key-as": "key",
    "tokens-as": "tokens",
    "passage-as": "passage",
    "question-as": "question",
    "scale": "shared",
    "gate": "features",
    "at": "cell",  # of one axis alone
}
SITE = ("layer", "direction", "quantity")  # of a link, what the setting `site` says
ABLATED = {ablation_label(name): name for name in ("", "context", *(str(Site(layer=i)) for i in range(99)))}
TEXTS: Mapping[str, Callable[[str], Any]] = {  # of a setting, what a text of a link means
    "head": lambda text: None if text == "mean" else text,
    "sinks": lambda text: text.removesuffix(" × even"),
    "shared": lambda text: {"shared": "true", "one each": "false"}.get(text, text),
    "features": lambda text: {"per feature": "true", "per token": "false"}.get(text, text),
    "passage": lambda text: "words" if text == "tokens" else text,
    "question": lambda text: "words" if text == "tokens" else text,
    "off": lambda text: ABLATED.get(text, text),
    "part": lambda text: None if text == "the answer" else text,
    "phrases": lambda text: [part.strip() for part in text.split("|")] if "|" in text else text,
    "cell": lambda text: text.split(".") if "." in text else text,
    "slices": lambda text: text.replace(",", ".").split("."),
    "heads": lambda text: text.split(" and ") if " and " in text else text,
}


def directions(task: str) -> dict[str, str]:
    """Which way the attention of a task runs: by what it is called, its name in sites."""
    a, b = CHOICES[task].WORDS.sides if task in CHOICES else "AB"
    return {f"{a} over {b}": "a_over_b", f"{b} over {a}": "b_over_a"}


def read_link(kind: type[ViewSettings], parameters: Mapping[str, str], task: str) -> dict[str, Any]:
    """Settings by name, of the parameters of a link or as they are typed after `--set`; each still a text.

    Raises ConfigError for a layer or a count of heads that is no number, and for a site that is none.
    """
    texts = dict(parameters)
    fields = kind.model_fields
    if "at" in texts:  # "3  word"
        texts["at"] = texts["at"].partition(" ")[0]
    if "direction" in texts:
        texts["direction"] = directions(task).get(texts["direction"], texts["direction"])
    if _has_direction(kind) and set(SITE) & texts.keys():
        site = _site(str(texts.pop("site", fields["site"].default)))
        layer = _layer(texts.pop("layer")) if "layer" in texts else site.layer
        role, quantity = texts.pop("direction", site.role), texts.pop("quantity", site.quantity)
        texts["site"] = str(Site(layer=layer, role=role, quantity=quantity))
    elif "clusters" in fields or "heads" in fields:  # a layer of one text among several
        number = texts.get("layer", "1")
        if "of" in texts or ("layer" in texts and "." not in number):
            texts["layer"] = str(Site(texts.pop("of", ""), _layer(number)))
    if "heads" in fields and texts.get("heads", "").startswith("all "):
        many = texts["heads"].removeprefix("all ")
        if not many.isdecimal() or len(many) > 3:
            raise ConfigError(f"heads={texts['heads'][:40]}: expected a number after all")
        count = int(many)
        texts |= {"heads": " and ".join(str(i + 1) for i in range(count)), "features": "false"}
    settings = {name if name in fields else ALIASES.get(name, name): text for name, text in texts.items()}
    return {name: TEXTS.get(name, str)(text) if isinstance(text, str) else text for name, text in settings.items()}


def _has_direction(kind: type[ViewSettings]) -> bool:
    """Whether its site is one of A over B or B over A, which links say in parts; of a map of any trace it is not."""
    return "site" in kind.model_fields and kind.model_fields["site"].default is not None


def _layer(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"layer={text[:40]}: expected a number from 1")
    return int(text) - 1


def _site(text: str) -> Site:
    """A site that a link can say: a layer, a direction and a quantity."""
    site = Site.parse(text)
    plain = site == Site(layer=site.layer, role=site.role, quantity=site.quantity)
    if not plain or site.layer is None or site.role not in ("a_over_b", "b_over_a") or not site.quantity:
        raise ConfigError(
            f"site={text[:40]}: expected a site such as {Site(layer=0, role='a_over_b', quantity='weight')}"
        )
    return site


def write_link(settings: ViewSettings, task: str) -> dict[str, str]:
    """The parameters of a link that chooses the same on the page, what the page opens on left out.

    Not in a link are texts (an edited input, a replacement), checkpoints, and what they are compared by.
    Raises ConfigError for a site that is none.
    """
    changes, values = settings.model_dump(exclude_defaults=True, exclude_none=True), dict(settings)
    link: dict[str, str] = {}
    if _has_direction(type(settings)):
        changes.pop("site", None)
        site = _site(str(values["site"]))
        link |= {"layer": str((site.layer or 0) + 1), "quantity": site.quantity}
        link["direction"] = next(label for label, name in directions(task).items() if name == site.role)
        link["head"] = "mean" if values["head"] is None else str(values["head"])
    elif isinstance(layer := changes.pop("layer", None), str):
        site = Site.parse(layer)
        link |= {"layer": str((site.layer or 0) + 1)} | ({"of": site.module} if site.module else {})
    elif layer is not None:
        link["layer"] = str(layer)
    names = {setting: name for name, setting in ALIASES.items()}
    if len(changes.get("cell", ())) > 1:
        del names["cell"]
    for setting in changes.keys() - {"edited", "difference", "seeds", "titles"}:
        link[names.get(setting, setting)] = _text(setting, changes[setting], task)
    if "heads" in values and link.pop("gate", ""):  # all of them, without their features
        link["heads"] = f"all {len(values['heads'] or ())}"
    return link


def _text(setting: str, value: Any, task: str) -> str:
    """A value as the widget of its page has it."""
    if setting == "direction":
        return next(label for label, name in directions(task).items() if name == value)
    texts: dict[str, Callable[[Any], str]] = {
        "cell": lambda cell: ".".join(map(str, cell)),
        "slices": lambda slices: ".".join(map(str, slices)),
        "heads": lambda heads: " and ".join(map(str, heads)),
        "phrases": " | ".join,
        "sinks": lambda times: f"{times:g} × even",
        "shared": lambda shared: "shared",
        "features": lambda features: "per feature",
        "off": ablation_label,
        "hide": lambda hide: "true",
    }
    listed = isinstance(value, tuple | list)
    return texts.get(setting, lambda value: ",".join(map(str, value)) if listed else str(value))(value)
