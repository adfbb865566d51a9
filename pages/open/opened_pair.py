"""Two opened traces beside each other: built once for all sessions, drawn by one call, and saved as it is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.shared import canvas_component, export
from pages.shared.page_scene import ShownScene
from triattn_core.scenes.trace_pair import PairScene, TraceSide, build_pair


@dataclass(kw_only=True)
class OpenedPair(ShownScene):
    """The scene of two traces, or two heads of one, beside each other."""

    left: TraceSide
    right: TraceSide
    scene: PairScene

    @classmethod
    def build(cls, left: TraceSide, right: TraceSide, sources: Sequence[str]) -> OpenedPair:
        """sources: what identifies each trace.  Raises TraceError."""
        scene, key = _pair(left, right, f"{sources} {left} {right}"), canvas_component.key("open-pair", *sources)
        return cls(view="pair", left=left, right=right, scene=scene, key=key)

    def export_menu(self, name: str) -> None:
        """The button Export.  name: of the files, without ending."""
        export.pair_menu(name, self.key, lambda: build_pair(self.left, self.right, tuple(self.cell)))


@st.cache_resource(max_entries=8, show_spinner=False)
def _pair(_left: TraceSide, _right: TraceSide, key: str) -> PairScene:
    return build_pair(_left, _right)
