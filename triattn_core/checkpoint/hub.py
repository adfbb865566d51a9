"""Whether the Hugging Face hub may be asked for what is not on this machine: only where somebody says so."""

from __future__ import annotations

import os

VARIABLE = "TRIATTN_HUB"
FLAG = "--hub"
OFFERED = f"{FLAG}, or {VARIABLE}=1, asks the Hugging Face hub"


def hub_allowed() -> bool:
    """Whether the hub may be asked; by default nothing leaves this machine."""
    return os.environ.get(VARIABLE, "").strip().lower() in ("1", "true", "yes", "on")


def settle_hub(allow: bool) -> None:
    """Decides for this process and its children, before a library of the hub is imported.

    These libraries look something up even where they are told to stay local, unless a variable of theirs is set.
    """
    if allow:
        os.environ[VARIABLE] = "1"
    if not hub_allowed():
        os.environ["HF_HUB_OFFLINE"] = "1"
