"""Settings of a view as one types them: NAME=VALUE, several values with commas between them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError
from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.links import read_link
from triattn_core.scenes.settings import ViewSettings, validate_settings

ROW = "row.json"


def read(kind: type[ViewSettings], texts: Iterable[str], task: str = "pairs") -> dict[str, Any]:
    """Settings from NAME=VALUE texts, in either spelling of `scenes.links`; `draw` checks that values fit their
    types.  Raises ConfigError for a text that is no setting, or JSON that is none."""
    settings = read_link(kind, _named(texts), task)
    return {name: _value(kind, name, value) if isinstance(value, str) else value for name, value in settings.items()}


def read_plain(kind: type[ViewSettings], texts: Iterable[str]) -> dict[str, Any]:
    """The same of a view of a trace alone, whose settings have one spelling."""
    return {name: _value(kind, name, value) for name, value in _named(texts).items()}


def _named(texts: Iterable[str]) -> dict[str, str]:
    typed = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise ConfigError(f"--set {text}: expected NAME=VALUE, such as layer=2")
        typed[name] = value
    return typed


def _value(kind: type[ViewSettings], name: str, text: str) -> Any:
    annotation_text = str(kind.model_fields[name].annotation) if name in kind.model_fields else ""
    if "dict" in annotation_text or ("tuple" in annotation_text and text.startswith("[")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise ConfigError(f"--set {name}={text[:40]}: expected JSON") from None
    return [value for value in text.split(",") if value] if "tuple" in annotation_text else text


def where(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The options by which a command finds models that are not ours: their folders, and modules of one's own."""
    folders = [str(entry.path) for entry in entries if entry.config.get("source") == "hugging_face"]
    builds = [entry.config["build"] for entry in entries if entry.config.get("source") == "module"]
    return (*(["--checkpoints", *folders] if folders else []), *(["--model", *builds] if builds else []))


def command(
    view: str,
    names: Sequence[str],
    settings: dict[str, Any],
    *tail: str,
    found: Sequence[str] = (),
    row: str = ROW,
) -> str:
    """The command that makes the card of a view; the file `row` has the example.  What is as the page opens is left
    out.  tail: what else it is asked, instead of the card's name.  found: see `where`.

    Raises ConfigError for settings that do not fit.
    """
    validated = validate_settings(SCENES[view].settings, settings, view)
    return card_command(view, [*names, row], validated, *(tail or ("--out", f"{view}.zip")), *found)


def card_command(view: str, inputs: Sequence[str], settings: BaseModel, *tail: str) -> str:
    """`triattn card` of a view of these inputs with the settings that are not as the view opens."""
    values = settings.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    parts = [f"{name}={_text(value)}" for name, value in values.items()]
    asked = ["--set", *parts] if parts else []
    return shlex.join(["triattn", "card", view, *inputs, *asked, *tail])


def _text(value: Any) -> str:
    if isinstance(value, list):
        texts = [item if isinstance(item, str) else json.dumps(item) for item in value]
        if not texts or (not any("," in text for text in texts) and not texts[0].startswith("[")):
            return ",".join(texts)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
