"""Sources of predictions and traces: checkpoints of ours, models of Hugging Face, modules of one's own, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from triattn_core.checkpoint.own_modules import by_longer_names
from triattn_core.checkpoint.registry import Entry, checkpoint_name, find_checkpoint, list_checkpoints
from triattn_core.errors import CheckpointError, ConfigError
from triattn_core.sources.checkpoint import CheckpointSource
from triattn_core.sources.file import FileSource
from triattn_core.sources.hugging_face import HuggingFaceSource
from triattn_core.sources.own_module import OwnModuleSource

# By name.  `of`, called with what was given and a device, returns a source, or None where that is not its; `entries`,
# where it is there, returns those that are offered on pages and by name (`list_others`).
SOURCES: Mapping[str, Any] = {
    "file": FileSource,
    "hugging_face": HuggingFaceSource,
    "module": OwnModuleSource,
    "checkpoint": CheckpointSource,
}


def open_source(what: Any, device: str | None = None) -> Any:
    """Returns the source that something names or is: the name or folder of a checkpoint, the folder of a Hugging Face
    model, a file, an open trace, an entry of the registry; a source is returned as it is.  Nothing is loaded.

    >>> source = open_source("quora-tri-living")
    >>> source.title, sorted(source.axes)
    ('quora-tri-living', ['context', 'head', 'key', 'query'])

    Raises TriattnError in one line: nothing of that name.
    """
    if hasattr(type(what), "abilities"):
        return what
    opened = (kind.of(what, device) for kind in SOURCES.values())
    if (source := next(filter(None, opened), None)) is not None:
        return source
    if not isinstance(what, str | Path):
        raise ConfigError(f"expected a name, a path or a trace, got {type(what).__name__}")
    return open_source(find_entries([str(what)])[0], device)


def list_others() -> list[Entry]:
    """Returns what sources offer beside the checkpoints of ours, as entries whose config has `"source"`: Hugging Face
    models in the folders of checkpoints, modules that were named on the command line."""
    return [entry for kind in SOURCES.values() if hasattr(kind, "entries") for entry in kind.entries()]


def find_entries(names: Sequence[str]) -> list[Entry]:
    """Returns the checkpoints and Hugging Face models of these names or folders.  Raises CheckpointError: not there, or
    damaged."""
    by_name = by_longer_names() | {entry.name: entry for entry in (*list_checkpoints(), *list_others())}
    entries = []
    for name in names:
        if name not in by_name:
            path = find_checkpoint(name)
            by_name[name] = replace(list_checkpoints(path)[0], name=checkpoint_name(path))
        if problem := by_name[name].problem:
            raise CheckpointError(problem)
        entries.append(by_name[name])
    return entries
