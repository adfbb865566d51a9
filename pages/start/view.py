"""The language and the step of training that Start shows, in its link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.shared.errors import notice
from triattn_core.errors import quote

LANGUAGE, STEP = "spoken", "step"


def from_link(screen: Mapping[str, Any]) -> tuple[int, int]:
    """The language and the frame that a link names; the first language and the last frame without one."""
    frames = [frame["step"] for frame in screen["tri"]["frames"]]
    spoken, step = st.query_params.get(LANGUAGE), st.query_params.get(STEP)
    if spoken is not None and spoken not in screen["languages"]:
        notice(f"The link asks for the language {quote(spoken)}; there are {', '.join(screen['languages'])}.")
    if step is not None and step not in map(str, frames):
        notice(f"The link asks for step {quote(step)}; the training is kept every {frames[2] - frames[1]} steps.")
    language = screen["languages"].index(spoken) if spoken in screen["languages"] else 0
    return language, frames.index(int(step)) if step in map(str, frames) else len(frames) - 1


def to_link(screen: Mapping[str, Any], chosen: Sequence[int] | None) -> None:
    """Writes what was chosen into the link."""
    if chosen is None:
        return
    language, frame = (int(number) for number in chosen)
    st.query_params[LANGUAGE] = screen["languages"][language]
    st.query_params[STEP] = str(screen["tri"]["frames"][frame]["step"])
