"""What stands side by side: a panel for each checkpoint, option or input, and the difference of two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from xarray import DataArray

from triattn_core.analysis.maps import compare, joint_keys
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry
from triattn_core.errors import TraceError
from triattn_core.scenes.runner import Explained, Models
from triattn_core.tasks import CHOICES
from triattn_core.tasks.task import ChoiceTask
from triattn_core.trace import AttentionTrace, Choice, text_units
from triattn_core.trace.token_grouping import NO_GROUPING, TokenGrouping
from triattn_core.views.lib import cell
from triattn_core.views.side_by_side.panels import Gap, Panel, hidden, without


@dataclass(frozen=True)
class Comparison:
    """The panels and the difference of two of them, and all that is shown or saved with them.

    choice: the site that is shown.  explained: what the models made of the example.  parts: what names the figure.
    chosen: what else is chosen, as settings of the view.  seeds: of both that are subtracted the checkpoints of their
    seeds.  notes: what its reader should know.  footnote: what was folded, and what is hidden, for below the figure.
    """

    panels: list[Panel]
    gap: Gap
    explained: list[Explained]
    choice: Choice
    caption: str
    trace: AttentionTrace
    parts: tuple[str, ...]
    chosen: dict[str, Any]
    across: str = "key"
    lines: tuple[str, ...] | None = None
    what: str = "mechanism"
    seeds: tuple[tuple[Entry, ...], ...] = ()
    notes: tuple[str, ...] = ()
    footnote: str = ""

    @property
    def entries(self) -> list[Entry]:
        """The checkpoints, each once."""
        return list({explained.entry.name: explained.entry for explained in self.explained}.values())

    @property
    def texts(self) -> dict[str, str]:
        return dict(self.trace.texts if self.what == "input" else self.explained[0].trace.texts)


def of_checkpoint(explained: Explained, drawn: DataArray, weights: DataArray, name: str = "") -> Panel:
    """What one checkpoint shows: its maps, what it says, and what it reached.  name: by default the checkpoint's."""
    entry, prediction = explained.entry, explained.prediction
    right = None if prediction.gold is None else prediction.best == prediction.gold
    score, metric = metadata.main_score(entry), metadata.metric_name(entry)
    measured = "" if score is None else f"{metadata.dataset_name(entry)} test {metric} {score:.1f} %"
    verdict = (prediction.labels[prediction.best], prediction.probabilities[prediction.best], right, measured)
    return _panel(explained, drawn, weights, verdict, name or entry.name)


def of_option(explained: Explained, example: Any, choice: Choice, reading: TokenGrouping) -> Panel:
    """One option: its map query × context, its text, and what the model gives it."""
    fold = partial(reading.array, texts=explained.trace.texts)
    site, head = choice.site.rsplit("/", 1)[0], next((i for _, i in choice.index), None)
    drawn, weights = (
        compare.two_way_map(text_units.exchange_key_context(explained.trace.site(f"{site}/{kind}")), head, fold)
        for kind in (choice.site.rsplit("/", 1)[1], "weight")
    )
    at, gold = explained.prediction.option, right_option(example)
    label = explained.prediction.labels[at]
    name = label.capitalize() if len(label) > 1 else f"Option {label}"
    text = task(example).options(example)[at]
    verdict = (text, of_options(explained)[at], None if gold is None else at == gold, "")
    return _panel(explained, drawn, weights, verdict, name, note="Σ key")


def _panel(explained: Explained, drawn: DataArray, weights: DataArray, verdict: tuple, name: str, **more) -> Panel:
    kind, similarity = (
        metadata.model_setting(explained.entry, "mechanism"),
        metadata.model_setting(explained.entry, "similarity"),
    )
    numbers = (compare.entropy(weights), compare.rank(weights))
    more["form"] = metadata.form(explained.entry)
    return Panel(name, kind, similarity, drawn, weights, *numbers, *verdict, **more)


def maps(
    explained: Explained, choice: Choice, reading: TokenGrouping = NO_GROUPING
) -> tuple[DataArray, DataArray, tuple[str, ...]]:
    """What is drawn of one checkpoint as it is read, its weights, and notes: a layer or head that it does not have is
    replaced by its last, and that is said.  Of Bi-joint the part over the key sequence; see `on_context`."""
    site, head, notes = _site(explained, choice)
    trace = reading.mark_sinks(explained.trace, site.rstrip("/"))
    fold, quantity = partial(reading.array, texts=trace.texts), choice.site.rsplit("/", 1)[1]
    sites = (joint_keys.key_part(trace.site(site + kind)) for kind in (quantity, "weight"))
    drawn, weights = (compare.two_way_map(site, head, fold) for site in sites)
    return drawn, weights, notes


