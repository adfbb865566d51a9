"""Files of the machine that the app runs on: a page reads one by its path only where the app serves that machine alone.

The check belongs where a path is used, not where it is typed: a link, a case or a message of the browser may set a
field that is disabled.
"""

from __future__ import annotations

import streamlit as st

from triattn_core.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_local() -> bool:
    """Whether the app serves this machine alone: it listens on loopback, and no proxy forwards requests to it."""
    hosts = st.get_option("server.allowedHosts") or ()
    return st.get_option("server.address") in LOOPBACK and set(hosts) <= set(LOOPBACK)


def require_local(what: str) -> None:
    """Raises InputError unless the app serves this machine alone.  what: is named by a path, in the plural."""
    if not is_local():
        raise InputError(f"{what} are not read by their path or name here, as this server is not for one machine alone")
