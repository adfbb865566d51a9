"""The three things that stand side by side: mechanisms, options of one example, and two inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from triattn_core.analysis.maps import compare, token_alignment
from triattn_core.checkpoint import metadata
from triattn_core.checkpoint.registry import Card, list_checkpoints
from triattn_core.errors import InputError
from triattn_core.scenes import panels
from triattn_core.scenes.panels import Side
from triattn_core.scenes.runner import Explained, Models
from triattn_core.tasks import TASKS
from triattn_core.trace import AttentionTrace, Choice
from triattn_core.trace.text_units import fold_axis
from triattn_core.trace.token_grouping import NO_GROUPING, TokenGrouping
from triattn_core.views.lib.palette import LogScale

SEEDS = 5  # of one model that are run for the spread between them
NAMES = ("Before", "Edited")
OTHER_TOKENS = "These checkpoints cut the texts into different tokens: compared in the parts that are whole in all."


def mechanisms(
    models: Models,
    example: Any,
    option: int | None,
    cards: Sequence[Card],
    choice: Choice,
    gap: tuple[int, int],
    groups: Sequence[Sequence[Card]] | None = None,
    reading: TokenGrouping = NO_GROUPING,
) -> Side:
    """One example under several checkpoints: query × key, summed over context.

    option: of a task that chooses among texts; by default what the last one chooses.  groups: of both that are
    subtracted the checkpoints of their seeds; by default those of the shelf.  Raises TriattnError.
    """
    option = models.explain(cards[-1], example, option).trace.meta.get("option")
    found = [models.explain(card, example, option) for card in cards]
    maps, weights, notes = zip(*(panels.maps(one, choice, reading) for one in found))
    read, notes, alike = maps, list(chain(*notes)), panels.tokens_alike(maps)
    if not alike:
        maps, weights = (token_alignment.to_common_parts(some, dict(found[0].trace.texts)) for some in (maps, weights))
        notes.append(OTHER_TOKENS)
    shown = [panels.of_checkpoint(*one) for one in zip(found, maps, weights)]
    groups = groups if groups is not None else [same_but_seed(cards[i]) for i in gap]
    noise = panels.between_seeds(models, groups, example, option, choice, reading) if alike else (None, "")
    whole = {f"{one.card.name}/{site}": array for one in found for site, array in one.trace.sites.items()}
    trace = AttentionTrace(whole, found[0].trace.texts, {"checkpoints": ", ".join(one.card.name for one in found)})
    parts = (*found[0].trace.texts.values(), choice.site.split("/")[1])
    caption = panels.caption([one.name for one in cards], choice)
    names = tuple(tuple(card.name for card in group) for group in groups)
    told = {"compare": "mechanisms", "difference": (gap[0] + 1, gap[1] + 1), "seeds": names}
    more = {"seeds": tuple(map(tuple, groups)), "notes": tuple(dict.fromkeys(notes))}
    more["said"] = panels.on_context(found, choice)
    side = Side(shown, panels.difference(shown, *gap, *noise), found, choice, caption, trace, parts, told, **more)
    return panels.with_grouping(side, reading, read)


def same_but_seed(card: Card) -> list[Card]:
    """The card and those on the shelf that differ from it in their seed alone, `SEEDS` at most."""
    sound = [
        one for one in list_checkpoints() if one.problem is None and one.config.get("task") == card.config.get("task")
    ]
    return metadata.seed_variants(card, sorted(sound, key=metadata.sort_key))[:SEEDS]


def options(
    models: Models,
    example: Any,
    option: int | None,
    other: int | None,
    card: Card,
    choice: Choice,
    way: str,
    reading: TokenGrouping = NO_GROUPING,
) -> Side:
    """Two options of one example at the same site, head and scale, query × context; the same turn stands under both.

    option: by default the one that is chosen.  other: what it is compared with; by default the right one, else the next
    best.  way: to what the context folds.  Raises TriattnError.
    """
    first = models.explain(card, example, option)
    found = [first, models.explain(card, example, other_option(example, first, other))]
    site = choice.site.rsplit("/", 1)[0]
    found = [replace(one, trace=fold_axis(reading.marked(one.trace, site), way)) for one in found]
    shown = [panels.of_option(one, example, choice, reading) for one in found]
    compare.require_same_tokens([one.weights for one in shown], [one.name for one in shown])
    whole = {f"{one.name}/{site}": array for one, it in zip(shown, found) for site, array in it.trace.sites.items()}
    caption = panels.caption([card.name, *(one.name for one in shown)], choice)
    meta = {"checkpoint": card.name, "options": ", ".join(one.name for one in shown)}
    side = Side(
        shown,
        panels.difference(shown, 0, 1),
        found,
        choice,
        f"{caption}, summed over keys, context as {way}",
        AttentionTrace(whole, found[0].trace.texts, meta),
        (*(text for one in found for text in one.trace.texts.values()), "options", way),
        {"compare": "options", "context": way, "other": found[1].prediction.option + 1},
        "context",
        _lines(choice, way, shown[0].drawn.sizes["key"]),
        "option",
    )
    return panels.with_grouping(side, reading, [one.drawn for one in shown])


def other_option(example: Any, found: Explained, asked: int | None) -> int:
    """What is compared with the option that is shown: what was asked for, else the right one, else the next best."""
    shares, first, gold = panels.of_options(found), found.prediction.option, panels.right_option(example)
    if len(shares) < 2:
        raise InputError("There is one candidate: type another to compare it with.")
    if asked is not None and asked != first:
        return asked
    if gold is not None and gold != first:
        return gold
    return max((i for i in range(len(shares)) if i != first), key=shares.__getitem__)


def _lines(choice: Choice, way: str, columns: int) -> tuple[str, ...]:
    if choice.site.endswith("/weight"):
        kept = f"Summed over keys, context folded to {way}: no mass is lost."
        return f"One scale for both maps: {LogScale.ends}.", f"Line: an even share, 1/{columns}.", kept
    joined = f"Joined by log-sum-exp over keys and within {way}."
    return "One scale for both maps.", joined, "Each row is centred: softmax does not see the shift."


def inputs(
    models: Models,
    example: Any,
    other: Any,
    card: Card,
    choice: Choice,
    option: int | None,
    reading: TokenGrouping = NO_GROUPING,
) -> Side:
    """Both inputs at the same site, head and scale; what only one has is a gap in the other.

    reading: tokens or words, and nothing hidden: an edited phrase is another phrase, and each input has sinks of its
    own.  Raises TriattnError.
    """
    if reading.hide or not set(reading.folds.values()) <= {"words"}:
        raise InputError("Two inputs are compared in tokens or words, with nothing hidden: choose one of these.")
    first = models.explain(card, example, option)
    at = first.trace.meta.get("option")
    if at is not None and at >= len(panels.task(other).options(other)):
        raise InputError(f"The edited input has no option {at + 1}: choose another, or leave the options as they are.")
    found = [first, models.explain(card, other, at)]
    maps, weights, notes = zip(*(panels.maps(one, choice, reading) for one in found))
    read, maps, weights = maps, token_alignment.align_maps(*maps), token_alignment.align_maps(*weights)
    shown = [panels.of_checkpoint(*one) for one in zip(found, maps, weights, NAMES)]
    shown = [replace(one, right=None, score="") for one in shown]
    whole = {f"{name.lower()}/{s}": x for name, one in zip(NAMES, found) for s, x in one.trace.sites.items()}
    texts = dict(first.trace.texts)
    changed = {name: text for name, text in found[1].trace.texts.items() if texts.get(name) != text}
    texts |= {token_alignment.EDITED + name: text for name, text in changed.items()}
    trace = AttentionTrace(whole, texts, {"checkpoint": card.name, "inputs": ", ".join(NAMES).lower()})
    ends = f": {LogScale.ends}" if choice.site.endswith("/weight") else ""
    side = Side(
        shown,
        panels.difference(shown, 1, 0),
        found,
        choice,
        panels.caption([card.name, *NAMES], choice),
        trace,
        (*texts.values(), "inputs", choice.site.split("/")[1]),
        {"compare": "inputs", "edited": TASKS[card.config["task"]].row(other)},
        lines=(f"One scale for both maps{ends}.", "−: only before, +: only edited;", "hatched in the other map."),
        what="input",
        notes=tuple(dict.fromkeys(chain(*notes))),
        said=panels.on_context(found, choice),
    )
    return panels.with_grouping(side, reading, read)
