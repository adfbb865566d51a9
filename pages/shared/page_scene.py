"""A scene on its page: built once for all sessions, drawn by one call, and saved with the cell that was clicked."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.shared import canvas_component, cell_command, export, kept_cell, model_jobs, save_case, study_strip
from pages.shared.models import MODELS
from triattn_core.checkpoint.registry import Entry
from triattn_core.inference.device import choose_device
from triattn_core.inference.result_cache import ResultCache
from triattn_core.scenes.catalogue import SCENES
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import ViewSettings
from triattn_core.sources.explanation import Explanation
from triattn_core.tasks import TASKS, text_task
from triattn_core.trace import AttentionTrace, Choice

SCENE_BYTES = 200_000_000  # of the scenes that are kept, with the traces that they show


@st.cache_resource
def scenes() -> ResultCache:
    """What was built, for all sessions."""
    return model_jobs.session_bound_cache(ResultCache(SCENE_BYTES))


@dataclass(kw_only=True)
class ShownScene:
    """A scene and the choices made in its figures, which change with a click without a new scene.

    key: of the figure, which keeps its cell as long as the key stays.  choices: settings by name.  question: to which
    the figure opens at the answer, where the view has one.
    """

    view: str
    scene: Scene
    key: str
    choices: dict[str, Any] = field(default_factory=dict)
    question: str = ""

    @property
    def cell(self) -> Sequence[int]:
        """The chosen cell."""
        return self.choices.get("cell", self.scene.settings.cell)

    @property
    def settings(self) -> ViewSettings:
        """The settings with the choices."""
        return self.scene.settings.model_copy(update=self.choices)

    def choose(self, costed: str = "") -> Sequence[int]:
        """Draws the figure, and returns the chosen cell; call it in a fragment, so that a click runs that alone.

        costed: see `canvas_component.show`.
        """
        clicked, axes = canvas_component.show(self.scene.screen, self.key, costed=costed), self.scene.axes
        kept_cell.keep_cell(self.view, self.key, self.scene, self.question)
        clicked = None if clicked is None else clicked[: len(axes)]
        cell = canvas_component.cell(self.key, clicked, axes, self.scene.settings.cell)
        self.choices["cell"] = tuple(cell)
        kept_cell.remember(self.view, self.key, self.scene, cell, self.question)
        return cell

    def show_command(self, choice: Choice, position: Mapping[str, int]) -> None:
        """Shows the command that prints the numbers of a cell again, where there is one.  position: of each axis."""

    def answer(self, **content: Any) -> None:
        """Sends the chosen cell and its numbers to the figure, whose cells may have further coordinates."""
        further = [axis[0] for axis in self.scene.screen.extents[len(self.cell) :]]
        canvas_component.answer(self.key, {"cell": [*self.cell, *further], **content})


@dataclass(kw_only=True)
class TraceScene(ShownScene):
    """The scene of a trace alone, such as one that was opened from a file."""

    opened: AttentionTrace

    @classmethod
    def build(cls, view: str, trace: AttentionTrace, source: str, settings: ViewSettings, *parts: str) -> TraceScene:
        """The scene of a view of `TRACE_VIEWS`, cached.  Raises TriattnError.

        source: identifies the trace.  parts: of the figure's key: what changes its cells, but the trace.
        """
        request = (view, source, settings.model_dump_json())
        scene = scenes().get(request)
        if scene is None:
            of_traces = SCENES[view].of_traces
            assert of_traces
            scene = of_traces([Explanation.of_trace(trace)], settings)
            scenes().put(request, scene)
        return cls(view=view, opened=trace, scene=scene, key=canvas_component.key(f"open-{view}", source, *parts))

    def save_menus(self, name: str) -> None:
        """The button Export.  name: of the files, without ending."""
        saved = export.Saved(self.view, self.opened, None, lambda: self.settings.model_dump())
        export.menu(name, self.key, saved, self.scene)


@dataclass(kw_only=True)
class PageScene(ShownScene):
    """The scene of checkpoints on an example."""

    entries: Sequence[Entry]
    example: Any

    @classmethod
    def build(
        cls,
        view: str,
        entries: Sequence[Entry],
        example: Any,
        settings: ViewSettings,
        *parts: str,
        explanations: Sequence[Explanation] = (),
    ) -> PageScene:
        """The scene of a view of `SCENES`, cached.  Raises TriattnError.

        parts: of the figure's key: the texts, and whatever else changes its cells.  explanations: of the example, where
        the page has them and the view can be built of them.
        """
        study_strip.note_example(example)
        request, builder = _request(view, entries, example, settings), SCENES[view]
        scene = scenes().get(request)
        if scene is None:
            if explanations and builder.of_traces:
                scene = builder.of_traces(explanations, settings, MODELS.read)
            else:
                scene = builder.build(MODELS, entries, example, settings)
            scenes().put(request, scene)
        key = canvas_component.key(view, *parts)
        return cls(view=view, entries=entries, example=example, scene=scene, key=key)

    @classmethod
    def stream(cls, view: str, entries: Sequence[Entry], example: Any, settings: ViewSettings) -> Iterator[PageScene]:
        """The same for a view whose scene is built in parts: yields each part, the complete scene last."""
        request = _request(view, entries, example, settings)
        scene = scenes().get(request)
        if scene is not None:
            yield cls(view=view, entries=entries, example=example, scene=scene, key=view)
            return
        for scene in SCENES[view].stream(MODELS, entries, example, settings):
            yield cls(view=view, entries=entries, example=example, scene=scene, key=view)
        scenes().put(request, scene)

    @property
    def row(self) -> Mapping:
        """The example in the file format of its task."""
        return TASKS[self.task].row(self.example)

    @property
    def task(self) -> str:
        """The task of the example."""
        return text_task(self.entries[0].config["task"], self.example)

    def show_command(self, choice: Choice, position: Mapping[str, int]) -> None:
        place: dict[str, Any] = {**dict(choice.index), **dict(choice.reduce), **position}
        option = getattr(self.scene.settings, "option", None)
        cell_command.command(
            self.entries[0].name, self.row, cell_command.cell(self.scene.trace, choice.site, place, option)
        )

    def save_menus(self, name: str) -> None:
        """The buttons Keep and Export.  name: of the files, without ending; charts have menus of their own."""
        with st.popover("Keep", width=76, key="keep"):
            save_case.form(self.task, self.row, self.view)
        if self.scene.screen is None:
            export.case_card(self.view, self.entries, self.example, self.settings.model_dump())
            return
        saved = export.Saved(self.view, self.entries, self.example, lambda: self.settings.model_dump())
        export.menu(name, self.key, saved, self.scene)


def _request(view: str, entries: Sequence[Entry], example: Any, settings: ViewSettings) -> Hashable:
    """What a scene depends on."""
    digests = tuple((entry.name, entry.digest) for entry in entries)
    return view, digests, choose_device(), example, settings.model_dump_json()


@st.fragment
def explore(page: ShownScene) -> None:
    """The figure of a view that has nothing else to say of a cell."""
    page.choose()
    page.answer()