def _site(explained: Explained, choice: Choice) -> tuple[str, int | None, tuple[str, ...]]:
    """Where a checkpoint's map stands, such as `layer.0/a_over_b/`, its head, and notes; see `maps`."""
    entry, trace, notes = explained.entry, explained.trace, []
    name, direction, _ = choice.site.split("/")
    layer, head = int(name[6:]), next((i for _, i in choice.index), None)
    site = f"layer.{min(layer, compare.layer_count(trace) - 1)}/{direction}/"
    heads = trace.site(site + "weight").sizes.get("head", 1)
    for what, asked, has in (("layer", layer, compare.layer_count(trace)), ("head", head, heads)):
        if asked is not None and asked >= has:
            plural = "s" if has > 1 else ""
            notes.append(
                f"{entry.name} has {has} {what}{plural}: its {what} {has} stands beside {what} {asked + 1} of others."
            )
    return site, None if head is None else min(head, heads - 1), tuple(notes)


def on_context(some: Sequence[Explained], choice: Choice) -> str:
    """A sentence for each checkpoint whose keys are followed by context tokens: how much of its weight these hold."""
    sentences = []
    for explained in some:
        site, head, _ = _site(explained, choice)
        share = joint_keys.context_share(explained.trace.site(site + "weight"), head)
        if share is not None:
            sentences.append(
                f"{explained.entry.name} attends to keys and context in one softmax: {100 * share:.3g} % of its weight "
                "lies on the context, and the map shows the rest as it is."
            )
    return " ".join(dict.fromkeys(sentences))


def with_grouping(comparison: Comparison, reading: TokenGrouping, maps: Sequence[DataArray]) -> Comparison:
    """The same without what is hidden, and with what was folded in words and settings.

    maps: as they are drawn, before they were brought to the same tokens.
    """
    sentences = [cell.describe_aggregation(array) for array in maps] if reading.folds else []
    folded = (
        sentences[:1]
        if len(set(sentences)) < 2
        else [f"{panel.name}: {words}" for panel, words in zip(comparison.panels, sentences)]
    )
    folded = [comparison.footnote, *folded]
    panels, gap = without(comparison.panels, comparison.gap) if reading.hide else (comparison.panels, comparison.gap)
    if reading.hide:
        folded.append(hidden(comparison.panels, panels, comparison.texts, reading.sinks, comparison.across))
    return replace(
        comparison,
        panels=panels,
        gap=gap,
        footnote=" ".join(filter(None, folded)),
        caption=", ".join([comparison.caption, *(f"{axis} as {unit}" for axis, unit in reading.folds.items())]),
        parts=(*comparison.parts, reading.name, *reading.own, str(reading.hide)),
        chosen=comparison.chosen | reading.settings,
    )


def difference(panels: Sequence[Panel], left: int, right: int, noise: np.ndarray | None = None, noisy: str = "") -> Gap:
    """The difference of two panels, and how far their rows lie apart; `noise`, `noisy` as `Gap`.

    Where there are no more keys than the strongest that are counted, all are among them: there is no overlap to tell.
    """
    values = compare.difference(panels[left].drawn, panels[right].drawn)
    weights = panels[left].weights, panels[right].weights
    bits, top = compare.jensen_shannon(*weights), compare.TOP
    shared = compare.overlap(*weights, top) if top < weights[0].sizes["key"] else None
    return Gap(left, right, values, bits, shared, top, noise, noisy)


def between_seeds(
    models: Models,
    groups: Sequence[Sequence[Entry]],
    example: Any,
    option: int | None,
    choice: Choice,
    reading: TokenGrouping = NO_GROUPING,
) -> tuple[np.ndarray | None, str]:
    """How far apart the maps of two models lie among seeds of each, the greater of both, and that in words; None where
    there is one seed of each.

    groups: of each model the checkpoints of its seeds, itself first.
    """
    first, second = groups
    if second[0] in first:
        return None, "two seeds of one model"
    several = [group for group in groups if len(group) > 1]
    if not several:
        return None, "one seed each: it may be noise"
    arrays = [
        [maps(models.explain(entry, example, option), choice, reading)[0] for entry in group] for group in several
    ]
    counts = " + ".join(str(len(group)) for group in groups)
    return compare.seed_spread(*arrays), f"grey: seeds differ as much ({counts})"


def tokens_alike(some: Sequence[DataArray]) -> bool:
    """Whether maps have the same tokens."""
    try:
        compare.require_same_tokens(some)
    except TraceError:
        return False
    return True


def caption(names: Sequence[str], choice: Choice) -> str:
    """The settings in words, for under a saved picture."""
    layer, direction, quantity = choice.site.split("/")
    heads = [f"head {i + 1}" for _, i in choice.index] or ["mean of heads"]
    return ", ".join([*names, f"layer {int(layer[6:]) + 1}", direction.replace("_", " "), *heads, quantity])


def task(example: Any) -> ChoiceTask:
    """The task that chooses among texts of which this is an example."""
    return next(task_module for task_module in CHOICES.values() if isinstance(example, task_module.Example))


def right_option(example: Any) -> int | None:
    """The index of the right option, None where it is not known or is not there."""
    if len(task(example).options(example)) == 1:  # the label says whether it is right
        return 0 if example.label == 1 else None
    return example.label


def of_options(explained: Explained) -> list[float]:
    """What a model gives each option: of a single one that it is right."""
    prediction = explained.prediction
    return list(prediction.probabilities[1:] if prediction.labels[0].startswith("not ") else prediction.probabilities)
