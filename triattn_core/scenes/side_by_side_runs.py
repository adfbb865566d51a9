"""The three things that stand side by side: mechanisms, options of one example, and two inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from xarray import DataArray

from triattn_core.analysis.maps import compare, token_alignment
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Entry, list_checkpoints
from triattn_core.errors import InputError
from triattn_core.scenes import side_by_side_panels as panels
from triattn_core.scenes.side_by_side_panels import Comparison
from triattn_core.sources.explanation import Explanation
from triattn_core.sources.models import Models
from triattn_core.tasks import TASKS
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.site import Site
from triattn_core.trace.text_units import fold_axis
from triattn_core.trace.token_grouping import NO_GROUPING, TokenGrouping
from triattn_core.views.lib.palette import LogScale

SEEDS = 5  # of one model that are run for the spread between them
NAMES = ("Before", "Edited")
OTHER_TOKENS = "These checkpoints cut the texts into different tokens: compared in the parts that are whole in all."


def traced_option(explanation: Explanation) -> int | None:
    """Which of the texts that a task chooses among was traced; None in other tasks."""
    return explanation.prediction.option if "option" in explanation.trace.meta else None


def compare_mechanisms(
    models: Models,
    example: Any,
    option: int | None,
    entries: Sequence[Entry],
    choice: Choice,
    gap: tuple[int, int],
    groups: Sequence[Sequence[Entry]] | None = None,
    reading: TokenGrouping = NO_GROUPING,
) -> Comparison:
    """One example under several checkpoints: query × key, summed over context.

    option: of a task that chooses among texts; by default what the last one chooses.  groups: of both that are
    subtracted the checkpoints of their seeds; by default those that are here.  Raises TriattnError.
    """
    option = traced_option(models.explain(entries[-1], example, option))
    explanations = [models.explain(entry, example, option) for entry in entries]
    read, weights, all_notes = zip(*(panels.maps(explanation, choice, reading) for explanation in explanations))
    maps, notes, alike = read, list(chain(*all_notes)), panels.tokens_alike(read)
    if not alike:
        first_texts = dict(explanations[0].trace.texts)
        maps, weights = (tuple(token_alignment.to_common_parts(arrays, first_texts)) for arrays in (read, weights))
        notes.append(OTHER_TOKENS)
    panel_list = [panels.of_checkpoint(*parts) for parts in zip(explanations, maps, weights)]
    groups = groups if groups is not None else [same_but_seed(entries[i]) for i in gap]
    noise = panels.between_seeds(models, groups, example, option, choice, reading) if alike else (None, "")
    names, texts = [explanation.entry.name for explanation in explanations], explanations[0].trace.texts
    seeds = tuple(tuple(entry.name for entry in group) for group in groups)
    resolved = {"compare": "mechanisms", "difference": (gap[0] + 1, gap[1] + 1), "seeds": seeds}
    extra: dict[str, Any] = {"seeds": tuple(map(tuple, groups)), "notes": tuple(dict.fromkeys(notes))}
    extra["footnote"] = panels.on_context(explanations, choice)
    if len({panel.mechanism for panel in panel_list}) < len(panel_list):
        extra["distinguished_by"] = "model"
    comparison = Comparison(
        panel_list,
        panels.difference(panel_list, *gap, *noise),
        explanations,
        choice,
        panels.caption([entry.name for entry in entries], choice),
        AttentionTrace(merge_sites(names, explanations), texts, {"checkpoints": ", ".join(names)}),
        (*texts.values(), choice.site.role),
        resolved,
        **extra,
    )
    return panels.with_grouping(comparison, reading, read)


def merge_sites(names: Sequence[str], explanations: Sequence[Explanation]) -> dict[Site, DataArray]:
    """The sites of all traces as those of one, below the name of each."""
    return {
        site.under(name): array
        for name, explanation in zip(names, explanations)
        for site, array in explanation.trace.sites.items()
    }


def same_but_seed(entry: Entry) -> list[Entry]:
    """The checkpoint and those here that differ from it in their seed alone, `SEEDS` at most."""
    sound = [
        checkpoint
        for checkpoint in list_checkpoints()
        if checkpoint.problem is None and checkpoint.config.get("task") == entry.config.get("task")
    ]
    return metadata.seed_variants(entry, sorted(sound, key=metadata.sort_key))[:SEEDS]


def compare_options(
    models: Models,
    example: Any,
    option: int | None,
    other: int | None,
    entry: Entry,
    choice: Choice,
    unit: str,
    reading: TokenGrouping = NO_GROUPING,
) -> Comparison:
    """Two options of one example at the same site, head and scale, query × context; the same turn stands under both.

    option: by default the one that is chosen.  other: what it is compared with; by default the right one, else the next
    best.  unit: to what the context folds.  Raises TriattnError.
    """
    first = models.explain(entry, example, option)
    explanations = [first, models.explain(entry, example, other_option(example, first, other))]
    explanations = [
        replace(explanation, trace=fold_axis(reading.mark_sinks(explanation.trace, choice.site), unit))
        for explanation in explanations
    ]
    panel_list = [panels.of_option(explanation, example, choice, reading) for explanation in explanations]
    compare.require_same_tokens([panel.weights for panel in panel_list], [panel.name for panel in panel_list])
    names = [panel.name for panel in panel_list]
    caption = panels.caption([entry.name, *names], choice)
    meta = {"checkpoint": entry.name, "options": ", ".join(names)}
    comparison = Comparison(
        panel_list,
        panels.difference(panel_list, 0, 1),
        explanations,
        choice,
        f"{caption}, summed over keys, context as {unit}",
        AttentionTrace(merge_sites(names, explanations), explanations[0].trace.texts, meta),
        (*(text for explanation in explanations for text in explanation.trace.texts.values()), "options", unit),
        {"compare": "options", "context": unit, "other": explanations[1].prediction.option + 1},
        "context",
        _lines(choice, unit, panel_list[0].map_values.sizes["key"]),
        "option",
    )
    return panels.with_grouping(comparison, reading, [panel.map_values for panel in panel_list])


def other_option(example: Any, explanation: Explanation, requested: int | None) -> int:
    """What is compared with the option that is shown: what was asked for, else the right one, else the next best."""
    shares, first, gold = (
        panels.of_options(explanation),
        explanation.prediction.option,
        panels.right_option(example),
    )
    if len(shares) < 2:
        raise InputError("There is one candidate: type another to compare it with.")
    if requested is not None and requested != first:
        return requested
    if gold is not None and gold != first:
        return gold
    return max((i for i in range(len(shares)) if i != first), key=shares.__getitem__)


def _lines(choice: Choice, unit: str, columns: int) -> tuple[str, ...]:
    if choice.site.quantity == "weight":
        kept = f"Summed over keys, context folded to {unit}: no mass is lost."
        return f"One scale for both maps: {LogScale.ends}.", f"Line: an even share, 1/{columns}.", kept
    joined = f"Joined by log-sum-exp over keys and within {unit}."
    return "One scale for both maps.", joined, "Each row is centred: softmax does not see the shift."


def compare_inputs(
    models: Models,
    example: Any,
    other: Any,
    entry: Entry,
    choice: Choice,
    option: int | None,
    reading: TokenGrouping = NO_GROUPING,
) -> Comparison:
    """Both inputs at the same site, head and scale; what only one has is a gap in the other.

    reading: tokens or words, and nothing hidden: an edited phrase is another phrase, and each input has sinks of its
    own.  Raises TriattnError.
    """
    if reading.hide or not set(reading.folds.values()) <= {"words"}:
        raise InputError("Two inputs are compared in tokens or words, with nothing hidden: choose one of these.")
    first = models.explain(entry, example, option)
    traced = traced_option(first)
    if traced is not None and traced >= len(panels.task(other).options(other)):
        raise InputError(
            f"The edited input has no option {traced + 1}: choose another, or leave the options as they are."
        )
    explanations = [first, models.explain(entry, other, traced)]
    maps, weights, notes = zip(*(panels.maps(explanation, choice, reading) for explanation in explanations))
    read, maps, weights = maps, token_alignment.align_maps(*maps), token_alignment.align_maps(*weights)
    panel_list = [panels.of_checkpoint(*parts) for parts in zip(explanations, maps, weights, NAMES)]
    panel_list = [replace(panel, right=None, score="") for panel in panel_list]
    trace = _trace_of_inputs(entry, explanations)
    ends = f": {LogScale.ends}" if choice.site.quantity == "weight" else ""
    comparison = Comparison(
        panel_list,
        panels.difference(panel_list, 1, 0),
        explanations,
        choice,
        panels.caption([entry.name, *NAMES], choice),
        trace,
        (*trace.texts.values(), "inputs", choice.site.role),
        {"compare": "inputs", "edited": TASKS[entry.config["task"]].row(other)},
        lines=(f"One scale for both maps{ends}.", "−: only before, +: only edited;", "hatched in the other map."),
        distinguished_by="input",
        notes=tuple(dict.fromkeys(chain(*notes))),
        footnote=panels.on_context(explanations, choice),
    )
    return panels.with_grouping(comparison, reading, read)


def _trace_of_inputs(entry: Entry, explanations: Sequence[Explanation]) -> AttentionTrace:
    """The traces of the input before and after as one; a text that was edited is there twice."""
    names, texts = [name.lower() for name in NAMES], dict(explanations[0].trace.texts)
    changed = {name: text for name, text in explanations[1].trace.texts.items() if texts.get(name) != text}
    texts |= {token_alignment.EDITED + name: text for name, text in changed.items()}
    meta = {"checkpoint": entry.name, "inputs": ", ".join(names)}
    return AttentionTrace(merge_sites(names, explanations), texts, meta)
