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
from triattn_core.sources.explanation import Explanation
from triattn_core.sources.models import Models
from triattn_core.tasks import CHOICES
from triattn_core.tasks.task import ChoiceTask
from triattn_core.trace import AttentionTrace, Choice, text_units
from triattn_core.trace.axes import OTHER
from triattn_core.trace.site import Site
from triattn_core.trace.token_grouping import NO_GROUPING, TokenGrouping
from triattn_core.views.lib import cell
from triattn_core.views.side_by_side.panels import Gap, Panel, hidden, without


@dataclass(frozen=True)
class Comparison:
    """The panels and the difference of two of them, and all that is shown or saved with them.

    choice: the site that is shown.  explanations: what the models made of the example.  parts: what names the figure.
    settings: the other settings of the view.  seeds: of both that are subtracted the checkpoints of their seeds.
    notes: what the user should know.  footnote: what was folded, and what is hidden, for below the figure.
    """

    panels: list[Panel]
    gap: Gap
    explanations: list[Explanation]
    choice: Choice
    caption: str
    trace: AttentionTrace
    parts: tuple[str, ...]
    settings: dict[str, Any]
    across: str = "key"
    lines: tuple[str, ...] | None = None
    distinguished_by: str = "mechanism"
    seeds: tuple[tuple[Entry, ...], ...] = ()
    notes: tuple[str, ...] = ()
    footnote: str = ""

    @property
    def entries(self) -> list[Entry]:
        """The checkpoints, each once."""
        return list({explanation.entry.name: explanation.entry for explanation in self.explanations}.values())

    @property
    def texts(self) -> dict[str, str]:
        return dict(self.trace.texts if self.distinguished_by == "input" else self.explanations[0].trace.texts)


def of_checkpoint(explanation: Explanation, map_values: DataArray, weights: DataArray, name: str = "") -> Panel:
    """What one checkpoint shows: its maps, what it says, and what it reached.  name: by default the checkpoint's."""
    entry, prediction = explanation.entry, explanation.prediction
    right = None if prediction.gold is None else prediction.best == prediction.gold
    score, metric = metadata.main_score(entry), metadata.metric_name(entry)
    measured = "" if score is None else f"{metadata.dataset_name(entry)} test {metric} {score:.1f} %"
    verdict = (prediction.labels[prediction.best], prediction.probabilities[prediction.best], right, measured)
    return _panel(explanation, map_values, weights, verdict, name or entry.name)


def of_option(explanation: Explanation, example: Any, choice: Choice, reading: TokenGrouping) -> Panel:
    """One option: its map query × context, its text, and what the model gives it."""
    fold = partial(reading.array, texts=explanation.trace.texts)
    head = next((i for _, i in choice.index), None)
    map_values, weights = (
        compare.two_way_map(text_units.exchange_key_context(explanation.trace.site(site)), head, fold)
        for site in (choice.site, choice.site.with_quantity("weight"))
    )
    option_index, gold = explanation.prediction.option, right_option(example)
    label = explanation.prediction.labels[option_index]
    name = label.capitalize() if len(label) > 1 else f"Option {label}"
    text = task(example).options(example)[option_index]
    verdict = (text, of_options(explanation)[option_index], None if gold is None else option_index == gold, "")
    return _panel(explanation, map_values, weights, verdict, name, note="Σ key")


def _panel(
    explanation: Explanation, map_values: DataArray, weights: DataArray, verdict: tuple, name: str, **fields
) -> Panel:
    entry = explanation.entry
    kind = OTHER if "source" in entry.config else metadata.model_setting(entry, "mechanism")
    similarity = metadata.model_setting(entry, "similarity")
    numbers = (compare.entropy(weights), compare.rank(weights))
    fields["form"] = metadata.form(explanation.entry)
    return Panel(name, kind, similarity, map_values, weights, *numbers, *verdict, **fields)


