"""Modules of one's own that the app may run: those named on its command line, and no others."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from triattn_core.checkpoint.registry import Entry

VARIABLE = "TRIATTN_MODULES"  # JSON: the facts of each, of which the server of the app learns by this variable alone


def list_modules() -> tuple[Entry, ...]:
    """Returns the modules that were named on the command line, as entries whose config has `"source": "module"`, the
    function that builds it (`build`), and the axes that its attention had on a probe."""
    facts: list[dict[str, Any]] = json.loads(os.environ.get(VARIABLE) or "[]")
    names = _names([fact["build"] for fact in facts])
    return tuple(_entry(name, **fact) for name, fact in zip(names, facts))


def by_longer_names() -> dict[str, Entry]:
    """The modules under each name that only one of them has: a command of one may name it as it stood beside others."""
    named = [(name, entry) for entry in list_modules() for name in _names_of(entry.config["build"])]
    count = Counter(name for name, _ in named)
    return {name: entry for name, entry in named if count[name] == 1}


def offer(builds: Sequence[str], facts: Sequence[dict[str, Any]]) -> None:
    """Offers modules to this process and its children.

    builds: `FILE.py:function`; facts: of each `digest`, `layers`, `heads`, `axes`, `predicts`, the kind of answers,
    empty without any, `embeds`, whether gradients reach its tokens, and `reads`, a `text`, a `pair`, or a
    `picture` and no text.
    """
    named = [{"build": build, **fact} for build, fact in zip(builds, facts, strict=True)]
    os.environ[VARIABLE] = json.dumps(named)


def _names_of(build: str) -> tuple[str, ...]:
    """The names that a module may have, the shortest first: beside others it has a longer one."""
    file, _, function = build.rpartition(":")
    stem, folder = Path(file).stem, Path(file).parent.name
    return stem, f"{folder}/{stem}", f"{stem}:{function}", f"{folder}/{stem}:{function}", build


def _names(builds: Sequence[str]) -> list[str]:
    """Names of modules: that of the file, where several share it with its folder or its function before or after it."""
    ways, names = [_names_of(build) for build in builds], []
    for own in ways:
        alike = [other for other in ways if other[0] == own[0]]
        fitting = (i for i in range(len(own)) if len({other[i] for other in alike}) == len(alike))
        names.append(own[next(fitting, -1)])
    return names


def _entry(name: str, build: str, axes: Sequence[str], digest: str, **found: Any) -> Entry:
    path = Path(build.rpartition(":")[0])
    model = {"mechanism": "multi_head", **found}
    config = {"source": "module", "task": "pairs", "build": build, "axes": list(axes), "model": model}
    problem = None if path.is_file() else f"{path}: no such file"
    return Entry(name, path, config, {}, digest, 0 if problem else path.stat().st_size, problem)
