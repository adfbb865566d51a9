"""The folder of an encoder by name, found without loading torch."""

from __future__ import annotations

import os
from pathlib import Path

from triattn_core.checkpoint.hub import OFFERED, hub_allowed
from triattn_core.checkpoint.registry import WEIGHTS, encoder_root, find_encoder, shorten
from triattn_core.errors import CheckpointError


def encoder_folder(name: str) -> Path:
    """The local folder of an encoder, from the hub's cache or, if allowed, the hub.  Raises CheckpointError if there is
    none."""
    for path in (find_encoder(name), Path(name)):
        if path and os.path.isfile(path / "config.json"):
            return path
    try:
        return _hub_folder(name)
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise CheckpointError(
            f"encoder {shorten(name)!r}: not under {encoder_root()}, not a folder, and {reason}"
        ) from None


def _hub_folder(name: str) -> Path:
    """The cached folder of a hub encoder, downloaded only if that is allowed.  Raises OSError, ValueError."""
    from transformers.utils import cached_file

    try:  # file by file: if the first is missing, the others are not requested
        names = ("config.json", WEIGHTS, "tokenizer.json")
        paths = [cached_file(name, file, local_files_only=not hub_allowed()) for file in names]
        return Path(str(paths[0])).parent
    except OSError as error:
        raise error if hub_allowed() else FileNotFoundError(f"it was not fetched before; {OFFERED}") from None