def maps(
    explanation: Explanation, choice: Choice, reading: TokenGrouping = NO_GROUPING
) -> tuple[DataArray, DataArray, tuple[str, ...]]:
    """What is drawn of one checkpoint as it is read, its weights, and notes: a layer or head that it does not have is
    replaced by its last, and that is said.  Of Bi-joint the part over the key sequence; see `on_context`."""
    site, head, notes = _site(explanation, choice)
    trace = reading.mark_sinks(explanation.trace, site)
    fold = partial(reading.array, texts=trace.texts)
    arrays = (joint_keys.key_part(trace.site(place)) for place in (site, site.with_quantity("weight")))
    sum_axes = trace.sum_axes(site)
    map_values, weights = (compare.two_way_map(array, head, fold, sum_axes) for array in arrays)
    return map_values, weights, notes


def _site(explanation: Explanation, choice: Choice) -> tuple[Site, int | None, tuple[str, ...]]:
    """Where a checkpoint's map stands, its head, and notes; see `maps`."""
    entry, trace, notes = explanation.entry, explanation.trace, []
    layers, layer, head = compare.layer_count(trace), choice.site.layer or 0, next((i for _, i in choice.index), None)
    site = replace(choice.site, layer=min(layer, layers - 1))
    weights = site.with_quantity("weight")
    if site not in trace.sites and weights in trace.sites:
        raise TraceError(f"{entry.name} records no {site.quantity}: choose weight")
    heads = trace.site(weights).sizes.get("head", 1)
    for level, requested, count in (("layer", layer, layers), ("head", head, heads)):
        if requested is not None and requested >= count:
            plural = "s" if count > 1 else ""
            notes.append(
                f"{entry.name} has {count} {level}{plural}: its {level} {count} stands beside {level} {requested + 1} "
                "of others."
            )
    return site, None if head is None else min(head, heads - 1), tuple(notes)


def on_context(explanations: Sequence[Explanation], choice: Choice) -> str:
    """A sentence for each checkpoint whose keys are followed by context tokens: how much of its weight these hold."""
    sentences = []
    for explanation in explanations:
        site, head, _ = _site(explanation, choice)
        weights = explanation.trace.site(site.with_quantity("weight"))
        share = joint_keys.context_share(weights, head)
        if share is not None:
            joint = "context" in weights["key_role"].values
            keys = "keys and context" if joint else "all tokens"
            rest = "the context" if joint else "the queries' own text and special tokens"
            sentences.append(
                f"{explanation.entry.name} attends to {keys} in one softmax: {100 * share:.3g} % of its "
                f"weight lies on {rest}, and the map shows the rest as it is."
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
        parts=(*comparison.parts, reading.name, *reading.phrases, str(reading.hide)),
        settings=comparison.settings | reading.settings,
    )


def difference(panels: Sequence[Panel], left: int, right: int, noise: np.ndarray | None = None, noisy: str = "") -> Gap:
    """The difference of two panels, and how far their rows lie apart; `noise`, `noisy` as `Gap`.

    Where there are no more keys than the strongest that are counted, all are among them: there is no overlap to tell.
    """
    values = compare.difference(panels[left].map_values, panels[right].map_values)
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


def tokens_alike(maps: Sequence[DataArray]) -> bool:
    """Whether maps have the same tokens."""
    try:
        compare.require_same_tokens(maps)
    except TraceError:
        return False
    return True


def caption(names: Sequence[str], choice: Choice) -> str:
    """The settings in words, for under a saved picture."""
    site, heads = choice.site, [f"head {i + 1}" for _, i in choice.index] or ["mean of heads"]
    return ", ".join([*names, site.layer_name, site.role.replace("_", " "), *heads, site.quantity])


def task(example: Any) -> ChoiceTask:
    """The task that chooses among texts of which this is an example."""
    return next(task_module for task_module in CHOICES.values() if isinstance(example, task_module.Example))


def right_option(example: Any) -> int | None:
    """The index of the right option, None where it is not known or is not there."""
    if len(task(example).options(example)) == 1:  # the label says whether it is right
        return 0 if example.label == 1 else None
    return example.label


def of_options(explanation: Explanation) -> list[float]:
    """What a model gives each option: of a single one that it is right."""
    prediction = explanation.prediction
    return list(prediction.probabilities[1:] if prediction.labels[0].startswith("not ") else prediction.probabilities)
