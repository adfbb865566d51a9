"""COIN's blocks, with a part ablated or none, as their page draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import ConfigError, choices
from triattn_core.scenes import scene
from triattn_core.scenes.scene import Scene
from triattn_core.scenes.settings import TextSettings
from triattn_core.sources.explanation import Explanation, Reader, read_tokens
from triattn_core.sources.models import Models
from triattn_core.trace import AttentionTrace
from triattn_core.views import coin
from triattn_core.views.coin.blocks import Answer, ablation_label, blocks, table

EVERY = "context, all blocks"  # what the context term is called where blocks stand beside it


class Settings(TextSettings):
    """off: `layer.0`, …, `context`, or "" for nothing.  features: the gate feature by feature, else its mean.
    cell: positions of query and key, block, feature, and of each sentence the token that these look at in their own."""

    direction: Literal["a_over_b", "b_over_a"] = "a_over_b"
    off: str = ""
    features: bool = False


def build(models: Models, entries: Sequence[Entry], example: Any, settings: Settings) -> Scene:
    """The scene of the page.  Raises ConfigError where the checkpoint is no COIN or has no such part."""
    by_part = models.without(entries[0], example)
    if settings.off not in by_part:
        raise ConfigError(f"{entries[0].name} has no {settings.off!r} to ablate; {choices(settings.off, by_part)}")
    return _of_parts(by_part, settings, models.read)


def build_of_traces(explanations: Sequence[Explanation], settings: Settings, read: Reader = read_tokens) -> Scene:
    """The scene of the first, with nothing ablated.  Raises ConfigError where a part is to be; TraceError where the
    trace is not one of COIN."""
    if settings.off:
        raise ConfigError(f"off: {settings.off} is ablated by running the model, which a trace alone cannot")
    return _of_parts({"": explanations[0]}, settings, read)


def _of_parts(by_part: Mapping[str, Explanation], settings: Settings, read: Reader) -> Scene:
    """by_part: COIN with each of its parts ablated, and as it is."""
    by_ablation = {part: read(explanation, settings.grouping()) for part, explanation in by_part.items()}
    unablated, trace, unread = by_ablation[""], by_ablation[settings.off].trace, by_part[settings.off].trace
    label = unablated.prediction.labels[unablated.prediction.best]
    orders = feature_orders(unablated.trace, settings.direction) if settings.features else ()
    arguments = (unablated.trace, trace, settings.direction, answers(by_ablation), label, orders)
    canvas = coin.figure(*arguments, None, unread)
    cell = scene.valid_cell(settings.cell, canvas.extents, canvas.cell)
    return Scene(
        settings=settings.model_copy(update={"cell": cell}),
        draw=lambda: {"coin": coin.figure(*arguments, cell, unread)},
        tabulate=lambda: table(trace, settings.direction),
        trace=trace,
        explanations=(by_ablation[settings.off],),
        screen=canvas,
        axes=canvas.extents,
    )


def answers(by_ablation: Mapping[str, Explanation]) -> list[Answer]:
    """The probability of what the whole model says, with each thing off."""
    best = by_ablation[""].prediction.best
    return [
        Answer(
            ablation,
            EVERY if ablation == "context" else ablation_label(ablation),
            result.prediction.probabilities[best],
            flips,
        )
        for ablation, result in by_ablation.items()
        for flips in [result.prediction.best != best]
    ]


def feature_orders(trace: AttentionTrace, direction: str) -> list[list[int] | None]:
    """Of each block the features of its gate, those that are alike side by side."""
    from triattn_core.analysis.maps.clusters import similarity_order

    gates = [None if block is None else block.gate for block in blocks(trace, direction)]
    return [None if gate is None else similarity_order(gate.rename(query="key")) for gate in gates]
