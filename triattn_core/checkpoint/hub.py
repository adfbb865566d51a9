"""Whether files may be downloaded from the Hugging Face hub: only if you allow it."""

from __future__ import annotations

import os

VARIABLE = "TRIATTN_HUB"
FLAG = "--hub"
OFFERED = f"{FLAG}, or {VARIABLE}=1, asks the Hugging Face hub"


def hub_allowed() -> bool:
    """Whether the hub may be used; by default nothing leaves this machine."""
    return os.environ.get(VARIABLE, "").strip().lower() in ("1", "true", "yes", "on")


def settle_hub(allow: bool) -> None:
    """Allow or forbid the hub for this process and its children; call it before a hub library is imported.

    These libraries make look-ups even for local files unless their environment variable is set.
    """
    if allow:
        os.environ[VARIABLE] = "1"
    if not hub_allowed():
        os.environ["HF_HUB_OFFLINE"] = "1"
