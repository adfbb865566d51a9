"""Modules of one's own that the app may run: those named on its command line, and no others."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from triattn_core.checkpoint.registry import Entry

VARIABLE = "TRIATTN_MODULES"  # JSON: the facts of each, of which the server of the app learns by this variable alone


def list_modules() -> tuple[Entry, ...]:
    """Returns the modules that were named on the command line, as entries whose config has `"source": "module"`, the
    function that builds it (`build`), and the axes that its attention had on a probe."""
    facts: list[dict[str, Any]] = json.loads(os.environ.get(VARIABLE) or "[]")
    return tuple(_entry(**fact) for fact in facts)


def offer(builds: Sequence[str], facts: Sequence[dict[str, Any]]) -> None:
    """Offers modules to this process and its children.  builds: `FILE.py:function`; facts: of each `layers`, `heads`,
    `axes`, `predicts`, the kind of answers, empty without any, `embeds`, whether gradients reach its tokens, and
    `reads`, a `text` or a `pair`."""
    named = [{"build": build, **fact} for build, fact in zip(builds, facts, strict=True)]
    os.environ[VARIABLE] = json.dumps(named)


def _entry(build: str, axes: Sequence[str], **found: Any) -> Entry:
    path = Path(build.rpartition(":")[0])
    model = {"mechanism": "multi_head", **found}
    config = {"source": "module", "task": "pairs", "build": build, "axes": list(axes), "model": model}
    problem = None if path.is_file() else f"{path}: no such file"
    data = b"" if problem else path.read_bytes()
    return Entry(path.stem, path, config, {}, sha256(data).hexdigest(), len(data), problem)
