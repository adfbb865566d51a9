"""Reading a checkpoint's config.json, which says what the model is and how it was trained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from triattn_core.checkpoint.old_names import current_config
from triattn_core.configs.parts import CheckpointConfig
from triattn_core.errors import ConfigError, choices
from triattn_core.kinds import KINDS, load_kind

NO_CHANGES: Mapping[str, Any] = MappingProxyType({})


def read_config(path: Path, changes: Mapping[str, Any] = NO_CHANGES) -> CheckpointConfig:
    """Reads a config by its "kind", with `changes` applied by dotted name: {"model.layers": 3}.

    Raises ConfigError in one line that names the file, the key and what to do.
    """
    try:
        settings = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigError(f"{path}: not a JSON file ({reason})") from None
    for name, value in changes.items():
        *parts, last = name.split(".")
        parent = settings
        for part in parts:
            parent = parent.setdefault(part, {}) if isinstance(parent, dict) else None
        if not isinstance(parent, dict):
            raise ConfigError(f"{path}: {name!r} is no setting: its parts are objects of the file")
        parent[last] = value
    settings = current_config(settings)
    kind = str(settings.get("kind", "tan")) if isinstance(settings, dict) else "tan"
    if kind not in KINDS:
        raise ConfigError(f"{path}: unknown kind {settings['kind']!r:.60}; {choices(kind, KINDS)}")
    section = load_kind(kind).section()
    try:
        return section.model_validate(settings)
    except ValidationError as error:
        raise ConfigError(error_line(path, error, _keys(section))) from None


def _keys(section: type[BaseModel]) -> set[str]:
    """All keys that a config of this class may have."""
    types = [field.annotation for field in section.model_fields.values()]
    nested = [annotation for annotation in types if isinstance(annotation, type) and issubclass(annotation, BaseModel)]
    return {key for model in (section, *nested) for key in model.model_fields}


def error_line(path: Path, error: ValidationError, keys: set[str]) -> str:
    """The first validation error of a settings file, in one line; `keys`: all keys that such a file may have."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return f"{path}: unknown key {key!r}; {choices(str(first['loc'][-1]), keys)}"
    message = first["msg"].removeprefix("Value error, ")
    value = f"{first['input']!r:.60}"
    return f"{path}: {key or 'file'}: {message}" + ("" if value in message else f", got {value}")
