"""Readers under several similarity functions, as their page draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError
from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import GroupingSettings
from triattn_core.sources.explanation import Explanation, describe_duration
from triattn_core.sources.models import Models
from triattn_core.tasks import questions
from triattn_core.trace import AttentionTrace
from triattn_core.trace.token_grouping import TokenGrouping, strongest_pair
from triattn_core.views import similarity as view
from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.similarity.panels import ATTENTION

if TYPE_CHECKING:
    from triattn_core.inference.predictions import Answer

WordUnit = Literal["words", "phrases", "sentences"]


class Settings(GroupingSettings):
    """shared: one colour scale for all.  part: of a long passage, from 1; None is where the last reader's answer is.
    titles: what the functions are called; None is as the page does where no others are there.
    passage, question: to what their words fold.  cell: positions of passage word, question word and function."""

    quantity: Literal["relevance", "centred", "weight", "over passage"] = (
        "centred"  # else what functions share hides how they differ
    )
    shared: bool = False
    part: int | None = Field(None, ge=1)
    titles: tuple[str, ...] | None = None
    passage: WordUnit = "words"
    question: WordUnit = "words"

    def grouping(self) -> TokenGrouping:
        """Words are what a reader's cells are."""
        query, key = ("tokens" if unit == "words" else unit for unit in (self.passage, self.question))
        return self.group_tokens(query=query, key=key)


@dataclass(frozen=True)
class ReadersScene(Scene):
    """panels: what each reader shows, as its words are grouped."""

    panels: Sequence[view.FunctionPanel] = field(kw_only=True, repr=False)


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> ReadersScene:
    """The scene of the page.  Raises ConfigError for other than one to four readers, or readers that cut a passage in
    different places."""
    require_readers(entries)
    if settings.quantity == "relevance" and settings.passage != "words":
        raise ConfigError("similarity: rows that are joined have no score but against their mean: centred, or weight")
    last = models.explain(entries[-1], example, settings.part and settings.part - 1)
    part = last.prediction.option
    explanations = [last if entry is entries[-1] else models.explain(entry, example, part) for entry in entries]
    titles = settings.titles or tuple(
        view.titles({entry.name: dict(entry.config["model"]) for entry in entries}).values()
    )
    panels = [
        panel(title, models.read(explanation, settings.grouping()), example, part)
        for title, explanation in zip(titles, explanations)
    ]
    counted = view.counted(last.trace, part, answer_of(last).parts)
    caption = f"{', '.join(entry.name for entry in entries)}: {example.question}"
    options: dict[str, Any] = {"quantity": settings.quantity, "shared": settings.shared, "caption": caption}
    canvas = view.figure(panels, counted=f"{counted}; {describe_duration(explanations)}", **options)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    resolved = settings.model_copy(update={"cell": cell, "part": part + 1, "titles": titles})

    def draw() -> Mapping[str, Canvas]:
        numbers = facts(models, explanations, panels, example, resolved)
        return {"similarity": view.figure(panels, cell=cell, facts=numbers, exact=True, counted=counted, **options)}

    return ReadersScene(
        settings=resolved,
        draw=draw,
        tabulate=lambda: view.table(panels),
        trace=view.joined(panels),
        explanations=tuple(explanations),
        screen=canvas,
        axes=canvas.extents,
        panels=panels,
    )


def require_readers(entries: Sequence[Entry], most: int = view.MOST) -> None:
    """Raises ConfigError where these cannot stand side by side."""
    if any(not entry.kind.finds_spans for entry in entries) or not 1 <= len(entries) <= most:
        raise ConfigError(f"expected one to {most} readers: name checkpoints of that kind")
    sizes = {entry.name: entry.config["max_tokens"] for entry in entries}
    if len(set(sizes.values())) > 1:
        sizes_text = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ConfigError(f"These readers have windows of other sizes ({sizes_text} tokens): choose those of one.")


def answer_of(explanation: Explanation) -> Answer:
    """The answer of a reader."""
    from triattn_core.inference.predictions import Answer

    assert isinstance(explanation.prediction, Answer), explanation.entry.name
    return explanation.prediction


def panel(title: str, explanation: Explanation, example: questions.Example, part: int) -> view.FunctionPanel:
    """What one reader shows of part `part` (from 0) of the passage."""
    spans = answer_of(explanation).spans
    right = questions.verdict(example, spans)[0] if example.answers else None
    elsewhere = spans[0].window + 1 if spans[0].window != part else None
    return view.FunctionPanel(title, explanation.trace, tuple(span[:3] for span in spans), right, elsewhere)


def facts(
    models: Models,
    explanations: Sequence[Explanation],
    panels: Sequence[view.FunctionPanel],
    example: questions.Example,
    settings: Settings,
) -> list[dict]:
    """The exact numbers of the chosen cell under each reader.  panels: what each shows of what it was explained to."""
    from triattn_core.inference import span_decoding

    assert settings.part and settings.cell  # `build` fills them
    part, cell, numbers = settings.part - 1, settings.cell, []

    def word_states(bundle):
        return span_decoding.states(bundle, example, part)

    for explanation, panel_shown in zip(explanations, panels):
        states = models.answer(explanation.entry, "The states of the words", word_states, part, example)
        terms = partial(span_decoding.score_terms_of, models.load(explanation.entry), states)
        numbers.append(facts_of(explanation.trace, panel_shown.trace, cell, terms))
    return numbers


def facts_of(
    ungrouped: AttentionTrace, grouped: AttentionTrace, cell: Sequence[int], terms: Callable[[int, int], Mapping]
) -> dict:
    """What `span_decoding.cell_facts` says of a cell.  Words that were joined have no terms together: the terms are
    then those of the pair of words in the cell that weighs most, and `pair` has its positions, words and score.

    terms: of a pair of words.
    """
    from triattn_core.inference import span_decoding

    if grouped is ungrouped:
        return span_decoding.cell_facts(ungrouped, terms(*cell[:2]), *cell[:2])
    strongest = strongest_pair(ungrouped, grouped, ATTENTION.with_quantity("weight"), (cell[0], cell[1]))
    facts, array = (
        span_decoding.cell_facts(ungrouped, terms(*strongest), *strongest),
        ungrouped.site(ATTENTION.with_quantity("relevance")),
    )
    words = [str(array[f"{axis}_token"].values[i]) for axis, i in zip(("query", "key"), strongest)]
    pair = {"at": list(strongest), "words": words, "score": facts["score"]}
    pair_facts = {name: facts[name] for name in ("terms", "alike", "alike_down", "dimensions", "width")}
    return span_decoding.cell_facts(grouped, {"": np.zeros(1)}, *cell[:2]) | pair_facts | {"pair": pair}
