"""What a config that does not fit is refused with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triattn_core.checkpoint.config import read_config
from triattn_core.errors import ConfigError


def check_config_error(folder: Path, config: dict, part: str | None, settings: dict, message: str) -> None:
    """Reads `config` with `settings` in its `part` (None: at its top): one line that has `message` refuses it."""
    config = json.loads(json.dumps(config))
    (config[part] if part else config).update(settings)
    path = folder / "config.json"
    path.write_text(json.dumps(config), "utf-8")
    with pytest.raises(ConfigError) as error:
        read_config(path)
    assert message in str(error.value) and "\n" not in str(error.value)
