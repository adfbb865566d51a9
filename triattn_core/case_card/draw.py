"""A view of whatever has attention: an example under checkpoints, or a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from triattn_core.case_card.rendered import RenderedView
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError, choices
from triattn_core.importers.text_rows import example_fields
from triattn_core.scenes.catalogue import SCENES, TRACE_VIEWS
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import validate_settings
from triattn_core.scenes.trace_sites import on_first_head
from triattn_core.sources import open_source
from triattn_core.sources.explanation import Explanation
from triattn_core.sources.models import Models
from triattn_core.sources.source import Ability, Source
from triattn_core.tasks import TASKS, as_example, check, text_task


def draw(view: str, what: Any, example: Any = None, models: Models | None = None, **settings: Any) -> RenderedView:
    """A view of SCENES of an example under one or several checkpoints, all of one task; or of a trace alone.

    what: a checkpoint (its name, folder or entry, or loaded), several of them; or a trace, a file that holds one, what
    another source opens, two of these side by side.  example: of the checkpoints' task, its fields as a dict, or its
    text or texts.  settings: of the view, see its module; what is left out is as the page opens.  models: who runs the
    checkpoints.

    >>> pair = {"text_a": "Is it red?", "text_b": "Is it blue?"}
    >>> print(draw("cube", "quora-tri-living", pair, head=4, cell=(0, 1, 2)).settings.site)
    layer.0/a_over_b/weight
    >>> draw("map", trace_of([[0.75, 0.25], [0.0, 1.0]])).figure.caption
    'array, attention'

    Raises TriattnError in one line: no such view, checkpoint or setting, an example that does not fit.
    """
    if view not in SCENES:
        raise ConfigError(f"no view {view!r}; {choices(str(view), SCENES)}")
    validated = validate_settings(SCENES[view].settings, settings, view)
    several = what if isinstance(what, Sequence) and not isinstance(what, str | bytes) else [what]
    sources = [open_source(_of_loaded(part)) for part in several]
    if not any(map(_runs, sources)):
        return _of_traces(view, sources, validated, example)
    if alone := next((source for source in sources if not _runs(source)), None):
        raise ConfigError(f"{alone.title} is no model: save the traces of the models, to draw them beside it")
    entries = [source.entry for source in sources]
    _check_entries(view, entries)
    task = entries[0].config["task"]
    if "source" in entries[0].config:
        example = example_fields(example, "the example") if isinstance(example, Mapping) else example
        task = text_task(task, example)
    example = as_example(task, example)
    check(TASKS[task], example, entries[0].name)
    scene = SCENES[view].build(models or Models(), entries, example, validated)
    return _rendered(scene, view=view, task=task, row=TASKS[task].row(example))


def _of_loaded(what: Any) -> Any:
    """The folder of a checkpoint that is loaded; anything else as it is."""
    return what.path if hasattr(what, "logits") else what


def _runs(source: Source) -> bool:
    """Whether it is run on an example, as the registry lists it; else its trace alone is drawn."""
    return hasattr(source, "entry") and Ability.RUN in source.abilities


def _of_traces(view: str, sources: Sequence[Source], settings: Any, example: Any) -> RenderedView:
    """The view of the traces that sources give without an example, such as files."""
    of_traces, most = SCENES[view].of_traces, SCENES[view].most
    if of_traces is None:
        raise ConfigError(f"no view {view!r} of a trace alone; {choices(view, TRACE_VIEWS)}")
    if not 1 <= len(sources) <= most:
        raise ConfigError(f"{view} shows {'one trace' if most == 1 else 'two traces'}, got {len(sources)}")
    option = getattr(settings, "option", None)
    explanations = [Explanation.of_source(source, example, option and option - 1) for source in sources]
    names = [explanation.entry.name for explanation in explanations]
    if len(set(names)) < len(names):
        explanations = [
            replace(explanation, entry=replace(explanation.entry, name=f"{name}, {number}"))
            for number, (name, explanation) in enumerate(zip(names, explanations), start=1)
        ]
    traces = [explanation.trace for explanation in explanations]
    scene = of_traces(explanations, on_first_head(settings, *traces))
    return replace(_rendered(scene, view=view), trace=traces[0])  # whole: figures may show it folded


def _rendered(scene: Scene, **asked: Any) -> RenderedView:
    return RenderedView(**{part.name: getattr(scene, part.name) for part in fields(Scene)}, **asked)


def _check_entries(view: str, entries: Sequence[Entry]) -> None:
    """Raises ConfigError: too many checkpoints, one twice, or of different tasks."""
    most = SCENES[view].most
    if not 1 <= len(entries) <= most:
        shows = "one checkpoint" if most == 1 else f"one to {most} checkpoints"
        raise ConfigError(f"{view} shows {shows}, got {len(entries)}")
    called = [entry.name for entry in entries]
    if twice := next((name for name in called if called.count(name) > 1), None):
        raise ConfigError(f"two of these checkpoints are called {twice}: name each once, or rename a folder")
    task = entries[0].config["task"]
    if other := next((entry for entry in entries if entry.config["task"] != task), None):
        raise ConfigError(
            f"checkpoints must share a task: {entries[0].name} is {task}, {other.name} is {other.config['task']}"
        )
