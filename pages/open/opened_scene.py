"""The scene of an opened trace: built once for all sessions, drawn by one call, and saved as it is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.shared import canvas_component, export
from pages.shared.page_scene import ShownScene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings
from triattn_core.scenes.trace_pair import PairScene, TraceSide, build_pair
from triattn_core.scenes.trace_scenes import TRACE_SCENES, draw_trace
from triattn_core.trace import AttentionTrace


@dataclass(kw_only=True)
class OpenedScene(ShownScene):
    """The scene of a view of TRACE_SCENES."""

    trace: AttentionTrace

    @classmethod
    def build(cls, view: str, trace: AttentionTrace, source: str, settings: ViewSettings, *parts: str) -> OpenedScene:
        """The scene of a view.  Raises TriattnError.

        source: identifies the trace.  parts: of the figure's key: what changes its cells, but the trace.
        """
        scene = _scene(trace, source, view, settings.model_dump_json())
        return cls(view=view, trace=trace, scene=scene, key=canvas_component.key(f"open-{view}", source, *parts))

    def export_menu(self, name: str) -> None:
        """The button Export.  name: of the files, without ending."""
        render = lambda: draw_trace(self.view, self.trace, **self.settings.model_dump())  # noqa: E731
        export.trace_menu(name, self.key, render)


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


@st.cache_resource(max_entries=16, show_spinner=False)
def _scene(_trace: AttentionTrace, source: str, view: str, settings: str) -> Scene:
    """Kept, so that a click builds nothing."""
    kind, build = TRACE_SCENES[view]
    return build(_trace, kind.model_validate_json(settings))


@st.cache_resource(max_entries=8, show_spinner=False)
def _pair(_left: TraceSide, _right: TraceSide, key: str) -> PairScene:
    return build_pair(_left, _right)
